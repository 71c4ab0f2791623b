import { MillraceError } from '../errors.js';
import { Windowed } from '../time/windowed.js';
import { requireSerde } from './checked-serde.js';
import { compileSerde } from './compile-serde.js';
import { inPlaceSerde } from './in-place-serde.js';
import type { Serde, SerdeUse } from './serde.js';
import { cannotDeserialize } from './serde-error.js';

const startBytes = 8;

/**
 * Keys of windowed tables on topics: the key's bytes, then the window's start in ms as 8 bytes, as Kafka Streams'
 * `WindowedSerdes.timeWindowedSerdeFrom(type, size)` writes them. The size is not in the bytes: `end = start + windowSize`.
 *
 * @param windowSize milliseconds.
 * @throws MILL_TOPOLOGY_INVALID when the serde is none, or the size no number of milliseconds
 */
export function timeWindowedSerde<K>(keySerde: Serde<K>, windowSize: number): Serde<Windowed<K>> {
  requireSerde('serdes.timeWindowed', keySerde);
  if (!(windowSize >= 0)) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `serdes.timeWindowed: the window size must be milliseconds, 0 or more, not ${windowSize}.`,
    );
  }
  const key = compileSerde(keySerde);
  const name = `timeWindowed(${key.name}, ${windowSize})`;
  const serde = inPlaceSerde<Windowed<K>>({
    name,
    encode: (value, out) => {
      key.encode(value.key, out);
      out.writeInt64(value.window.start);
    },
    decode: (buffer, start, end) => {
      const keyEnd = end - startBytes;
      if (keyEnd < start) throw cannotDeserialize(name, buffer, start, end, new Error('expected a key and 8 bytes of window start'));
      const windowStart = Number(buffer.readBigInt64BE(keyEnd));
      return new Windowed(key.decodeSync(buffer, start, keyEnd), { start: windowStart, end: windowStart + windowSize });
    },
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await keySerde.prepare?.(use);
    },
  });
}
