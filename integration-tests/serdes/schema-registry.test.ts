/** Registry serdes against the real schema registry of the stack. */
import { randomUUID } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ByteWriter } from '../../src/bytes/byte-writer.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';

interface User {
  readonly name: string;
  readonly age?: number;
}

const registry = { host: process.env['SCHEMA_REGISTRY_URL'] ?? '' };

function schemas() {
  const v1 = {
    type: 'record',
    name: 'User',
    namespace: `test.n${randomUUID().replaceAll('-', '')}`,
    fields: [{ name: 'name', type: 'string' }],
  };
  return { v1, v2: { ...v1, fields: [...v1.fields, { name: 'age', type: 'int', default: 7 }] } };
}

async function prepared<T>(serde: Serde<T>, topic: string): Promise<Serde<T>> {
  await serde.prepare?.({ topic, part: 'value' });
  return serde;
}

function encode<T>(serde: Serde<T>, value: T): Buffer {
  const out = new ByteWriter(16);
  compileSerde(serde).encode(value, out);
  return out.copy();
}

describe('serdes with the schema registry', () => {
  it('resolve Avro of one version into another, both ways, and know all versions of the subject at once', async () => {
    const topic = `users-${randomUUID()}`;
    const { v1, v2 } = schemas();
    const first = await prepared(serdes.avro<User>({ registry, schema: v1 }), topic);
    const ann = encode(first, { name: 'Ann' });
    const second = await prepared(serdes.avro<User>({ registry, schema: v2 }), topic);
    const bob = encode(second, { name: 'Bob', age: 3 });
    const latest = await prepared(serdes.avro<User>({ registry }), topic);

    expect({ ...compileSerde(second).decodeSync(ann, 0, ann.length) }).toEqual({ name: 'Ann', age: 7 });
    expect({ ...(await compileSerde(first).decode(bob, 0, bob.length)) }).toEqual({ name: 'Bob' });
    expect({ ...compileSerde(latest).decodeSync(ann, 0, ann.length) }).toEqual({ name: 'Ann' });
    expect({ ...compileSerde(latest).decodeSync(bob, 0, bob.length) }).toEqual({ name: 'Bob', age: 3 });
  });

  it('validate JSON by its schema', async () => {
    const schema = { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] };
    const serde = await prepared(serdes.jsonSchema<User>({ registry, schema }), `users-${randomUUID()}`);
    const bytes = encode(serde, { name: 'Ann' });
    expect(compileSerde(serde).decodeSync(bytes, 0, bytes.length)).toEqual({ name: 'Ann' });
    expect(() => encode(serde, {} as User)).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
  });

  it('prepare a topic without a subject, and say so when something is written', async () => {
    const serde = await prepared(serdes.avro<User>({ registry }), `nothing-${randomUUID()}`);
    expect(() => encode(serde, { name: 'x' })).toThrow(expect.objectContaining({ code: 'MILL_SERDE_REGISTRY' }));
  });
});
