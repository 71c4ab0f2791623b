/** Which partition a key belongs to. */
import { ByteWriter } from '../bytes/byte-writer.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import type { CompiledSerde } from '../serdes/serde.js';

/**
 * For topics whose producers do not use Kafka's default partitioner.
 *
 * @param keyBytes the key as the store's serde writes it
 */
export type KeyPartitioner<K> = (key: K, partitions: number, keyBytes: Buffer) => number;

/** Default: Kafka's, murmur2 of the key's bytes. Errors: MILL_SERDE, MILL_QUERY_INVALID when the partitioner gives no partition. */
export function partitionOf<K>(key: K, serde: CompiledSerde<unknown>, partitions: number, partitioner?: KeyPartitioner<K>): number {
  const out = new ByteWriter(64);
  serde.encode(key, out);
  const keyBytes = out.copy();
  if (partitioner === undefined) return partitionForKey(keyBytes, 0, keyBytes.length, partitions);
  const partition = partitioner(key, partitions, keyBytes);
  if (Number.isSafeInteger(partition) && partition >= 0 && partition < partitions) return partition;
  throw new MillraceError('MILL_QUERY_INVALID', `The partitioner gave ${String(partition)}, which is none of ${partitions} partitions.`);
}
