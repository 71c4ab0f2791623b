/** The rule for names of operators, stores and internal topics: what Kafka allows in a topic name (Kafka Streams' `Named`). */
import { MillraceError } from '../errors.js';
import { requireArgument, text } from '../errors/checked-options.js';

const maxLength = 249;
const allowed = /^[a-zA-Z0-9._-]+$/;

/**
 * Returns `name`, of which plain JavaScript may have made anything.
 *
 * @param what what the name is for, for the message: `operator`, `store`, …
 * @throws MILL_TOPOLOGY_INVALID when it is no text, or empty, `.`, `..`, longer than 249 characters, or has others than ASCII letters, digits, `.`, `_`, `-`.
 */
export function checkResourceName(name: string, what: string): string {
  requireArgument(`The ${what} name`, name, text);
  const fault = nameFault(name);
  if (fault !== null) throw new MillraceError('MILL_TOPOLOGY_INVALID', `The ${what} name "${name}" ${fault}.`, { details: { name } });
  return name;
}

/** What Kafka has against it as the name of a topic, as in `is empty`; null: nothing. */
export function nameFault(name: string): string | null {
  if (name === '') return 'is empty';
  if (name === '.' || name === '..') return 'is not allowed';
  if (name.length > maxLength) return `has ${name.length} characters; ${maxLength} are allowed`;
  if (!allowed.test(name)) return 'has characters other than ASCII letters, digits, ".", "_" and "-"';
  return null;
}
