import { MillraceError } from '../errors.js';

export function invalidTopology(message: string, details: Readonly<Record<string, unknown>>): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', message, { details });
}

/** @param what what has the name: `node`, `store`, … */
export function duplicateName(what: string, name: string): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_DUPLICATE_NAME', `There are two of the ${what} name ${name}.`, { details: { name } });
}
