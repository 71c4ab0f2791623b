/** From `materialized` options to the spec of a store. */
import { MillraceError } from '../errors.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import type { TimeWindows } from '../time/time-windows.js';
import { checkResourceName } from '../topology/resource-name.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { MaterializedOptions, TableEmitOption, WindowEmitOption, WindowMaterializedOptions } from './options.js';

/** Serdes to use where the options name none. */
export interface CarriedSerdes<K, V> {
  readonly keySerde: Serde<K> | null;
  readonly valueSerde: Serde<V> | null;
}

export function tableStore<K, V>(
  graph: StreamGraph,
  storePrefix: string,
  materialized: MaterializedOptions<K, V> | undefined,
  carried: CarriedSerdes<K, V>,
  emit: TableEmitOption | undefined,
): StoreSpec {
  return Object.freeze({
    ...commonSpec(graph, storePrefix, materialized, carried),
    kind: 'timestampedKeyValue',
    trackChanges: emit !== 'onUpdate',
  });
}

/** @throws MILL_TOPOLOGY_INVALID when `retention` is below size + grace: windows would be gone while they still take records. */
export function windowTableStore<K, V>(
  graph: StreamGraph,
  storePrefix: string,
  materialized: WindowMaterializedOptions<K, V> | undefined,
  carried: CarriedSerdes<K, V>,
  emit: WindowEmitOption | undefined,
  windows: TimeWindows,
): StoreSpec {
  const common = commonSpec(graph, storePrefix, materialized, carried);
  const shortest = windows.size + windows.grace;
  const retention = materialized?.retention ?? shortest;
  if (!(retention >= shortest)) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Store ${common.name}: a retention of ${retention} ms is shorter than the windows' size and grace, ${shortest} ms.`,
      { details: { store: common.name, retention, shortest } },
    );
  }
  return Object.freeze({
    ...common,
    kind: 'timestampedWindow',
    windowSize: windows.size,
    retention,
    trackChanges: emit === undefined || emit === 'onCommit',
    closeTracking: emit === 'onWindowClose',
  });
}

function commonSpec<K, V>(
  graph: StreamGraph,
  storePrefix: string,
  materialized: MaterializedOptions<K, V> = {},
  carried: CarriedSerdes<K, V>,
): Omit<StoreSpec, 'kind'> {
  const { storeName, engine = null, logged = true, changelogConfigs = {} } = materialized;
  return {
    name: storeName === undefined ? graph.newStoreName(storePrefix) : checkResourceName(storeName, 'store'),
    keySerde: materialized.keySerde ?? carried.keySerde,
    valueSerde: materialized.valueSerde ?? carried.valueSerde,
    engine,
    logged,
    changelogConfigs: Object.freeze({ ...changelogConfigs }),
  };
}
