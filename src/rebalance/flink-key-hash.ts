/**
 * Flink's key groups: for state that comes from Flink, and to check ours against it. Millrace itself hashes serialised keys (`keyGroupOf`), since a hash of
 * Java objects is nothing a JavaScript value has.
 */

/** The key group of a Java hash code: murmur3's finaliser over it, made non-negative. */
export function flinkKeyGroup(javaHash: number, maxParallelism: number): number {
  return flinkMurmur(javaHash) % maxParallelism;
}

export function flinkMurmur(javaHash: number): number {
  let hash = Math.imul(javaHash, 0xcc9e2d51);
  hash = (hash << 15) | (hash >>> 17);
  hash = Math.imul(hash, 0x1b873593);
  hash = (hash << 13) | (hash >>> 19);
  hash = (Math.imul(hash, 5) + 0xe6546b64) | 0;
  hash ^= 4;
  hash ^= hash >>> 16;
  hash = Math.imul(hash, 0x85ebca6b);
  hash ^= hash >>> 13;
  hash = Math.imul(hash, 0xc2b2ae35);
  hash ^= hash >>> 16;
  // -2^31 has no positive counterpart in 32 bits.
  return hash === -0x8000_0000 ? 0 : Math.abs(hash);
}

/** `String.hashCode()`. */
export function javaStringHash(text: string): number {
  let hash = 0;
  for (let i = 0; i < text.length; i++) hash = (Math.imul(hash, 31) + text.charCodeAt(i)) | 0;
  return hash;
}

/** `Long.hashCode()`. */
export function javaLongHash(value: bigint): number {
  return Number(BigInt.asIntN(32, value ^ (BigInt.asIntN(64, value) >> 32n)));
}
