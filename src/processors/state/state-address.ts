/** Where a row of keyed state lies in the operator's store: state name first, so that the rows of a state stand together. */
import { compileSerde } from '../../serdes/compile-serde.js';
import { inPlaceSerde } from '../../serdes/in-place-serde.js';
import { cannotDeserialize } from '../../serdes/serde-error.js';
import type { Serde, SerdeUse } from '../../serdes/serde.js';

export interface StateAddress<K = unknown> {
  readonly state: string;
  readonly key: K;
  readonly namespace: string;
}

/** `<state length, state, key length, key, namespace>` */
export function stateAddressSerde<K>(keySerde: Serde<K>): Serde<StateAddress<K>> {
  const key = compileSerde(keySerde);
  const name = `state(${key.name})`;
  const serde = inPlaceSerde<StateAddress<K>>({
    name,
    encode: (address, out) => {
      out.writeByte(address.state.length);
      out.writeUtf8(address.state);
      const lengthAt = out.length;
      out.writeInt32(0);
      key.encode(address.key, out);
      out.buffer.writeInt32BE(out.length - lengthAt - 4, lengthAt);
      out.writeUtf8(address.namespace);
    },
    decode: (buffer, start, end) => {
      const stateEnd = start + 1 + (buffer[start] ?? 0);
      if (stateEnd + 4 > end) throw cannotDeserialize(name, buffer, start, end, new Error('too short'));
      const keyStart = stateEnd + 4;
      const keyEnd = keyStart + buffer.readInt32BE(stateEnd);
      return {
        state: buffer.toString('latin1', start + 1, stateEnd),
        key: key.decodeSync(buffer, keyStart, keyEnd),
        namespace: buffer.toString('utf8', keyEnd, end),
      };
    },
  });
  return Object.freeze({ ...serde, prepare: async (use: SerdeUse) => keySerde.prepare?.(use) });
}

/** What all addresses of a state begin with. */
export function statePrefix(state: string): Uint8Array {
  return Buffer.from(`${String.fromCharCode(state.length)}${state}`, 'latin1');
}
