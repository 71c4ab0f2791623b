import { checkResourceName } from '../topology/resource-name.js';
import type { NamedOptions } from './options.js';

/** The `name` of an options object. @throws MILL_TOPOLOGY_INVALID when it has characters that a topic name can't have. */
export function checkedName(options: NamedOptions): string | undefined {
  return options.name === undefined ? undefined : checkResourceName(options.name, 'operator');
}
