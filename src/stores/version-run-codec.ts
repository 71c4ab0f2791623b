/** Bytes of a row of a versioned store: `next`, then for each version its time, the length of its value (-1: tombstone) and the value. Times are doubles, exact for all times. */
import type { ByteWriter } from '../bytes/byte-writer.js';
import { VersionRun } from './version-run.js';
import type { Version } from './version-run.js';

const nextBytes = 8;
const headerBytes = 12;
const tombstone = -1;

export function encodeVersionRun<V>(run: VersionRun<V>, out: ByteWriter, encode: (value: V, out: ByteWriter) => void): void {
  out.writeDouble(run.next);
  for (const { from, value } of run.versions) {
    out.writeDouble(from);
    out.writeInt32(tombstone);
    if (value === null) continue;
    const start = out.length;
    encode(value, out);
    out.buffer.writeInt32BE(out.length - start, start - 4);
  }
}

export function decodeVersionRun<V>(
  bytes: Buffer,
  start: number,
  end: number,
  decode: (valueStart: number, valueEnd: number) => V,
): VersionRun<V> {
  const versions: Version<V>[] = [];
  for (let at = start + nextBytes; at < end;) {
    const from = bytes.readDoubleBE(at);
    const size = bytes.readInt32BE(at + 8);
    at += headerBytes;
    versions.push({ from, value: size === tombstone ? null : decode(at, at + size) });
    if (size > 0) at += size;
  }
  return new VersionRun(versions, bytes.readDoubleBE(start));
}
