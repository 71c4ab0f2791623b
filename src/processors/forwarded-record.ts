/** The same rule for what processors forward as for what functions give: null is a tombstone, undefined a mistake, as of a misspelt field. Written, it would delete a row. */
import { nearest } from '../errors/checked-options.js';
import { kindOf } from './carried-value.js';

type Part = 'key' | 'value';
const fields = ['key', 'value', 'timestamp', 'headers'];

/** What is wrong with a record whose key or value is undefined. Nobody asks about others. */
export function notForwarded(record: unknown, parts: readonly Part[]): TypeError {
  const usual = '{ key, value, timestamp?, headers? }';
  if (typeof record !== 'object' || record === null || Array.isArray(record))
    return new TypeError(`forward takes a record, ${usual}, not ${Array.isArray(record) ? 'an array' : kindOf(record)}`);
  const given = record as Readonly<Record<string, unknown>>;
  const part = parts.find((one) => given[one] === undefined) ?? 'value';
  if (part in given) return new TypeError(`forward: the ${part} is undefined: give one, or null for none`);
  const unknown = Object.keys(given).filter((name) => !fields.includes(name));
  const meant = unknown.find((name) => nearest(name, [part]) !== null);
  const hint = meant === undefined ? '' : ` (it has ${meant}; did you mean ${part}?)`;
  return new TypeError(`forward: the record has no ${part}${hint}: give one, or null for none`);
}
