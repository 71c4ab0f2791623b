import type { StoreKind } from '../stores/store.js';
import { answers } from './answer-query.js';
import type { StoreReads } from './store-reads.js';
import type { ViewKind } from './views/view-of.js';

/** A store that can be queried. */
export interface StoreInfo {
  readonly name: string;
  /** The `kind` of its views. */
  readonly kind: ViewKind;
  readonly storeKind: StoreKind;
  /** Every instance has it whole. */
  readonly isGlobal: boolean;
  /** Names of the serdes. */
  readonly keySerde: string;
  readonly valueSerde: string;
  /** Number of partitions; null: not known yet. 1 for global stores. */
  readonly partitions: number | null;
  /** Those that the group gave to this instance. */
  readonly localPartitions: readonly number[];
}

/** In the order of the topology, global stores last. */
export function storeInfos({ host }: StoreReads): StoreInfo[] {
  const { topology } = host;
  const infos: StoreInfo[] = [];
  for (const { id, stores } of topology.subTopologies) {
    for (const name of stores) {
      const spec = topology.stores.get(name)?.spec;
      const kind = spec === undefined ? null : viewKindOf(spec.kind);
      if (spec === undefined || kind === null) continue;
      const { key, value } = host.serdes(spec);
      infos.push({
        name,
        kind,
        storeKind: spec.kind,
        isGlobal: false,
        keySerde: key.name,
        valueSerde: value.name,
        partitions: host.partitionCount(id),
        localPartitions: host.ownedPartitions(id),
      });
    }
  }
  for (const { spec } of topology.globalStores.values()) {
    const kind = viewKindOf(spec.kind);
    if (kind === null) continue;
    const { key, value } = host.serdes(spec);
    infos.push({
      name: spec.name,
      kind,
      storeKind: spec.kind,
      isGlobal: true,
      keySerde: key.name,
      valueSerde: value.name,
      partitions: 1,
      localPartitions: [0],
    });
  }
  return infos;
}

function viewKindOf(kind: StoreKind): ViewKind | null {
  if (answers('range', kind)) return 'keyValue';
  if (answers('windowRange', kind)) return 'window';
  if (answers('sessionRange', kind)) return 'session';
  return answers('versionedKey', kind) ? 'versioned' : null;
}
