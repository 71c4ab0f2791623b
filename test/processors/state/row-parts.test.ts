import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { KeyedStates } from '../../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../../src/processors/state/memory-keyed-state-backend.js';
import { stateAddressSerde } from '../../../src/processors/state/state-address.js';
import { listState, mapState } from '../../../src/processors/state/state-descriptor.js';
import type { StateTtl } from '../../../src/processors/state/state-ttl.js';
import { stateRowSerde } from '../../../src/processors/state/state-row-serde.js';
import { StoreKeyedStateBackend, type KeyedStateStore } from '../../../src/processors/state/store-keyed-state-backend.js';
import { serdes } from '../../../src/serdes/serdes.js';
import { timestampedKeyValueStore } from '../../../src/stores/store-builders.js';
import type { TaskState } from '../../../src/stores/task-state.js';
import { Changelog, commitEpoch, openState } from '../../stores/store-harness.js';

const ttls: readonly StateTtl[] = [
  { ttl: 100 },
  { ttl: 100, update: 'onReadAndWrite', visibility: 'returnExpiredIfNotCleanedUp' },
  { ttl: 100, visibility: 'returnExpiredIfNotCleanedUp' },
];
const ofTtl = ttls.map((ttl, i) => ({
  list: listState<string>(`list-${i}`, { serde: serdes.string, ttl }),
  map: mapState<string, string>(`map-${i}`, { keySerde: serdes.string, serde: serdes.string, ttl }),
}));
const [plain, other] = [listState<string>('plain', { serde: serdes.string }), mapState<number, string>('other', { serde: serdes.string })];
const declared = [plain, other, ...ofTtl.flatMap(({ list, map }) => [list, map])];
const spec = timestampedKeyValueStore({ name: 'states', keySerde: stateAddressSerde(serdes.string), valueSerde: stateRowSerde(declared) });

const open: TaskState[] = [];
afterEach(async () => {
  for (const state of open.splice(0)) await state.close({ clean: false });
});

async function stored(): Promise<{ state: TaskState; store: KeyedStateStore }> {
  const state = await openState({ directory: null, specs: [spec] });
  open.push(state);
  return { state, store: state.store('states') as unknown as KeyedStateStore };
}

/** Few of these go into one part. */
const padding = '.'.repeat(20_000);

type Operation = readonly [name: 'add' | 'update' | 'clear' | 'get' | 'put' | 'remove' | 'entries' | 'isEmpty' | 'wait', n: number];

const operations = fc.array(
  fc.tuple(
    fc.constantFrom<Operation[0]>(
      'add',
      'add',
      'add',
      'put',
      'put',
      'put',
      'put',
      'update',
      'clear',
      'get',
      'remove',
      'entries',
      'isEmpty',
      'wait',
      'wait',
    ),
    fc.nat(11),
  ),
  { maxLength: 60 },
);

/** What all reads of a run of operations give. */
function run(all: readonly Operation[], which: number, pad: string): unknown[] {
  let now = 0;
  let backend = new MemoryKeyedStateBackend();
  backend.setCurrentKey('a');
  let states = new KeyedStates(backend, () => now);
  const { list, map } = ofTtl[which]!;
  const shown = (value: string): string => value.slice(0, value.length - pad.length);
  return all.map(([name, n]) => {
    const [values, entries] = [states.state(list), states.state(map)];
    const value = `${n}${pad}`;
    const writes: Partial<Record<Operation[0], () => void>> = {
      add: () => values.add(value),
      put: () => entries.put(`${n}`, value),
      update: () => values.update(Array.from({ length: n }, (_, i) => `${i}${pad}`)),
      remove: () => entries.remove(`${n}`),
      clear: () => (n < 6 ? values : entries).clear(),
    };
    writes[name]?.();
    if (name === 'get') return [values.get().map(shown), [entries.get(`${n}`)].map((each) => (each === null ? null : shown(each)))];
    if (name === 'entries') return entries.entries().map(([key, each]) => [key, shown(each)]);
    if (name === 'isEmpty') return entries.isEmpty();
    if (name !== 'wait') return null;
    now += n * 5;
    backend = new MemoryKeyedStateBackend(backend.snapshot());
    backend.setCurrentKey('a');
    states = new KeyedStates(backend, () => now);
    return null;
  });
}

/** A list and a map of one key, in a store. */
async function hotKey() {
  const { state, store } = await stored();
  const backend = new StoreKeyedStateBackend(store, declared, () => 7);
  backend.setCurrentKey('hot');
  const states = new KeyedStates(backend, () => 0);
  return { state, list: states.state(plain), map: states.state(other) };
}

describe('lists and maps in parts', () => {
  it.each([0, 1, 2])('give what those of one part give (time to live %#)', (which) => {
    fc.assert(
      fc.property(operations, (all) => {
        const [short, long] = [run(all, which, ''), run(all, which, padding)];
        expect(long).toEqual(short);
      }),
      { numRuns: 150 },
    );
  });

  it('leave no row behind when they are cleared, or emptied one by one', async () => {
    const backend = new MemoryKeyedStateBackend();
    backend.setCurrentKey('a');
    const states = new KeyedStates(backend, () => 0);
    const [list, map] = [states.state(plain), states.state(other)];
    for (let n = 0; n < 50; n++) {
      list.add(padding);
      map.put(n, padding);
    }
    expect(backend.entries).toBeGreaterThan(15);
    list.clear();
    for (let n = 0; n < 50; n++) map.remove(n);
    expect(backend.entries).toBe(0);
  });

  it('a queue that never empties does not grow: rows go with their elements', () => {
    const backend = new MemoryKeyedStateBackend();
    backend.setCurrentKey('a');
    const map = new KeyedStates(backend, () => 0).state(other);
    for (let n = 0; n < 1_000; n++) {
      map.put(n, padding);
      map.remove(n - 10);
    }
    expect(map.keys()).toEqual(Array.from({ length: 10 }, (_, i) => 990 + i));
    expect(backend.entries).toBeLessThan(6);
  });

  it('a key whose list or map grows past the size of a Kafka record stops nothing, and an epoch writes what was added', async () => {
    const { state, list, map } = await hotKey();
    const changelog = new Changelog();
    const sizes: number[] = [];
    const lengths: number[] = [];
    for (let epoch = 1; epoch <= 30; epoch++) {
      for (let n = 0; n < 5; n++) {
        list.add(`${epoch}.${n} ${padding}`);
        map.put(epoch * 5 + n, padding);
      }
      const before = changelog.records.length;
      await commitEpoch(state, epoch, changelog);
      const written = changelog.records.slice(before).map(({ value }) => value?.length ?? 0);
      sizes.push(...written);
      lengths.push(written.reduce((sum, size) => sum + size, 0));
    }
    expect(Math.max(...sizes)).toBeLessThan(150_000);
    expect(Math.max(...lengths)).toBeLessThan(600_000);

    const next = await hotKey();
    await changelog.restore(next.state, 'states', null);
    expect(next.list.get()).toEqual(list.get());
    expect(next.map.keys()).toEqual(map.keys());
  });

  it.each([
    ['first', (n: number) => n < 10],
    ['now and then', (n: number) => n % 7 === 4],
  ] as const)('no record is larger for it when small elements come %s', async (_when, isSmall) => {
    const { state, list, map } = await hotKey();
    const changelog = new Changelog();
    for (let n = 0; n < 300; n++) {
      const value = isSmall(n) ? '.' : padding;
      list.add(value);
      map.put(n, value);
    }
    await commitEpoch(state, 1, changelog);
    expect(Math.max(...changelog.records.map(({ value }) => value?.length ?? 0))).toBeLessThan(150_000);
  });

  it('entries that grow are no room for others', async () => {
    const { state, map } = await hotKey();
    const changelog = new Changelog();
    for (let n = 0; n < 10; n++) map.put(n, '.');
    for (let n = 0; n < 10; n++) map.put(n, padding);
    await commitEpoch(state, 1, changelog);
    for (let n = 10; n < 20; n++) map.put(n, padding);
    await commitEpoch(state, 2, changelog);
    expect(Math.max(...changelog.records.map(({ value }) => value?.length ?? 0))).toBeLessThan(250_000);
    expect(map.keys()).toEqual(Array.from({ length: 20 }, (_, n) => n));
  });

  it('lists of sessions that become one are moved whole, and in order', () => {
    const backend = new MemoryKeyedStateBackend();
    backend.setCurrentKey('a');
    const states = new KeyedStates(backend, () => 0);
    const of = (namespace: string) => states.state(plain, { ...states.scope(false), namespace });
    for (const [session, length] of [
      ['0:5', 9],
      ['9:14', 11],
      ['20:25', 2],
    ] as const)
      for (let n = 0; n < length; n++) of(session).add(`${session}/${n}${padding}`);
    const all = ['0:5', '9:14', '20:25'].flatMap((session) => of(session).get());
    states.merge(plain, '0:5', ['9:14', '20:25']);
    expect(of('0:5').get()).toEqual(all);
    expect([of('9:14').get(), of('20:25').get()]).toEqual([[], []]);
  });
});
