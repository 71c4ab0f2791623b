/**
 * Murmur2 as Kafka's default partitioner uses it (seed 0x9747b28c, 32-bit signed result).
 * Vectors: conformance/cases/kafka-streams/murmur2.json.
 */
export function murmur2(bytes: Uint8Array, start = 0, end = bytes.length): number {
  const length = end - start;
  let hash = 0x9747b28c ^ length;
  let at = start;
  const blocksEnd = start + (length & ~3);
  while (at < blocksEnd) {
    let k =
      (bytes[at] as number) | ((bytes[at + 1] as number) << 8) | ((bytes[at + 2] as number) << 16) | ((bytes[at + 3] as number) << 24);
    k = Math.imul(k, 0x5bd1e995);
    k ^= k >>> 24;
    hash = Math.imul(hash, 0x5bd1e995) ^ Math.imul(k, 0x5bd1e995);
    at += 4;
  }
  const rest = end - at;
  if (rest === 3) hash ^= (bytes[at + 2] as number) << 16;
  if (rest >= 2) hash ^= (bytes[at + 1] as number) << 8;
  if (rest >= 1) hash = Math.imul(hash ^ (bytes[at] as number), 0x5bd1e995);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0x5bd1e995);
  return hash ^ (hash >>> 15);
}

/** The partition of a key's bytes: `toPositive(murmur2) % partitions`. */
export function partitionForKey(bytes: Uint8Array, start: number, end: number, partitions: number): number {
  return (murmur2(bytes, start, end) & 0x7fffffff) % partitions;
}
