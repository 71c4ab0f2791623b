/** Bytes of changes on repartition topics, as Kafka Streams' ChangedSerializer writes them. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { changeSerde } from '../../src/processors/change-serde.js';
import { Change } from '../../src/processors/operator.js';
import { serdes } from '../../src/serdes/serdes.js';

const serde = changeSerde(serdes.string);

describe('a change', () => {
  it.each([
    [new Change<string>(null, 'ab'), [0x61, 0x62, 0]],
    [new Change<string>('ab', null), [0x61, 0x62, 1]],
    [new Change('c', 'ab'), [2, 0x63, 0x61, 0x62, 2]],
    [new Change('', ''), [0, 2]],
  ])('%p is %p', (change, bytes) => {
    expect([...serde.serialize(change)]).toEqual(bytes);
    expect(serde.deserialize(Buffer.from(bytes))).toEqual(change);
  });

  it.each([
    [[0x61, 1, 3], new Change<string>(null, 'a', true)],
    [[0x61, 0, 4], new Change<string>('a', null, false)],
    [[2, 0x63, 0x61, 0, 5], new Change('c', 'a', false)],
  ])('%p, with a byte that says whether it is the latest, is %p', (bytes, change) => {
    expect(serde.deserialize(Buffer.from(bytes))).toEqual(change);
  });

  it('comes back as it went, in any place of a buffer', () => {
    const value = fc.option(fc.string({ maxLength: 200 }), { nil: null });
    fc.assert(
      fc.property(value, value, (newValue, oldValue) => {
        fc.pre(newValue !== null || oldValue !== null);
        const bytes = serde.serialize(new Change(newValue, oldValue));
        const padded = Buffer.concat([Buffer.from([9, 9]), bytes, Buffer.from([9])]);
        expect(serde.decode?.(padded, 2, 2 + bytes.length)).toEqual(new Change(newValue, oldValue));
      }),
    );
  });

  it('from nothing to nothing has no bytes, and unknown bytes are no change', () => {
    expect(() => serde.serialize(new Change<string>(null, null))).toThrow();
    expect(() => serde.deserialize(Buffer.from([6]))).toThrow();
    expect(() => serde.deserialize(Buffer.alloc(0))).toThrow();
  });
});
