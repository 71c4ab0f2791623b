/** Bytes of foreign-key joins, as Kafka Streams 4.4.0 writes them. */
import { describe, expect, it } from '@jest/globals';
import { murmur3Hash128 } from '../../src/bytes/murmur3.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import {
  Instruction,
  subscriptionResponseSerde,
  subscriptionSerde,
  type Subscription,
  type SubscriptionResponse,
} from '../../src/serdes/subscription.js';

const hash = murmur3Hash128(Buffer.from('v'));
const defaults = { key: serdes.string, value: serdes.string };
const whole = <T>(serde: Serde<T>): Serde<T> => serde.withDefaults?.(defaults) ?? serde;
const subscriptions = whole(subscriptionSerde<string>(null));
const responses = whole(subscriptionResponseSerde<string>(serdes.string));

describe('subscriptions', () => {
  const cases: readonly (readonly [string, Subscription<string>])[] = [
    ['0100e001ba9f5f750d0518bc9338ae3e72f3706b3000000003', subscription(hash, Instruction.deleteKeyNoPropagate, 'pk0', 3)],
    ['8101706b3100000004', subscription(null, Instruction.deleteKeyAndPropagate, 'pk1', 4)],
    ['0102e001ba9f5f750d0518bc9338ae3e72f3706b3200000005', subscription(hash, Instruction.propagateNullIfNoRow, 'pk2', 5)],
    ['8103706b3300000006', subscription(null, Instruction.propagateOnlyIfRow, 'pk3', 6)],
    ['0003e001ba9f5f750d0518bc9338ae3e72f3706b', subscription(hash, Instruction.propagateOnlyIfRow, 'pk', null)],
  ];

  it.each(cases)('%s', (hex, value) => {
    expect(Buffer.from(subscriptions.serialize(value)).toString('hex')).toBe(hex);
    expect(subscriptions.deserialize(Buffer.from(hex, 'hex'))).toEqual(value);
  });

  it.each(['02', '0104706b00000000', ''])('refuses %j', (hex) => {
    expect(() => subscriptions.deserialize(Buffer.from(hex, 'hex'))).toThrow('not a subscription');
  });
});

describe('responses', () => {
  const cases: readonly (readonly [string, SubscriptionResponse<string>])[] = [
    ['00e001ba9f5f750d0518bc9338ae3e72f36676', { hash, foreignValue: 'fv', primaryPartition: null }],
    ['00e001ba9f5f750d0518bc9338ae3e72f3', { hash, foreignValue: null, primaryPartition: null }],
    ['80', { hash: null, foreignValue: null, primaryPartition: null }],
  ];

  it.each(cases)('%s', (hex, value) => {
    expect(Buffer.from(responses.serialize(value)).toString('hex')).toBe(hex);
    expect(responses.deserialize(Buffer.from(hex, 'hex'))).toEqual(value);
  });

  it('an empty foreign value arrives as null: the format has no sign for it', () => {
    const bytes = responses.serialize({ hash, foreignValue: '', primaryPartition: 1 });
    expect(responses.deserialize(Buffer.from(bytes))).toMatchObject({ foreignValue: null });
  });

  it('refuses another version', () => {
    expect(() => responses.deserialize(Buffer.from([1]))).toThrow('not a response of version 0');
  });
});

describe('serdes that wait for the app’s defaults', () => {
  it('refuse to work without them, and name the default that lacks', () => {
    const serde = subscriptionSerde<string>(null);
    expect(() => serde.serialize(subscription(null, Instruction.propagateOnlyIfRow, 'k', 0))).toThrow('default serdes');
    expect(() => serde.withDefaults?.({ key: null, value: null })).toThrow('defaultKeySerde');
  });
});

function subscription(
  of: Buffer | null,
  instruction: Instruction,
  primaryKey: string,
  primaryPartition: number | null,
): Subscription<string> {
  return { hash: of, instruction, primaryKey, primaryPartition };
}
