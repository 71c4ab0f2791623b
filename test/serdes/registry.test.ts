import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { FakeRegistry } from './fake-registry.js';

interface User {
  readonly name: string;
  readonly age?: number;
}

const v1 = { type: 'record', name: 'User', namespace: 'test', fields: [{ name: 'name', type: 'string' }] };
const v2 = { ...v1, fields: [...v1.fields, { name: 'age', type: 'int', default: 7 }] };
const jsonSchema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };

let registry: FakeRegistry;
let host: string;
beforeEach(async () => {
  registry = new FakeRegistry();
  host = await registry.start();
});
afterEach(() => registry.stop());

const connection = () => ({ host, retry: { retries: 0 } });

function encode<T>(serde: Serde<T>, value: T): Buffer {
  const out = new ByteWriter(1);
  compileSerde(serde).encode(value, out);
  return out.copy();
}

describe('an Avro serde', () => {
  it('registers its schema under <topic>-value and writes 0, the id and the datum', async () => {
    registry.add('other', { type: 'string' });
    const serde = serdes.avro<User>({ registry: connection(), schema: v1 });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    expect(registry.versions('users-value')).toEqual([2]);
    const bytes = encode(serde, { name: 'Ann' });
    expect(bytes.toString('hex')).toBe('000000000206' + Buffer.from('Ann').toString('hex'));
    expect(compileSerde(serde).decodeSync(bytes, 0, bytes.length)).toMatchObject({ name: 'Ann' });
  });

  it('writes values larger than the room left', async () => {
    const serde = serdes.avro<User>({ registry: connection(), schema: v1 });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    const name = 'x'.repeat(5000);
    const bytes = encode(serde, { name });
    expect(compileSerde(serde).decodeSync(bytes, 0, bytes.length)).toMatchObject({ name });
  });

  it('uses the latest schema of the subject when it has none, and reads older versions at once', async () => {
    const old = serdes.avro<User>({ registry: connection(), schema: v1 });
    await old.prepare?.({ topic: 'users', part: 'value' });
    const before = encode(old, { name: 'Ann' });
    registry.add('users-value', v2);
    const serde = serdes.avro<User>({ registry: connection() });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    expect(encode(serde, { name: 'Bob', age: 3 }).readInt32BE(1)).toBe(2);
    expect(compileSerde(serde).decode(before, 0, before.length)).toMatchObject({ name: 'Ann' });
  });

  it('resolves what others wrote into its own schema', async () => {
    const old = serdes.avro<User>({ registry: connection(), schema: v1 });
    await old.prepare?.({ topic: 'users', part: 'value' });
    const before = encode(old, { name: 'Ann' });
    const serde = serdes.avro<User>({ registry: connection(), schema: v2 });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    expect(compileSerde(serde).decodeSync(before, 0, before.length)).toMatchObject({ name: 'Ann', age: 7 });
  });

  it('loads an id that it meets for the first time, once, while the record waits', async () => {
    const serde = serdes.avro<User>({ registry: connection(), schema: v1 });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    registry.add('elsewhere', v2);
    const late = serdes.avro<User>({ registry: connection(), schema: v2 });
    await late.prepare?.({ topic: 'elsewhere', part: 'value' });
    const bytes = encode(late, { name: 'Eve', age: 1 });
    const compiled = compileSerde(serde);
    expect(() => compiled.decodeSync(bytes, 0, bytes.length)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
    expect(await Promise.all([compiled.decode(bytes, 0, bytes.length), compiled.decode(bytes, 0, bytes.length)])).toMatchObject([
      { name: 'Eve' },
      { name: 'Eve' },
    ]);
    expect(compiled.decodeSync(bytes, 0, bytes.length)).toMatchObject({ name: 'Eve' });
  });

  it('takes a subject of its own', async () => {
    const serde = serdes.avro<User>({ registry: connection(), schema: v1, subject: 'people' });
    await serde.prepare?.({ topic: 'users', part: 'key' });
    expect(registry.versions('people')).toHaveLength(1);
  });

  it('says MILL_SERDE for a value that does not fit and for bytes without an id', async () => {
    const serde = serdes.avro<User>({ registry: connection(), schema: v1 });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    expect(() => encode(serde, { name: 5 } as never)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
    expect(() => compileSerde(serde).decode(Buffer.from('abcdef'), 0, 6)).toThrow(/no schema id/);
  });

  it('says MILL_SERDE_REGISTRY when the registry is not there, when an id is unknown, and when there is nothing to write with', async () => {
    const lost = serdes.avro<User>({ registry: { host: 'http://127.0.0.1:1', retry: { retries: 0 } }, schema: v1 });
    await expect(lost.prepare?.({ topic: 'users', part: 'value' })).rejects.toMatchObject({ code: 'MILL_SERDE_REGISTRY' });
    const serde = serdes.avro<User>({ registry: connection() });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    expect(() => encode(serde, { name: 'x' })).toThrow(expect.objectContaining({ code: 'MILL_SERDE_REGISTRY' }));
    await expect(compileSerde(serde).decode(Buffer.from([0, 0, 0, 0, 99, 1]), 0, 6)).rejects.toMatchObject({ code: 'MILL_SERDE_REGISTRY' });
  });
});

describe('a JSON Schema serde', () => {
  it('writes 0, the id and JSON, and validates both ways', async () => {
    const serde = serdes.jsonSchema<User>({ registry: connection(), schema: jsonSchema });
    await serde.prepare?.({ topic: 'users', part: 'value' });
    const bytes = encode(serde, { name: 'Ann' });
    expect(bytes.subarray(5).toString()).toBe('{"name":"Ann"}');
    expect(compileSerde(serde).decodeSync(bytes, 0, bytes.length)).toEqual({ name: 'Ann' });
    expect(() => encode(serde, {} as never)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
    const wrong = Buffer.concat([bytes.subarray(0, 5), Buffer.from('{}')]);
    expect(() => compileSerde(serde).decodeSync(wrong, 0, wrong.length)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
  });
});
