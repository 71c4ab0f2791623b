/** Who has which partitions of which stores, by the group's last assignment: the same answer in every instance once all have heard of it. */
import { MillraceError } from '../errors.js';
import { callback, checkOptions, serde as aSerde, type ShapeOf } from '../errors/checked-options.js';
import type { GroupViewMember } from '../rebalance/group-view.js';
import { parseTaskId } from '../rebalance/task-id.js';
import { compileSerde } from '../serdes/compile-serde.js';
import type { Serde } from '../serdes/serde.js';
import { partitionOf } from './key-partition.js';
import type { KeyPartitioner } from './key-partition.js';
import type { QueryInstance } from './query-host.js';
import type { StoreReads } from './store-reads.js';

/** One instance of the app, with all its threads. */
export interface InstanceMetadata {
  /** Identity of its state directory. */
  readonly processId: string;
  /** `host:port` of its option `applicationServer`; null when it named none. */
  readonly applicationServer: string | null;
  /** It is this one. */
  readonly isLocal: boolean;
  /** Partitions that it runs, by store; those being restored included. */
  readonly activeStores: Readonly<Record<string, readonly number[]>>;
  /** Partitions of which it keeps a copy, by store. */
  readonly standbyStores: Readonly<Record<string, readonly number[]>>;
  /** Stores that every instance has whole. */
  readonly globalStores: readonly string[];
}

/** Where a key is. */
export interface KeyMetadata {
  readonly store: string;
  /** 0 for global stores. */
  readonly partition: number;
  /** Runs the partition; for global stores this instance. null while it is being moved. */
  readonly active: InstanceMetadata | null;
  readonly standbys: readonly InstanceMetadata[];
}

/** How the partition of a key is found. */
export interface KeyMetadataOptions<K> {
  /** Default: the store's. */
  readonly keySerde?: Serde<K>;
  /** Default: Kafka's default partitioner. */
  readonly partitioner?: KeyPartitioner<K>;
}

/** In the order of the process ids. Errors: MILL_STORE_NOT_AVAILABLE before the first assignment. */
export function metadataForAll(host: QueryInstance): InstanceMetadata[] {
  const { members, generation } = host.groupView();
  const why = host.closedBecause();
  if (why !== null || generation < 0) {
    throw new MillraceError(
      'MILL_STORE_NOT_AVAILABLE',
      `The group is not known: ${why ?? 'it has not assigned tasks to this instance yet'}.`,
    );
  }
  const globalStores = [...host.topology.globalStores.keys()];
  const processes = new Map<string, GroupViewMember[]>();
  for (const member of members) {
    const threads = processes.get(member.processId);
    if (threads === undefined) processes.set(member.processId, [member]);
    else threads.push(member);
  }
  const inOrder = [...processes].sort(([a], [b]) => (a < b ? -1 : 1));
  return inOrder.map(([processId, threads]) => ({
    processId,
    applicationServer: threads.find(({ applicationServer }) => applicationServer !== null)?.applicationServer ?? null,
    isLocal: processId === host.processId(),
    activeStores: storesOf(
      host,
      threads.flatMap(({ activeTasks }) => activeTasks),
    ),
    standbyStores: storesOf(
      host,
      threads.flatMap(({ standbyTasks }) => standbyTasks),
    ),
    globalStores,
  }));
}

/** Instances that have a partition of the store, or a copy of one. Errors: MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_NOT_AVAILABLE. */
export function metadataForStore(queries: StoreReads, store: string): InstanceMetadata[] {
  const { subTopology } = queries.known(store);
  const all = metadataForAll(queries.host);
  return subTopology === null ? all : all.filter(({ activeStores, standbyStores }) => store in activeStores || store in standbyStores);
}

const shape = { keySerde: aSerde, partitioner: callback } satisfies ShapeOf<KeyMetadataOptions<unknown>>;

/** Errors: as of `metadataForStore`; MILL_SERDE for a key that the serde does not take; MILL_QUERY_INVALID for an option that there is not. */
export function metadataForKey<K>(queries: StoreReads, store: string, key: K, options: KeyMetadataOptions<K> = {}): KeyMetadata {
  checkOptions('metadataForKey', options, shape, 'MILL_QUERY_INVALID');
  const { spec, subTopology } = queries.known(store);
  const { host } = queries;
  const all = metadataForAll(host);
  if (subTopology === null) return { store, partition: 0, active: all.find(({ isLocal }) => isLocal) ?? null, standbys: [] };
  const count = host.partitionCount(subTopology);
  if (count === null) throw new MillraceError('MILL_STORE_NOT_AVAILABLE', `The partitions of store ${store} are not known yet.`);
  const serde = options.keySerde === undefined ? host.serdes(spec).key : compileSerde(options.keySerde as Serde<unknown>);
  return partitionMetadata(all, store, partitionOf(key, serde, count, options.partitioner));
}

/** Of a partition that the store has. */
export function partitionMetadata(all: readonly InstanceMetadata[], store: string, partition: number): KeyMetadata {
  return {
    store,
    partition,
    active: all.find(({ activeStores }) => activeStores[store]?.includes(partition) === true) ?? null,
    standbys: all.filter(({ standbyStores }) => standbyStores[store]?.includes(partition) === true),
  };
}

function storesOf(host: QueryInstance, tasks: readonly string[]): Record<string, number[]> {
  const found: Record<string, number[]> = {};
  for (const { subTopology, partition } of tasks.map(parseTaskId)) {
    const stores = host.topology.subTopologies.find(({ id }) => id === subTopology)?.stores ?? [];
    for (const store of stores) (found[store] ??= []).push(partition);
  }
  for (const partitions of Object.values(found)) partitions.sort((a, b) => a - b);
  return found;
}
