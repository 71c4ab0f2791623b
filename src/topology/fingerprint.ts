import { createHash } from 'node:crypto';
import type { Topology } from './nodes.js';

/**
 * A short hash of `describe()`: equal for topologies with the same nodes, edges, topics and stores, whatever their functions do.
 * Instances of an app compare it, and a changed one after an upgrade tells that names or tasks may have moved.
 */
export function topologyFingerprint(topology: Topology): string {
  let known = fingerprints.get(topology);
  if (known === undefined) {
    known = createHash('sha256').update(topology.describe()).digest('hex').slice(0, 32);
    fingerprints.set(topology, known);
  }
  return known;
}

/** Each thread asks for it. */
const fingerprints = new WeakMap<Topology, string>();
