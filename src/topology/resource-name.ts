/** The rule for names of operators, stores and internal topics: what Kafka allows in a topic name (Kafka Streams' `Named`). */
import { MillraceError } from '../errors.js';

const maxLength = 249;
const allowed = /^[a-zA-Z0-9._-]+$/;

/**
 * Returns `name`.
 *
 * @param what what the name is for, for the message: `operator`, `store`, …
 * @throws MILL_TOPOLOGY_INVALID when it is empty, `.`, `..`, longer than 249 characters, or has others than ASCII letters, digits, `.`, `_`, `-`.
 */
export function checkResourceName(name: string, what: string): string {
  const fault = faultOf(name);
  if (fault !== null) throw new MillraceError('MILL_TOPOLOGY_INVALID', `The ${what} name "${name}" ${fault}.`, { details: { name } });
  return name;
}

function faultOf(name: string): string | null {
  if (name === '') return 'is empty';
  if (name === '.' || name === '..') return 'is not allowed';
  if (name.length > maxLength) return `has ${name.length} characters; ${maxLength} are allowed`;
  if (!allowed.test(name)) return 'has characters other than ASCII letters, digits, ".", "_" and "-"';
  return null;
}
