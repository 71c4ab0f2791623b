/** Random puts, reads, barriers, commits and engine writes that overlap, with a cache that holds next to nothing, against a list of records. */
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { serdes } from '../../src/serdes/serdes.js';
import { joinWindowStore } from '../../src/stores/list-store-builders.js';
import type { JoinWindowStore } from '../../src/stores/store.js';
import type { TaskState } from '../../src/stores/task-state.js';
import { Changelog, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll(), 60_000);

const retention = 5_000;
const keys = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const specs = [joinWindowStore({ name: 'j', engine: 'leveldb', retention, valueSerde: serdes.string })];

interface Put {
  readonly key: string;
  readonly time: number;
  readonly value: string;
}

type Operation =
  | ({ readonly kind: 'put'; readonly size: number } & Omit<Put, 'value'>)
  | { readonly kind: 'read'; readonly key: string; readonly from: number; readonly to: number }
  | { readonly kind: 'freeze' | 'commit' | 'flush' | 'turn' };

const key = fc.constantFrom(...keys);
const time = fc.integer({ min: 0, max: 9_000 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('put' as const), key, time, size: fc.constantFrom(1, 30, 400) }) },
  { weight: 8, arbitrary: fc.record({ kind: fc.constant('read' as const), key, from: time, to: time }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('freeze' as const) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'flush' as const, 'turn' as const) }) },
);

const storeOf = (state: TaskState) => state.store('j') as JoinWindowStore<string, string>;

function expected(puts: readonly Put[], key: string, from: number, to: number): string[] {
  const observed = Math.max(-1, ...puts.map((put) => put.time));
  return puts
    .filter((put) => put.key === key && put.time >= Math.max(from, observed - retention + 1) && put.time <= to)
    .sort((a, b) => a.time - b.time)
    .map(({ value }) => value);
}

describe('a join window store whose cache holds next to nothing', () => {
  it('has what was put, at any moment and after a restart', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 60, maxLength: 400, size: 'max' }), async (operations) => {
        const directory = join(await directories.make(), 'task');
        const state = await openState({ directory, specs, cacheBytes: 3_000 });
        const changelog = new Changelog();
        const puts: Put[] = [];
        const frozen: (readonly Put[])[] = [];
        let committed: readonly Put[] = [];
        const flushes: Promise<void>[] = [];
        let epoch = 0;
        for (const op of operations) {
          if (op.kind === 'put') {
            // An expired one is not kept, and shows nowhere in the model either.
            const put = { key: op.key, time: op.time, value: `${puts.length}`.padEnd(op.size, 'x') };
            storeOf(state).put(put.key, put.value, put.time);
            puts.push(put);
          } else if (op.kind === 'read') {
            const found = storeOf(state).fetch(op.key, op.from, op.to);
            expect(found.map(({ value }) => value)).toEqual(expected(puts, op.key, op.from, op.to));
          } else if (op.kind === 'freeze') {
            state.freeze(++epoch, changelog);
            frozen.push(puts.slice());
          } else if (op.kind === 'commit' && frozen.length > 0) {
            committed = frozen.shift() ?? committed;
            state.committed(epoch - frozen.length, new Map());
          } else if (op.kind === 'flush') {
            flushes.push(state.flush());
          } else {
            await new Promise(setImmediate);
          }
        }
        await Promise.all(flushes);
        await state.close({ clean: true });
        const again = await openState({ directory, specs });
        for (const name of keys) {
          const found = storeOf(again).fetch(name, 0, 10_000);
          expect(found.map(({ value }) => value)).toEqual(expected(committed, name, 0, 10_000));
        }
        await again.close({ clean: true });
      }),
      { numRuns: 60 },
    );
  }, 120_000);
});
