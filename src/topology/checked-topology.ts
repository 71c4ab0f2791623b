import { MillraceError } from '../errors.js';
import type { Topology } from './nodes.js';

/**
 * For the doors of the library: what comes in from JavaScript may be a builder that was not built.
 *
 * @throws MILL_TOPOLOGY_INVALID
 */
export function checkTopology(given: Topology, taker: string): void {
  const topology: unknown = given;
  if (typeof topology === 'object' && topology !== null) {
    if ('nodes' in topology && 'subTopologies' in topology) return;
    if ('build' in topology) throw new MillraceError('MILL_TOPOLOGY_INVALID', `${taker} takes a topology, not its builder: call build().`);
  }
  throw new MillraceError('MILL_TOPOLOGY_INVALID', `${taker} takes a topology, which builder.build() gives; it got ${typeof topology}.`);
}
