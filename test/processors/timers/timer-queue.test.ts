import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TimerQueue } from '../../../src/processors/timers/timer-queue.js';

describe('timer queue', () => {
  it('acts as a sorted set of time, key and namespace', () => {
    const timer = fc.record({ time: fc.integer({ min: -5, max: 5 }), key: fc.constantFrom('a', 'b'), namespace: fc.constantFrom('', 'w') });
    const step = fc.oneof(
      fc.record({ op: fc.constantFrom('add', 'add', 'delete', 'delete'), timer }),
      fc.record({ op: fc.constant('poll'), timer }),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120 }), (steps) => {
        const queue = new TimerQueue();
        let model: (typeof steps)[number]['timer'][] = [];
        for (const { op, timer: t } of steps) {
          const same = (other: typeof t) => other.time === t.time && other.key === t.key && other.namespace === t.namespace;
          const known = model.some(same);
          if (op === 'add') {
            expect(queue.add(t.key, t.namespace, t.time)).toBe(!known);
            if (!known) model.push(t);
          } else if (op === 'delete') {
            expect(queue.delete(t.key, t.namespace, t.time)).toBe(known);
            model = model.filter((other) => !same(other));
          } else {
            const order = (x: typeof t) => [x.time + 5_000, x.key, x.namespace].join('|');
            const first = model.filter(({ time }) => time <= t.time).toSorted((a, b) => (order(a) < order(b) ? -1 : 1))[0];
            const polled = queue.poll(t.time);
            expect(polled === null ? undefined : { time: polled.time, key: polled.key, namespace: polled.namespace }).toEqual(first);
            model = model.filter((other) => other !== first);
          }
          expect(queue.size).toBe(model.length);
          expect(queue.nextAt).toBe(Math.min(Infinity, ...model.map(({ time }) => time)));
        }
      }),
    );
  });

  it('forgets what a session that grows has deleted, long before its time', () => {
    const queue = new TimerQueue();
    for (let n = 0; n < 10_000; n++) {
      queue.add('a', `0:${n}`, 1_800_000 + n);
      if (n > 0) queue.delete('a', `0:${n - 1}`, 1_800_000 + n - 1);
    }
    expect(queue.size).toBe(1);
    expect(queue.held).toBeLessThan(20);
    expect(queue.poll(Infinity)).toMatchObject({ time: 1_809_999 });
    expect(queue.poll(Infinity)).toBeNull();
  });

  it('takes two objects for one key when they are written alike', () => {
    const queue = new TimerQueue();
    expect(queue.add({ id: 1 }, '', 5)).toBe(true);
    expect(queue.add({ id: 1 }, '', 5)).toBe(false);
  });

  it.each([
    [{ id: 1n }, { id: 2n }],
    [{ id: NaN }, { id: null }],
    [new Map([['id', 1]]), new Map([['id', 2]])],
    [new Set([1]), new Set([2])],
  ])('keeps the timers of %p and %p apart', (one, other) => {
    const queue = new TimerQueue();
    expect([queue.add(one, '', 5), queue.add(other, '', 5), queue.add(structuredClone(one), '', 5)]).toEqual([true, true, false]);
    expect([queue.delete(other, '', 5), queue.size]).toEqual([true, 1]);
  });
});
