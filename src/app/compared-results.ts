import type { Topology } from '../topology/nodes.js';

/**
 * `emitOnChange` needs exactly-once. A crash under `at_least_once` may keep a store's changelog record and lose the result that was sent with it: when the record is
 * processed again nothing would seem to have changed, and the result would never come.
 */
export function comparedResultFaults(topology: Topology, guarantee: 'exactly_once' | 'at_least_once'): string[] {
  if (guarantee === 'exactly_once') return [];
  return [...topology.stores.values()]
    .filter(({ spec }) => spec.comparesChanges === true)
    .map(
      ({ spec }) =>
        `store ${spec.name} belongs to a table with emitOnChange, which could lose results after a crash with processingGuarantee "at_least_once"`,
    );
}
