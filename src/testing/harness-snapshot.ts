/** What a harness holds, as bytes: the rows of its stores, and how far time was. Dealt out by key when it is restored, over as many partitions as the new harness has. */
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import type { Serde } from '../serdes/serde.js';
import type { KeyValueStore, StateStore, TimestampedKeyValueStore } from '../stores/store.js';
import type { StoreNode, Topology } from '../topology/nodes.js';

/** A row of a store in a `HarnessSnapshot`, as bytes. */
export interface SnapshotRow {
  /** As the store's key serde wrote it. */
  readonly key: Buffer;
  /** As the store's value serde wrote it. */
  readonly value: Buffer;
  /** ms; -1 in stores that keep none. */
  readonly timestamp: number;
}

/** Made by `TestHarness.snapshot`, for the option `from` of another harness. */
export interface HarnessSnapshot {
  /** Rows by store. */
  readonly stores: ReadonlyMap<string, readonly SnapshotRow[]>;
  /** The lowest watermark over the partitions; -Infinity before the first. */
  readonly watermark: number;
  /** ms since the epoch. */
  readonly wallClock: number;
}

type StoreAt = (name: string, partition: number) => Promise<StateStore>;
type Keyed = TimestampedKeyValueStore<unknown, unknown>;

/** @throws MILL_STATE_INVALID when there is a store of a kind that is not dealt out by key */
export async function snapshotStores(topology: Topology, parallelism: number, storeAt: StoreAt): Promise<Map<string, SnapshotRow[]>> {
  const stores = new Map<string, SnapshotRow[]>();
  for (const [name, node] of topology.stores) {
    const [keys, values] = serdesOf(name, node);
    const rows: SnapshotRow[] = [];
    for (let partition = 0; partition < parallelism; partition++) {
      const store = await storeAt(name, partition);
      for await (const [key, row] of (store as Keyed).range()) {
        const { value, timestamp } = store.kind === 'timestampedKeyValue' ? row : { value: row as unknown, timestamp: -1 };
        rows.push({ key: copyOf(keys.serialize(key)), value: copyOf(values.serialize(value)), timestamp });
      }
    }
    stores.set(name, rows);
  }
  return stores;
}

/** @throws MILL_CONFIG_INVALID when the snapshot has a store that the operator has not */
export async function restoreStores(topology: Topology, parallelism: number, storeAt: StoreAt, snapshot: HarnessSnapshot): Promise<void> {
  for (const [name, rows] of snapshot.stores) {
    const node = topology.stores.get(name);
    if (node === undefined) {
      const known = [...topology.stores.keys()].join(', ') || 'none';
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `TestHarness: the snapshot has store ${name}, and the operator has not (it has: ${known}). Give operators names: stores are named after them.`,
      );
    }
    const [keys, values] = serdesOf(name, node);
    for (const row of rows) {
      const store = await storeAt(name, partitionOf(node, row.key, parallelism));
      const [key, value] = [await keys.deserialize(row.key), await values.deserialize(row.value)];
      if (store.kind === 'timestampedKeyValue') (store as Keyed).put(key, value, row.timestamp);
      else (store as KeyValueStore<unknown, unknown>).put(key, value);
    }
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
