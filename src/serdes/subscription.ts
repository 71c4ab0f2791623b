/**
 * What foreign-key joins send through their internal topics, in the bytes of Kafka Streams (`SubscriptionWrapper` version 1, `SubscriptionResponseWrapper` version 0).
 *
 * A left row subscribes to the key that it refers to; the answer carries the row of that key, and the hash of the left value that asked, so that late answers are recognised.
 */
import { serdeOverAll } from './late-serde.js';
import { inPlaceSerde } from './in-place-serde.js';
import type { CompiledSerde, Serde } from './serde.js';
import { cannotDeserialize } from './serde-error.js';

/** What the right side does with a subscription. The numbers are on the wire. */
export const Instruction = Object.freeze({
  deleteKeyNoPropagate: 0,
  deleteKeyAndPropagate: 1,
  propagateNullIfNoRow: 2,
  propagateOnlyIfRow: 3,
} as const);

export type Instruction = (typeof Instruction)[keyof typeof Instruction];

export interface Subscription<K> {
  /** Murmur3 of the left value's bytes; null when the left row is gone. */
  readonly hash: Buffer | null;
  readonly instruction: Instruction;
  readonly primaryKey: K;
  /** Where the answer is to go; null when an older version wrote it. */
  readonly primaryPartition: number | null;
}

export interface SubscriptionResponse<V> {
  readonly hash: Buffer | null;
  readonly foreignValue: V | null;
  /** Not on the wire: the sink sends the answer there. */
  readonly primaryPartition: number | null;
}

const noHash = 0x80;
const hashBytes = 16;
const currentVersion = 1;

/** {hash is null: 1 bit}{version: 7 bits}{instruction: 1 byte}{hash: 16 bytes, unless null}{primary key}{primary partition: 4 bytes, from version 1 on} */
export function subscriptionSerde<K>(keySerde: Serde<K> | null): Serde<Subscription<K>> {
  const inner = [{ serde: keySerde as Serde<never> | null, part: 'key' as const }];
  return serdeOverAll(`subscription(${keySerde?.name ?? 'default'})`, inner, ([key]) => subscriptionOf(key as CompiledSerde<K>));
}

function subscriptionOf<K>(key: CompiledSerde<K>): Serde<Subscription<K>> {
  const name = `subscription(${key.name})`;
  return inPlaceSerde<Subscription<K>>({
    name,
    encode: ({ hash, instruction, primaryKey, primaryPartition }, out) => {
      const version = primaryPartition === null ? 0 : currentVersion;
      out.writeByte(hash === null ? version | noHash : version);
      out.writeByte(instruction);
      if (hash !== null) out.writeBytes(hash);
      key.encode(primaryKey, out);
      if (primaryPartition !== null) out.writeInt32(primaryPartition);
    },
    decode: (buffer, start, end) => {
      const head = buffer[start] ?? 0;
      const version = head & 0x7f;
      const instruction = buffer[start + 1] ?? 255;
      const keyStart = start + 2 + ((head & noHash) === 0 ? hashBytes : 0);
      const keyEnd = version === 0 ? end : end - 4;
      if (version > currentVersion || instruction > 3 || keyEnd < keyStart) {
        throw cannotDeserialize(name, buffer, start, end, new Error(`not a subscription of version 0 to ${currentVersion}`));
      }
      return {
        hash: (head & noHash) === 0 ? Buffer.from(buffer.subarray(start + 2, keyStart)) : null,
        instruction: instruction as Instruction,
        primaryKey: key.decodeSync(buffer, keyStart, keyEnd),
        primaryPartition: version === 0 ? null : buffer.readInt32BE(keyEnd),
      };
    },
  });
}

/**
 * {hash is null: 1 bit}{version: 7 bits}{hash: 16 bytes, unless null}{foreign value, nothing when null}. A foreign value of no bytes can't be told from null: it arrives as null, as in
 * Kafka Streams.
 */
export function subscriptionResponseSerde<V>(valueSerde: Serde<V> | null): Serde<SubscriptionResponse<V>> {
  const inner = [{ serde: valueSerde as Serde<never> | null, part: 'value' as const }];
  return serdeOverAll(`subscriptionResponse(${valueSerde?.name ?? 'default'})`, inner, ([value]) => responseOf(value as CompiledSerde<V>));
}

function responseOf<V>(value: CompiledSerde<V>): Serde<SubscriptionResponse<V>> {
  const name = `subscriptionResponse(${value.name})`;
  return inPlaceSerde<SubscriptionResponse<V>>({
    name,
    encode: ({ hash, foreignValue }, out) => {
      out.writeByte(hash === null ? noHash : 0);
      if (hash !== null) out.writeBytes(hash);
      if (foreignValue !== null) value.encode(foreignValue, out);
    },
    decode: (buffer, start, end) => {
      const head = buffer[start] ?? 0;
      const valueStart = start + 1 + ((head & noHash) === 0 ? hashBytes : 0);
      if ((head & 0x7f) !== 0 || valueStart > end)
        throw cannotDeserialize(name, buffer, start, end, new Error('not a response of version 0'));
      return {
        hash: (head & noHash) === 0 ? Buffer.from(buffer.subarray(start + 1, valueStart)) : null,
        foreignValue: valueStart === end ? null : value.decodeSync(buffer, valueStart, end),
        primaryPartition: null,
      };
    },
  });
}
