import { MillraceError } from '../errors.js';
import type { Topology } from '../topology/nodes.js';
import type { InputEnd } from '../transactions/committed-metadata.js';

/**
 * What keeps a topology from being run, whatever the cluster is like.
 *
 * @param bounds how a bounded run ends; null: it runs for ever
 * @throws MILL_TOPOLOGY_INVALID
 */
export function mustBeRunnable({ mode, subTopologies, globalStores }: Topology, bounds: InputEnd | null): void {
  if (subTopologies.length === 0 && globalStores.size === 0)
    throw new MillraceError('MILL_TOPOLOGY_INVALID', 'the topology is empty: it reads no topic, and the app would run for nothing');
  if (mode === 'batch' && bounds !== 'final')
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      'the topology was built for batch mode: run it with runUntilEnd(), and with final results',
    );
}
