import { Windowed } from '../time/windowed.js';
import { requireSerde } from './checked-serde.js';
import { compileSerde } from './compile-serde.js';
import { inPlaceSerde } from './in-place-serde.js';
import type { Serde, SerdeUse } from './serde.js';
import { cannotDeserialize } from './serde-error.js';

const boundsBytes = 16;

/**
 * Keys of tables of sessions on topics: the key's bytes, then the session's end and start in ms as 8 bytes each, as Kafka Streams'
 * `WindowedSerdes.sessionWindowedSerdeFrom(type)` writes them.
 */
export function sessionWindowedSerde<K>(keySerde: Serde<K>): Serde<Windowed<K>> {
  requireSerde('serdes.sessionWindowed', keySerde);
  const key = compileSerde(keySerde);
  const name = `sessionWindowed(${key.name})`;
  const serde = inPlaceSerde<Windowed<K>>({
    name,
    encode: (value, out) => {
      key.encode(value.key, out);
      out.writeInt64(value.window.end);
      out.writeInt64(value.window.start);
    },
    decode: (buffer, start, end) => {
      const keyEnd = end - boundsBytes;
      if (keyEnd < start)
        throw cannotDeserialize(name, buffer, start, end, new Error('expected a key and 16 bytes of session end and start'));
      const window = { start: Number(buffer.readBigInt64BE(keyEnd + 8)), end: Number(buffer.readBigInt64BE(keyEnd)) };
      return new Windowed(key.decodeSync(buffer, start, keyEnd), window);
    },
  });
  return Object.freeze({
    ...serde,
    prepare: async (use: SerdeUse) => {
      await keySerde.prepare?.(use);
    },
  });
}
