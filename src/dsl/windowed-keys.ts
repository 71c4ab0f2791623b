/** Serde and placement of windowed keys. */
import { partitionForKey } from '../bytes/murmur2.js';
import type { Serde } from '../serdes/serde.js';
import { timeWindowedSerde } from '../serdes/windowed.js';
import type { Windowed } from '../time/windowed.js';
import type { Partitioner } from '../topology/nodes.js';

const windowStartBytes = 8;

/** null when the key's serde is not known: then a serde must be given to `to`. */
export function windowedKeySerde<K>(keySerde: Serde<K> | null, windowSize: number): Serde<Windowed<K>> | null {
  return keySerde === null ? null : timeWindowedSerde(keySerde, windowSize);
}

/** Whether a serde writes windowed keys; its name says so. */
export function writesWindowedKeys(serde: Serde<unknown> | null): boolean {
  return serde?.name.startsWith('timeWindowed(') ?? false;
}

/** All windows of a key go to the partition of the key itself (Kafka Streams' `WindowedStreamPartitioner`). */
export const windowedKeyPartitioner: Partitioner = Object.freeze({
  partition: (_topic: string, _key: unknown, _value: unknown, partitions: number, keyBytes: Buffer | null): number | null =>
    keyBytes === null ? null : partitionForKey(keyBytes, 0, keyBytes.length - windowStartBytes, partitions),
});
