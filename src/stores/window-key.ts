/**
 * Keys of window stores. In the changelog: key bytes, 8-byte window start, 4-byte sequence number (always 0 here), as Kafka Streams'
 * WindowKeySchema. In the engine the window start comes first: then a window is one contiguous range, expiry is a range clear, and closed windows
 * and `fetchAll` are read in their order (window start, key bytes).
 */
export const windowStartBytes = 8;
export const changelogSuffixBytes = 12;

/** `<8-byte start><4-byte sequence>`: what follows the key in the changelog. */
export function changelogSuffix(windowStart: number): Buffer {
  const suffix = Buffer.alloc(changelogSuffixBytes);
  suffix.writeBigInt64BE(BigInt(windowStart));
  return suffix;
}

/** Turns the sign bit, so that the order of the bytes is the order of the numbers, negative ones too. */
const signBit = 1n << 63n;

/** What precedes the keys of a window in the engine. */
export function windowPrefix(id: Buffer, windowStart: number): Buffer {
  const prefix = Buffer.alloc(id.length + windowStartBytes);
  id.copy(prefix);
  prefix.writeBigUInt64BE(BigInt(windowStart) + signBit, id.length);
  return prefix;
}

export function startInEngineKey(key: Buffer, idBytes: number): number {
  return Number(key.readBigUInt64BE(idBytes) - signBit);
}

export function startInChangelogKey(key: Buffer, end: number): number {
  return Number(key.readBigInt64BE(end - changelogSuffixBytes));
}
