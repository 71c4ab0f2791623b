import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AsyncOrder } from '../../../src/processors/async/async-options.js';
import { CallQueue, type QueuedCall } from '../../../src/processors/async/call-queue.js';

interface Call extends QueuedCall {
  readonly id: number;
}

const call = (id: number, identity: string | null, bytes = 1): Call => ({ id, identity, question: null, bytes, hasEnded: false });
const rulesOf = (order: AsyncOrder, concurrency = 2, maxRecords = 4, maxBytes = 100) => ({ order, concurrency, maxRecords, maxBytes });

describe('CallQueue', () => {
  it('is full at its bound of records or of bytes, until results leave', () => {
    const queue = new CallQueue<Call>(rulesOf('arrival', 2, 2, 10));
    const [first, second, large] = [call(1, null), call(2, null), call(3, null, 10)];
    queue.add(first);
    expect(queue.isFull).toBe(false);
    queue.add(second);
    expect(queue.isFull).toBe(true);
    for (const each of [first, second]) {
      queue.next();
      queue.end(each);
      queue.take(each);
    }
    expect(queue.isFull).toBe(false);
    queue.add(large);
    expect(queue.isFull).toBe(true);
  });

  it('a key has one record in work, and the next one when its result has left', () => {
    const queue = new CallQueue<Call>(rulesOf('perKey', 9, 9));
    const [a1, a2, b1] = [call(1, 'a'), call(2, 'a'), call(3, 'b')];
    for (const each of [a1, a2, b1]) queue.add(each);
    expect([queue.next(), queue.next(), queue.next()]).toEqual([a1, b1, null]);
    queue.end(a1);
    expect(queue.next()).toBe(null);
    expect(queue.ready).toBe(a1);
    queue.take(a1);
    expect(queue.next()).toBe(null);
    queue.sent(a1);
    expect(queue.next()).toBe(a2);
  });

  it('records with one question share the call of the first; those behind another record of their key join in when their turn comes', () => {
    const queue = new CallQueue<Call>(rulesOf('perKey', 1, 9));
    const asking = (id: number, identity: string, question: string): Call => ({ ...call(id, identity), question });
    const [a1, b1, c1, a2] = [asking(1, 'a', 'x'), asking(2, 'b', 'x'), asking(3, 'c', 'y'), asking(4, 'a', 'y')];
    for (const each of [a1, b1, c1, a2]) queue.add(each);
    expect(queue.next()).toBe(a1);
    expect(queue.next()).toBe(null);
    expect(queue.end(a1)).toEqual([a1, b1]);
    expect(queue.next()).toBe(c1);
    queue.take(a1);
    queue.sent(a1);
    expect(queue.end(c1)).toEqual([c1, a2]);
    expect([b1, c1, a2].map(({ hasEnded }) => hasEnded)).toEqual([true, true, true]);
  });

  /** Ends calls in any order, sends what may leave, and writes down what happened. */
  const scenario = fc.record({
    order: fc.constantFrom<AsyncOrder>('arrival', 'perKey', 'unordered'),
    concurrency: fc.integer({ min: 1, max: 4 }),
    keys: fc.array(fc.constantFrom('a', 'b', 'c', null), { maxLength: 30 }),
    choices: fc.infiniteStream(fc.nat()),
  });

  it('every record leaves once, in the order promised, and no more calls run than allowed', () => {
    fc.assert(
      fc.property(scenario, ({ order, concurrency, keys, choices }) => {
        const queue = new CallQueue<Call>(rulesOf(order, concurrency, Infinity, Infinity));
        const running: Call[] = [];
        const left: Call[] = [];
        const ended: Call[] = [];
        const calls = keys.map((key, id) => call(id, key));
        for (const each of calls) queue.add(each);
        while (left.length < calls.length) {
          for (let next = queue.next(); next !== null; next = queue.next()) running.push(next);
          expect(running.length).toBeLessThanOrEqual(concurrency);
          if (order === 'perKey') {
            const named = running.flatMap(({ identity }) => identity ?? []);
            expect(new Set(named).size).toBe(named.length);
          }
          if (running.length > 0) {
            const [done] = running.splice((choices.next().value as number) % running.length, 1) as [Call];
            ended.push(done);
            queue.end(done);
          }
          const oldest = queue.oldest;
          expect(oldest?.id).toBe(Math.min(...calls.filter((each) => !left.includes(each)).map(({ id }) => id)));
          for (let ready = queue.ready; ready !== null; ready = queue.ready) {
            queue.take(ready);
            left.push(ready);
            queue.sent(ready);
          }
        }
        expect(queue.size).toBe(0);
        expect(queue.isFull).toBe(false);
        if (order === 'arrival') expect(left).toEqual(calls);
        else expect(left).toEqual(ended);
        if (order !== 'unordered') {
          for (const key of ['a', 'b', 'c'])
            expect(left.filter((each) => each.identity === key).map(({ id }) => id)).toEqual(
              left
                .filter((each) => each.identity === key)
                .map(({ id }) => id)
                .sort((x, y) => x - y),
            );
        }
      }),
    );
  });
});
