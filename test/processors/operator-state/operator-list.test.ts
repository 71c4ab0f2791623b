/** A list of operator state over a store of the task, in both engines. */
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { operatorListState } from '../../../src/processors/operator-state/operator-state-descriptor.js';
import { OperatorList } from '../../../src/processors/operator-state/operator-list.js';
import type { OperatorListState } from '../../../src/processors/operator-state/operator-list-state.js';
import { serdes } from '../../../src/serdes/serdes.js';
import { timestampedKeyValueStore } from '../../../src/stores/store-builders.js';
import type { TimestampedKeyValueStore } from '../../../src/stores/store.js';
import type { TaskState } from '../../../src/stores/task-state.js';
import { Changelog, commitEpoch, identity, openState, temporaryDirectories } from '../../stores/store-harness.js';

interface Item {
  n: number;
}

const items = operatorListState<Item>('items');
const spec = timestampedKeyValueStore({ name: 'list', keySerde: serdes.int32, valueSerde: items.serde });

const directories = temporaryDirectories();
const open: TaskState[] = [];
afterEach(async () => {
  for (const state of open.splice(0)) await state.close({ clean: false });
  await directories.removeAll();
});

/** A list that can be lost and come back from what was committed. */
interface Subject {
  readonly list: OperatorListState<Item>;
  readonly changelog: Changelog;
  /** Commits, and goes on as a new owner of the task. */
  restart(): Promise<Subject>;
  /** Goes on from the last commit. */
  crash(): Promise<Subject>;
}

async function opened(directory: string | null): Promise<TaskState> {
  const state = await openState({ directory, specs: [spec], cacheBytes: 2_000 });
  open.push(state);
  return state;
}

function listOver(state: TaskState): OperatorListState<Item> {
  return new OperatorList(items, state.store('list') as unknown as TimestampedKeyValueStore<number, Item>, () => 7);
}

async function closed(state: TaskState, clean: boolean): Promise<void> {
  open.splice(open.indexOf(state), 1);
  await state.close({ clean });
}

async function logged(changelog: Changelog, epoch: number): Promise<Subject> {
  const state = await opened(null);
  await changelog.restore(state, 'list', null);
  return {
    list: listOver(state),
    changelog,
    restart: async () => {
      await commitEpoch(state, epoch, changelog);
      await closed(state, true);
      return logged(changelog, epoch + 1);
    },
    crash: async () => {
      await closed(state, false);
      return logged(changelog, epoch);
    },
  };
}

async function onDisk(directory: string, changelog: Changelog, epoch: number): Promise<Subject> {
  const state = await opened(directory);
  return {
    list: listOver(state),
    changelog,
    restart: async () => {
      state.position('list', identity);
      await commitEpoch(state, epoch, changelog);
      await closed(state, true);
      return onDisk(directory, changelog, epoch + 1);
    },
    crash: async () => {
      await closed(state, false);
      return onDisk(directory, changelog, epoch);
    },
  };
}

const subjects: readonly (readonly [string, () => Promise<Subject>])[] = [
  ['in memory, from its changelog', () => logged(new Changelog(), 1)],
  ['in LevelDB', async () => onDisk(await directories.make(), new Changelog(), 1)],
];

const numbers = (list: OperatorListState<Item>): number[] => list.get().map(({ n }) => n);
const item = (n: number): Item => ({ n });

describe.each(subjects)('a list of operator state %s', (_name, make) => {
  it('takes elements one by one and many at once, replaces them, and is empty again', async () => {
    const { list } = await make();
    expect(list.get()).toEqual([]);
    list.add(item(1));
    list.addAll([2, 3].map(item));
    expect(numbers(list)).toEqual([1, 2, 3]);
    list.update([item(9)]);
    expect(numbers(list)).toEqual([9]);
    list.clear();
    expect(list.get()).toEqual([]);
    list.addAll([]);
    expect(list.get()).toEqual([]);
  });

  it('is there again after a restart, and after a crash as of the last commit', async () => {
    let subject = await make();
    subject.list.addAll([1, 2, 3].map(item));
    subject = await subject.restart();
    expect(numbers(subject.list)).toEqual([1, 2, 3]);
    subject.list.add(item(4));
    subject = await subject.restart();
    subject.list.update([item(8)]);
    subject.list.add(item(9));
    subject = await subject.crash();
    expect(numbers(subject.list)).toEqual([1, 2, 3, 4]);
    subject.list.update([item(5)]);
    subject = await subject.restart();
    expect(numbers(subject.list)).toEqual([5]);
  });

  it('shares nothing with what was read or written', async () => {
    const { list } = await make();
    const given = item(1);
    list.add(given);
    given.n = 2;
    const read = list.get();
    read[0]!.n = 3;
    read.push(item(4));
    expect(numbers(list)).toEqual([1]);
  });

  it('writes what an epoch adds and no more', async () => {
    const subject = await make();
    subject.list.addAll(Array.from({ length: 100 }, (_, n) => item(n)));
    const next = await subject.restart();
    const before = next.changelog.end;
    next.list.add(item(100));
    const last = await next.restart();
    expect(last.changelog.end).toBe(before + 1);
    expect(numbers(last.list)).toHaveLength(101);
  });

  it('refuses null, undefined and what its serde makes null of, and takes none of the others then', async () => {
    const { list } = await make();
    list.add(item(1));
    for (const wrong of [null, undefined, NaN]) {
      expect(() => list.add(wrong as never)).toThrow(TypeError);
      expect(() => list.addAll([item(2), wrong as never])).toThrow(/addAll of items/);
      expect(() => list.update([item(2), wrong as never])).toThrow(/update of items/);
    }
    const holed = [item(2)];
    holed[2] = item(3);
    expect(() => list.addAll(holed)).toThrow(TypeError);
    expect(() => list.addAll('ab' as never)).toThrow(/must be an array/);
    expect(() => list.update(undefined as never)).toThrow(/must be an array/);
    expect(numbers(list)).toEqual([1]);
  });

  it('is as an array would be, whatever is done to it and whenever it is lost', async () => {
    const steps = fc.oneof(
      fc.record({ call: fc.constantFrom('add' as const), values: fc.array(fc.nat(99), { minLength: 1, maxLength: 1 }) }),
      fc.record({ call: fc.constantFrom('addAll' as const, 'update' as const), values: fc.array(fc.nat(99), { maxLength: 9 }) }),
      fc.record({ call: fc.constantFrom('clear' as const, 'restart' as const, 'crash' as const), values: fc.constant([] as number[]) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(steps, { maxLength: 25 }), async (all) => {
        let subject = await make();
        let [expected, committed]: [number[], number[]] = [[], []];
        for (const { call, values } of all) {
          const given = values.map(item);
          if (call === 'restart') {
            subject = await subject.restart();
            committed = expected.slice();
          } else if (call === 'crash') {
            subject = await subject.crash();
            expected = committed.slice();
          } else if (call === 'add') {
            subject.list.add(given[0]!);
            expected.push(values[0]!);
          } else if (call === 'clear') {
            subject.list.clear();
            expected = [];
          } else {
            subject.list[call](given);
            expected = call === 'update' ? values.slice() : [...expected, ...values];
          }
          expect(numbers(subject.list)).toEqual(expected);
        }
      }),
      { numRuns: 25 },
    );
  });
});

describe('a serde that gives a promise', () => {
  it('is refused when the element is added', async () => {
    const later = operatorListState<string>('later', { serde: { ...serdes.string, deserialize: async () => 'x' } });
    const state = await opened(null);
    const list = new OperatorList(later, state.store('list') as never, () => 0);
    expect(() => list.add('a')).toThrow(expect.objectContaining({ code: 'MILL_SERDE' }));
  });
});
