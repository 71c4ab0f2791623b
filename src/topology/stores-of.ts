import type { Topology } from './nodes.js';

/** Names of the stores of each sub-topology, by its number; of those that have some. */
export function storesOf(topology: Topology): ReadonlyMap<number, readonly string[]> {
  return new Map(topology.subTopologies.flatMap(({ id, stores }) => (stores.length === 0 ? [] : [[id, [...stores].sort()] as const])));
}
