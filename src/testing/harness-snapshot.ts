/**
 * What a harness holds, as bytes: the rows of its stores, and how far time was. Over as many partitions as before rows come back to where they were; over another number
 * rows by key are dealt out by key, those that each task has go to each, lists of tasks as they say (union lists also over the same number, as in Flink), and nobody can say where
 * others belong.
 */
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import { splitEvenly, uniteForAll } from '../rebalance/operator-state.js';
import type { Serde } from '../serdes/serde.js';
import type { KeyValueStore, StateStore, TimestampedKeyValueStore } from '../stores/store.js';
import type { StoreNode, Topology } from '../topology/nodes.js';
import type { TaskId } from '../topology/task-layout.js';
import { serialized } from '../serdes/serialized.js';

/** A row of a store in a `HarnessSnapshot`, as bytes. */
export interface SnapshotRow {
  /** Of the harness, from 0. */
  readonly partition: number;
  /** As the store's key serde wrote it. */
  readonly key: Buffer;
  /** As the store's value serde wrote it. */
  readonly value: Buffer;
  /** ms; -1 in stores that keep none. */
  readonly timestamp: number;
}

/** How far event time was in a task. */
export interface ReachedWatermark {
  readonly subTopology: number;
  /** Of the harness, from 0. */
  readonly partition: number;
  /** ms; what its operators had heard of, idle inputs left out. -Infinity: of none. */
  readonly watermark: number;
}

/** Made by `snapshot` of a harness, for the option `from` of another one. */
export interface HarnessSnapshot {
  /** Rows by store. */
  readonly stores: ReadonlyMap<string, readonly SnapshotRow[]>;
  /** Partitions of the harness. */
  readonly parallelism: number;
  /** The lowest watermark over inputs and partitions; -Infinity before the first of each. */
  readonly watermark: number;
  /** The lowest watermark of each input over its partitions, by name. A `TestHarness` has `input` alone. */
  readonly inputs: ReadonlyMap<string, number>;
  /** The watermark of each partition of each input, by name, then from partition 0. */
  readonly partitions: ReadonlyMap<string, readonly number[]>;
  /** How far each task was. */
  readonly reached: readonly ReachedWatermark[];
  /** ms since the epoch. */
  readonly wallClock: number;
}

/**
 * Where event time begins in a task: where it was. Over another parallelism at the lowest of all tasks before, as Flink does it: nothing that was open anywhere is closed, so a window
 * that one of them had closed may be made again.
 */
export function reachedBefore({ reached, parallelism }: HarnessSnapshot, now: number, { subTopology, partition }: TaskId): number {
  const before = reached.filter((one) => one.subTopology === subTopology && (parallelism !== now || one.partition === partition));
  return before.length === 0 ? -Infinity : Math.min(...before.map(({ watermark }) => watermark));
}

/** The watermarks that the partitions of an input begin with. */
export function pushedBefore({ partitions, parallelism }: HarnessSnapshot, now: number, input: string): number[] {
  const before = partitions.get(input) ?? [];
  if (parallelism === now && before.length === now) return [...before];
  const lowest = before.length === 0 ? -Infinity : Math.min(...before);
  return Array.from({ length: now }, () => lowest);
}

type StoreAt = (name: string, partition: number) => Promise<StateStore>;
type Keyed = TimestampedKeyValueStore<unknown, unknown>;

/** @throws MILL_STATE_INVALID when there is a store of a kind that is not dealt out by key, or a repartition topic with partitions of its own */
export async function snapshotStores(topology: Topology, parallelism: number, storeAt: StoreAt): Promise<Map<string, SnapshotRow[]>> {
  checkPartitions(topology, parallelism);
  const stores = new Map<string, SnapshotRow[]>();
  for (const [name, node] of topology.stores) {
    const [keys, values] = serdesOf(name, node);
    const rows: SnapshotRow[] = [];
    for (let partition = 0; partition < parallelism; partition++) {
      const store = await storeAt(name, partition);
      for await (const [key, row] of (store as Keyed).range()) {
        const { value, timestamp } = store.kind === 'timestampedKeyValue' ? row : { value: row as unknown, timestamp: -1 };
        rows.push({ partition, key: copyOf(serialized(keys, key)), value: copyOf(serialized(values, value)), timestamp });
      }
    }
    stores.set(name, rows);
  }
  return stores;
}

/**
 * Nothing is written before all of it has been looked at.
 *
 * @throws MILL_CONFIG_INVALID when the snapshot has a store that the operator has not
 * @throws MILL_STATE_INVALID when the parallelism is another, and a store has rows that are not dealt out by key
 */
export async function restoreStores(topology: Topology, parallelism: number, storeAt: StoreAt, snapshot: HarnessSnapshot): Promise<void> {
  checkPartitions(topology, parallelism);
  const dealt: DealtRow[] = [];
  for (const [name, rows] of snapshot.stores) {
    const node = topology.stores.get(name);
    if (node === undefined) {
      const known = [...topology.stores.keys()].join(', ') || 'none';
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `TestHarness: the snapshot has store ${name}, and the operator has not (it has: ${known}). Give operators names: stores are named after them.`,
      );
    }
    dealt.push(...dealtOut(node, rows, snapshot.parallelism, parallelism));
  }
  for (const { node, row, partition } of dealt) {
    const { name } = node.spec;
    const [keys, values] = serdesOf(name, node);
    const store = await storeAt(name, partition);
    const [key, value] = [await keys.deserialize(row.key), await values.deserialize(row.value)];
    if (store.kind === 'timestampedKeyValue') (store as Keyed).put(key, value, row.timestamp);
    else (store as KeyValueStore<unknown, unknown>).put(key, value);
  }
  // What was there before the snapshot is no news: operators that emit at a commit would send it as results.
  for (const [name, { spec }] of topology.stores) {
    if (spec.trackChanges === undefined || spec.trackChanges === false || !snapshot.stores.has(name)) continue;
    for (let partition = 0; partition < parallelism; partition++)
      await ((await storeAt(name, partition)) as Keyed).drainChanges(() => undefined);
  }
}

/** A row, and the partition that gets it. */
interface DealtRow {
  readonly node: StoreNode;
  readonly row: SnapshotRow;
  readonly partition: number;
}

function dealtOut(node: StoreNode, rows: readonly SnapshotRow[], before: number, now: number): DealtRow[] {
  const rule = node.spec.rows;
  if (rule !== 'split' && rule !== 'union')
    return rows.flatMap((row) => placesOf(node, row, before, now).map((partition) => ({ node, row, partition })));
  const lists = Array.from({ length: before }, (_, partition) =>
    rows.filter((row) => row.partition === partition).sort((a, b) => Buffer.compare(a.key, b.key)),
  );
  const [places] = serdesOf(node.spec.name, node);
  return (rule === 'split' ? splitEvenly(lists, now) : uniteForAll(lists, now)).flatMap((list, partition) =>
    list.map((row, place) => ({ node, partition, row: { ...row, key: copyOf(serialized(places, place)) } })),
  );
}

/** The partitions that get the row. */
function placesOf(node: StoreNode, row: SnapshotRow, before: number, now: number): number[] {
  if (before === now) return [row.partition];
  const { name, rows } = node.spec;
  // As Flink does it: each task goes on with what one of those before it had.
  if (rows === 'everywhere')
    return Array.from({ length: now }, (_, partition) => partition).filter((one) => one % before === row.partition);
  if (rows === 'byKey' && partitionOf(node, row.key, before) === row.partition) return [partitionOf(node, row.key, now)];
  throw new MillraceError(
    'MILL_STATE_INVALID',
    `TestHarness: store ${name} has rows that do not lie where records of their key go, so that nobody can say which of ${now} tasks they belong to. Keep the parallelism of the snapshot (${before}), or keep them as state by key.`,
    { details: { store: name, parallelism: now, snapshotParallelism: before } },
  );
}

/** @throws MILL_STATE_INVALID when there are tasks beyond those of the harness, or fewer */
function checkPartitions(topology: Topology, parallelism: number): void {
  for (const { name, partitions } of topology.repartitionTopics.values()) {
    if (partitions === null || partitions === parallelism) continue;
    throw new MillraceError(
      'MILL_STATE_INVALID',
      `TestHarness: topic ${name} has ${partitions} partitions, whatever the parallelism: what lies behind it can't be in a snapshot.`,
      { details: { topic: name, partitions } },
    );
  }
}

/** Whether the store holds state and timers by key. */
export function isKeyedState({ spec }: StoreNode): boolean {
  return spec.keySerde?.name.startsWith('state(') === true;
}

/** Where a row of those key bytes lies: rows of keyed state with the key in them. */
export function partitionOf(node: StoreNode, keyBytes: Buffer, parallelism: number): number {
  if (!isKeyedState(node)) return partitionForKey(keyBytes, 0, keyBytes.length, parallelism);
  const lengthAt = 1 + (keyBytes[0] ?? 0);
  const start = lengthAt + 4;
  return partitionForKey(keyBytes, start, start + keyBytes.readInt32BE(lengthAt), parallelism);
}

function serdesOf(name: string, { spec }: StoreNode): [Serde<unknown>, Serde<unknown>] {
  if (spec.kind !== 'timestampedKeyValue' && spec.kind !== 'keyValue') {
    throw new MillraceError(
      'MILL_STATE_INVALID',
      `TestHarness: store ${name} is of kind ${spec.kind}; snapshots take state by key, and key-value stores.`,
      { details: { store: name, kind: spec.kind } },
    );
  }
  if (spec.keySerde !== null && spec.valueSerde !== null) return [spec.keySerde, spec.valueSerde];
  throw new MillraceError('MILL_CONFIG_INVALID', `TestHarness: store ${name} has no serdes of its own; snapshots need them.`);
}

function copyOf(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes);
}
