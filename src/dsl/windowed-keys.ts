/** Serde and placement of windowed keys. */
import { partitionForKey } from '../bytes/murmur2.js';
import type { Serde } from '../serdes/serde.js';
import { serdeOver } from '../serdes/late-serde.js';
import { sessionWindowedSerde } from '../serdes/session-windowed.js';
import { timeWindowedSerde } from '../serdes/windowed.js';
import type { Windowed } from '../time/windowed.js';
import type { Partitioner } from '../topology/nodes.js';

export function windowedKeySerde<K>(keySerde: Serde<K> | null, windowSize: number): Serde<Windowed<K>> {
  return serdeOver(keySerde, (inner) => timeWindowedSerde(inner, windowSize), 'key', `timeWindowed(default, ${windowSize})`);
}

export function sessionKeySerde<K>(keySerde: Serde<K> | null): Serde<Windowed<K>> {
  return serdeOver(keySerde, sessionWindowedSerde, 'key', 'sessionWindowed(default)');
}

/**
 * All windows of a key go to the partition of the key itself (Kafka Streams' `WindowedStreamPartitioner`). null when the serde does not write windowed keys; its
 * name tells.
 */
export function windowedKeyPartitioner(serde: Serde<unknown> | null): Partitioner | null {
  if (serde?.name.startsWith('timeWindowed(') === true) return timePartitioner;
  return serde?.name.startsWith('sessionWindowed(') === true ? sessionPartitioner : null;
}

const timePartitioner = partitionerWithoutLast(8);
const sessionPartitioner = partitionerWithoutLast(16);

/** @param windowBytes how many bytes at the end of a key tell the window */
function partitionerWithoutLast(windowBytes: number): Partitioner {
  return Object.freeze({
    partition: (_topic: string, _key: unknown, _value: unknown, partitions: number, keyBytes: Buffer | null): number | null =>
      keyBytes === null ? null : partitionForKey(keyBytes, 0, keyBytes.length - windowBytes, partitions),
  });
}
