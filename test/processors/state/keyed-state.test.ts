import { afterEach, describe, expect, it } from '@jest/globals';
import { KeyedStates } from '../../../src/processors/state/keyed-states.js';
import type { KeyedStateBackend } from '../../../src/processors/state/keyed-state-backend.js';
import { MemoryKeyedStateBackend } from '../../../src/processors/state/memory-keyed-state-backend.js';
import { stateAddressSerde } from '../../../src/processors/state/state-address.js';
import { aggregatingState, listState, mapState, reducingState, valueState } from '../../../src/processors/state/state-descriptor.js';
import { stateRowSerde } from '../../../src/processors/state/state-row-serde.js';
import { StoreKeyedStateBackend, type KeyedStateStore } from '../../../src/processors/state/store-keyed-state-backend.js';
import { StoredTimers } from '../../../src/processors/timers/stored-timers.js';
import { TimerService } from '../../../src/processors/timers/timer-service.js';
import { serdes } from '../../../src/serdes/serdes.js';
import { timestampedKeyValueStore } from '../../../src/stores/store-builders.js';
import type { TaskState } from '../../../src/stores/task-state.js';
import { Changelog, commitEpoch, identity, openState, temporaryDirectories } from '../../stores/store-harness.js';

const value = valueState<{ n: number }>('value');
const short = valueState<string>('short', { serde: serdes.string, ttl: { ttl: 100 } });
const list = listState<string>('list', { serde: serdes.string });
const map = mapState<string, number>('map', { keySerde: serdes.string, serde: serdes.double });
const sum = reducingState<number>('sum', { serde: serdes.double, reduce: (a, b) => a + b });
const mean = aggregatingState('mean', {
  aggregate: {
    initial: () => ({ sum: 0, count: 0 }),
    add: (acc, each: number) => ({ sum: acc.sum + each, count: acc.count + 1 }),
    result: (acc) => acc.sum / acc.count,
  },
});
const renewed = mapState<string, number>('renewed', {
  keySerde: serdes.string,
  serde: serdes.double,
  ttl: { ttl: 100, update: 'onReadAndWrite' },
});
const declared = [value, short, list, map, sum, mean, renewed];

/** A backend that can be lost and come back from what was committed. */
interface Subject {
  readonly backend: KeyedStateBackend;
  restart(): Promise<Subject>;
}

const directories = temporaryDirectories();
const open: TaskState[] = [];
afterEach(async () => {
  for (const state of open.splice(0)) await state.close({ clean: false });
  await directories.removeAll();
});

const spec = timestampedKeyValueStore({
  name: 'states',
  keySerde: stateAddressSerde(serdes.string),
  valueSerde: stateRowSerde(declared),
});

async function stored(directory: string | null): Promise<{ state: TaskState; store: KeyedStateStore }> {
  const state = await openState({ directory, specs: [spec] });
  open.push(state);
  return { state, store: state.store('states') as unknown as KeyedStateStore };
}

const inMemory = (snapshot?: ReturnType<MemoryKeyedStateBackend['snapshot']>): Subject => {
  const backend = new MemoryKeyedStateBackend(snapshot);
  return { backend, restart: async () => inMemory(backend.snapshot()) };
};

const logged = ({ state, store }: Awaited<ReturnType<typeof stored>>): Subject => ({
  backend: new StoreKeyedStateBackend(store, declared, () => 7),
  restart: async () => {
    const changelog = new Changelog();
    await commitEpoch(state, 1, changelog);
    const next = await stored(null);
    await changelog.restore(next.state, 'states', null);
    return logged(next);
  },
});

const onDisk = (directory: string, { state, store }: Awaited<ReturnType<typeof stored>>): Subject => ({
  backend: new StoreKeyedStateBackend(store, declared, () => 7),
  restart: async () => {
    state.position('states', identity);
    await commitEpoch(state, 1, new Changelog());
    await state.close({ clean: true });
    open.splice(open.indexOf(state), 1);
    return onDisk(directory, await stored(directory));
  },
});

const subjects: readonly (readonly [string, () => Promise<Subject>])[] = [
  ['in memory', async () => inMemory()],
  ['over a store, from its changelog', async () => logged(await stored(null))],
  [
    'over a store, from LevelDB',
    async () => {
      const directory = await directories.make();
      return onDisk(directory, await stored(directory));
    },
  ],
];

describe.each(subjects)('keyed state %s', (_name, make) => {
  let now = 0;
  const handles = ({ backend }: Subject) => {
    const states = new KeyedStates(backend, () => now);
    return {
      on: (key: string) => backend.setCurrentKey(key),
      value: states.state(value),
      short: states.state(short),
      list: states.state(list),
      map: states.state(map),
      sum: states.state(sum),
      mean: states.state(mean),
      renewed: states.state(renewed),
    };
  };

  it('belongs to the current key, and is there again after a restart', async () => {
    const before = await make();
    const { on, ...state } = handles(before);
    on('a');
    state.value.update({ n: 1 });
    state.list.addAll(['x', 'y']);
    state.map.put('k', 1);
    state.map.put('l', 2);
    state.map.remove('k');
    state.sum.add(2);
    state.sum.add(3);
    state.mean.add(1);
    state.mean.add(4);
    on('b');
    state.value.update({ n: 2 });
    const after = handles(await before.restart());
    after.on('a');
    expect(after.value.value()).toEqual({ n: 1 });
    expect(after.list.get()).toEqual(['x', 'y']);
    expect(after.map.entries()).toEqual([['l', 2]]);
    expect(after.sum.get()).toBe(5);
    expect(after.mean.get()).toBe(2.5);
    after.on('b');
    expect(after.value.value()).toEqual({ n: 2 });
    expect([after.list.get(), after.map.isEmpty(), after.sum.get(), after.mean.get()]).toEqual([[], true, null, null]);
  });

  it('is not changed through what was read or written', async () => {
    const { on, ...state } = handles(await make());
    on('a');
    const written = { n: 1 };
    state.value.update(written);
    written.n = 2;
    const read = state.value.value()!;
    read.n = 3;
    state.list.add('x');
    state.list.get().push('y');
    expect(state.value.value()).toEqual({ n: 1 });
    expect(state.list.get()).toEqual(['x']);
  });

  it('has no entry of a map under no key: told when it is put, with the name of the state', async () => {
    const { on, ...state } = handles(await make());
    on('a');
    for (const none of [null, undefined]) {
      expect(() => state.map.put(none as never, 1)).toThrow(
        new TypeError(
          `put of map: the key is ${none}. Map state needs one: leave out the records that have none, or use another key for them.`,
        ),
      );
      expect(() => state.map.remove(none as never)).toThrow('remove of map: the key is');
      expect([state.map.get(none as never), state.map.has(none as never)]).toEqual([null, false]);
    }
    expect(state.map.isEmpty()).toBe(true);
  });

  it('has no null in a list, and combines none: told when it is added, before anything is', async () => {
    const { on, ...state } = handles(await make());
    on('a');
    state.list.addAll(['x', 'y']);
    state.sum.add(2);
    const hole: string[] = [];
    hole[1] = 'z';
    for (const none of [null, undefined] as never[]) {
      expect(() => state.list.add(none)).toThrow(new TypeError(`add of list: an element is ${String(none)}, and lists have none such`));
      expect(() => state.list.addAll(['z', none])).toThrow('addAll of list: an element is');
      expect(() => state.list.update(['z', none])).toThrow('update of list: an element is');
      expect(() => state.list.addAll(none)).toThrow('addAll of list: the elements must be an array, not');
      expect(() => state.list.update(none)).toThrow('update of list: the elements must be an array, not');
      expect(() => state.sum.add(none)).toThrow('add of sum: the value is');
      state.value.update({ n: 1 });
      state.value.update(none);
      expect(state.value.value()).toBeNull();
      state.map.put('k', 1);
      state.map.put('k', none);
      expect(state.map.has('k')).toBe(false);
    }
    expect(() => state.list.addAll(hole)).toThrow('addAll of list: an element is undefined');
    expect(() => state.list.update('text' as never)).toThrow('update of list: the elements must be an array, not a string');
    expect([state.list.get(), state.sum.get()]).toEqual([['x', 'y'], 2]);
    state.list.update([]);
    expect(state.list.get()).toEqual([]);
  });

  it('stays cleared', async () => {
    const before = await make();
    const { on, ...state } = handles(before);
    on('a');
    state.value.update({ n: 1 });
    state.list.add('x');
    state.map.put('k', 1);
    state.sum.add(1);
    const between = handles(await before.restart().then((subject) => Object.assign(before, subject)));
    between.on('a');
    for (const each of [between.value, between.list, between.map, between.sum]) each.clear();
    expect([between.value.value(), between.list.get(), between.map.keys(), between.sum.get()]).toEqual([null, [], [], null]);
  });

  it('ages while nothing runs', async () => {
    now = 0;
    const before = await make();
    const { on, ...state } = handles(before);
    on('a');
    state.short.update('x');
    const after = handles(await before.restart());
    after.on('a');
    now = 99;
    expect(after.short.value()).toBe('x');
    now = 100;
    expect(after.short.value()).toBeNull();
  });

  it('lives no longer because somebody asked whether a map is empty', async () => {
    now = 0;
    const { on, ...state } = handles(await make());
    on('a');
    state.renewed.put('k', 1);
    now = 60;
    expect(state.renewed.isEmpty()).toBe(false);
    now = 100;
    expect([state.renewed.isEmpty(), state.renewed.get('k')]).toEqual([true, null]);
  });
});

describe('keyed state over a store', () => {
  it('gives out only what was declared', async () => {
    const { store } = await stored(null);
    const states = new KeyedStates(new StoreKeyedStateBackend(store, [value], () => 0), () => 0);
    expect(() => states.state(list)).toThrow(/State list is not declared/);
    // Made anew under the same name, as is the habit with Flink.
    const anew = valueState(value.name);
    expect(() => states.state(anew)).toThrow(
      expect.objectContaining({
        code: 'MILL_TOPOLOGY_INVALID',
        message: expect.stringContaining(`State ${value.name} is declared with another descriptor of that name: make the descriptor once`),
      }),
    );
  });

  it('keeps timers beside it, and gives them back after a restart', async () => {
    const first = await stored(null);
    const backend = new StoreKeyedStateBackend(first.store, declared, () => 0);
    const timers = new TimerService(backend, () => 0, new StoredTimers(first.store, () => 0));
    backend.setCurrentKey('a');
    timers.registerEventTimer('', 10);
    timers.registerEventTimer('0:5', -3);
    timers.registerProcessingTimer('', 20);
    timers.registerEventTimer('', 30);
    timers.deleteEventTimer('', 30);
    const changelog = new Changelog();
    await commitEpoch(first.state, 1, changelog);
    const second = await stored(null);
    await changelog.restore(second.state, 'states', null);
    const { event, processing } = await new StoredTimers(second.store, () => 0).load();
    expect(event.toSorted((a, b) => a.time - b.time)).toEqual([
      { time: -3, key: 'a', namespace: '0:5' },
      { time: 10, key: 'a', namespace: '' },
    ]);
    expect(processing).toEqual([{ time: 20, key: 'a', namespace: '' }]);
  });
});
