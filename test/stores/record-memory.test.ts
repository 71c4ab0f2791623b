import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { murmur2 } from '../../src/bytes/murmur2.js';
import { none, RecordMemory } from '../../src/stores/records/record-memory.js';

interface Placed {
  readonly key: string;
  readonly time: number;
  readonly sequence: number;
  readonly value: string;
}

const keys = fc.constantFrom('', 'a', 'b', 'ab', 'a'.repeat(40), '\u0000', '日本');
const puts = fc.array(fc.record({ key: keys, time: fc.integer({ min: 0, max: 5 }) }), { maxLength: 200 });

function keyIn(memory: RecordMemory, text: string): number {
  const bytes = Buffer.from(text);
  const hash = murmur2(bytes);
  const found = memory.find(hash, bytes, 0, bytes.length);
  return found === none ? memory.addKey(hash, bytes, 0, bytes.length) : found;
}

function put(memory: RecordMemory, { key, time, sequence, value }: Placed): void {
  const number = keyIn(memory, key);
  const start = memory.open(number, time, sequence);
  const valueStart = memory.bytes.length;
  memory.bytes.writeUtf8(value);
  memory.close(start, valueStart, number, time, sequence, 1);
}

/** From the earliest on. */
function recordsOf(memory: RecordMemory, key: string): Placed[] {
  const found: Placed[] = [];
  for (let record = memory.latest(keyIn(memory, key)); record !== none; record = memory.earlier(record)) {
    const value = memory.value(record, (buffer, start, end) => buffer.toString('utf8', start, end)) as string;
    found.unshift({ key, time: memory.time(record), sequence: memory.sequence(record), value });
  }
  return found;
}

describe('records in memory', () => {
  it('are each key’s, by time, then arrival', () => {
    fc.assert(
      fc.property(puts, (given) => {
        const memory = new RecordMemory();
        const all: Placed[] = [];
        for (const { key, time } of given) {
          const sequence = memory.nextSequence(keyIn(memory, key), time);
          const placed = { key, time, sequence, value: `${all.length}` };
          expect(sequence).toBe(all.filter((other) => other.key === key && other.time === time).length);
          all.push(placed);
          put(memory, placed);
        }
        for (const key of new Set(given.map((record) => record.key))) {
          const expected = all.filter((record) => record.key === key).sort((a, b) => a.time - b.time || a.sequence - b.sequence);
          expect(recordsOf(memory, key)).toEqual(expected);
        }
      }),
    );
  });

  it('have the bytes of their changelog records', () => {
    const memory = new RecordMemory();
    for (const value of ['x', 'yz']) put(memory, { key: 'ab', time: 258, sequence: value.length, value });
    const bytes = [0, 1].map((record) => memory.bytes.buffer.toString('hex', memory.start(record), memory.end(record)));
    expect(bytes).toEqual(['6162' + '0000000000000102' + '00000001' + '78', '6162' + '0000000000000102' + '00000002' + '797a']);
  });

  it('can be taken out of the middle and the ends', () => {
    const memory = new RecordMemory();
    for (let time = 0; time < 5; time++) put(memory, { key: 'k', time, sequence: 0, value: `${time}` });
    const key = keyIn(memory, 'k');
    for (const time of [2, 0, 4]) memory.remove(memory.recordAt(key, time, 0));
    expect(recordsOf(memory, 'k').map(({ time }) => time)).toEqual([1, 3]);
    expect(memory.recordAt(key, 2, 0)).toBe(none);
  });

  it('give an object that was read twice a third time without decoding it', () => {
    const memory = new RecordMemory();
    put(memory, { key: 'k', time: 1, sequence: 0, value: '{}' });
    let decoded = 0;
    const decode = (): object => ({ decoded: ++decoded });
    for (let i = 0; i < 5; i++) memory.value(0, decode);
    expect(decoded).toBe(2);
  });

  it('start over in the memory of others', () => {
    const memory = new RecordMemory();
    for (let i = 0; i < 100; i++) put(memory, { key: `k${i}`, time: i, sequence: 0, value: `${i}` });
    const { size } = memory;
    memory.clear();
    expect(memory.size).toBe(size);
    put(memory, { key: 'k7', time: 3, sequence: 0, value: 'new' });
    expect(recordsOf(memory, 'k7')).toEqual([{ key: 'k7', time: 3, sequence: 0, value: 'new' }]);
    expect(recordsOf(memory, 'k8')).toEqual([]);
  });
});
