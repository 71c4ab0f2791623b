/** Plain models of the stores that keep several things of a key, and random operations on both. */
import fc from 'fast-check';
import { serdes } from '../../src/serdes/serdes.js';
import {
  joinWindowStore,
  sessionStore,
  slidingWindowStore,
  timeOrderedBuffer,
  versionedStore,
} from '../../src/stores/list-store-builders.js';
import type {
  JoinWindowStore,
  SessionStore,
  SlidingWindowStore,
  TimeOrderedBuffer,
  VersionedKeyValueStore,
} from '../../src/stores/store.js';
import type { TaskState } from '../../src/stores/task-state.js';
import { collect, openState } from './store-harness.js';

const retention = 6000;
const keys = ['', 'a', 'b', 'é', '\u00ff', '\u0000', '日'];
const common = { valueSerde: serdes.int32 };
export const storeSpecs = [
  sessionStore({ ...common, name: 'session', retention }),
  slidingWindowStore({ ...common, name: 'sliding', windowSize: 10, retention }),
  joinWindowStore({ ...common, name: 'join', retention }),
  versionedStore({ ...common, name: 'versioned', historyRetention: 3000, segmentInterval: 1000 }),
  timeOrderedBuffer({ ...common, name: 'buffer' }),
  timeOrderedBuffer({ ...common, name: 'queue', byKey: true }),
];
export const storeNames = storeSpecs.map((spec) => spec.name);

/** One operation on a store and on its model. */
export interface Step {
  readonly kind: 'step';
  readonly name: string;
  readonly arguments: readonly (string | number | null)[];
  run(state: TaskState): void;
}

const key = fc.constantFrom(...keys);
const time = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 9000 }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 20_000 }) },
);
const coarse = time.map((t) => Math.floor(t / 500) * 500);
const value = fc.integer({ min: 0, max: 1000 });
const nullable = fc.option(value, { freq: 3 });

function step<A extends readonly (string | number | null)[]>(
  name: string,
  values: fc.Arbitrary<A>,
  run: (state: TaskState, values: A) => void,
): fc.Arbitrary<Step> {
  return values.map((given) => ({ kind: 'step', name, arguments: given, run: (state) => run(state, given) }));
}

const session = (state: TaskState) => state.store('session') as SessionStore<string, number>;
const sliding = (state: TaskState) => state.store('sliding') as SlidingWindowStore<string, number>;
const joined = (state: TaskState) => state.store('join') as JoinWindowStore<string, number>;
const versioned = (state: TaskState) => state.store('versioned') as VersionedKeyValueStore<string, number>;
const buffer = (state: TaskState, name = 'buffer') => state.store(name) as TimeOrderedBuffer<string, number>;

export const stepArbitrary: fc.Arbitrary<Step> = fc.oneof(
  step('session', fc.tuple(key, coarse, fc.constantFrom(0, 500, 3000), nullable), (state, [k, start, length, v]) =>
    session(state).put(k, start, start + length, v),
  ),
  step('sliding', fc.tuple(key, coarse, nullable), (state, [k, start, v]) => sliding(state).put(k, start, v, start + 5)),
  step('join', fc.tuple(key, coarse, value), (state, [k, t, v]) => joined(state).put(k, v, t)),
  step('versioned', fc.tuple(key, coarse, nullable), (state, [k, t, v]) => void versioned(state).put(k, v, t)),
  step('buffer', fc.tuple(key, coarse, fc.integer({ min: 0, max: 1 }), value), (state, [k, t, rank, v]) =>
    buffer(state).put(t, rank, k, v),
  ),
  step('bufferDelete', fc.tuple(key, coarse, fc.integer({ min: 0, max: 1 })), (state, [k, t, rank]) => buffer(state).delete(t, rank, k)),
  step(
    'bufferDrain',
    fc.tuple(coarse),
    (state, [upTo]) =>
      void buffer(state).drain(
        (t) => t <= upTo,
        () => undefined,
      ),
  ),
  step('queue', fc.tuple(key, coarse, value), (state, [k, t, v]) => buffer(state, 'queue').put(t, 0, k, v)),
  step(
    'queueDrain',
    fc.tuple(coarse),
    (state, [upTo]) =>
      void buffer(state, 'queue').drain(
        (t) => t <= upTo,
        () => undefined,
      ),
  ),
);

export interface Model {
  apply(op: Step): void;
  clone(): Model;
  content(): Promise<unknown>;
  /** The same of the real stores. */
  read(state: TaskState): Promise<unknown>;
}

export function modelOf(): Model {
  return new PlainModel();
}

type Row = readonly [string, number, number, number];

class PlainModel implements Model {
  private observed = { session: -1, sliding: -1, join: -1 };
  private session = new Map<string, Row>();
  private sliding = new Map<string, Row>();
  private join: Row[] = [];
  private buffer = new Map<string, Row>();
  private queue = new Map<string, Row>();
  /** The store itself without epochs: its rules are tested against Kafka Streams. */
  private versioned: Step[] = [];

  apply({ name, arguments: values, ...op }: Step): void {
    const [k, t, third, v] = values as [string, number, number, number | null];
    switch (name) {
      case 'session':
        this.put('session', k, t + third, t, v);
        return;
      case 'sliding':
        this.put('sliding', k, t, t + 5, third);
        return;
      case 'join':
        this.observed.join = Math.max(this.observed.join, t);
        if (t > this.observed.join - retention) this.join.push([k, t, this.join.length, third]);
        return;
      case 'versioned':
        this.versioned.push({ name, arguments: values, ...op });
        return;
      case 'buffer':
        this.buffer.set(`${t}/${third}/${k}`, [k, t, third, v as number]);
        return;
      case 'bufferDelete':
        this.buffer.delete(`${t}/${third}/${k}`);
        return;
      case 'queue':
        this.queue.set(k, [k, this.queue.get(k)?.[1] ?? t, 0, third]);
        return;
      default: {
        const rows = name === 'bufferDrain' ? this.buffer : this.queue;
        for (const [id, row] of rows) if (row[1] <= Number(k)) rows.delete(id);
      }
    }
  }

  private put(name: 'session' | 'sliding', k: string, t: number, second: number, v: number | null): void {
    if (v !== null) this.observed[name] = Math.max(this.observed[name], t);
    if (t <= this.observed[name] - retention) return;
    const id = name === 'session' ? `${t}/${second}/${k}` : `${t}/${k}`;
    if (v === null) this[name].delete(id);
    else this[name].set(id, [k, t, second, v]);
  }

  clone(): Model {
    const copy = new PlainModel();
    copy.observed = { ...this.observed };
    copy.session = new Map(this.session);
    copy.sliding = new Map(this.sliding);
    copy.join = this.join.slice();
    copy.buffer = new Map(this.buffer);
    copy.queue = new Map(this.queue);
    copy.versioned = this.versioned.slice();
    return copy;
  }

  async content(): Promise<unknown> {
    const live = (name: 'session' | 'sliding' | 'join', rows: Iterable<Row>) =>
      byKeyAndTime([...rows].filter((row) => row[1] > this.observed[name] - retention));
    const sessions = live('session', this.session.values());
    const windows = live('sliding', this.sliding.values());
    const state = await openState({ directory: null, specs: storeSpecs });
    for (const op of this.versioned) op.run(state);
    const content = {
      session: sessions.map(([k, end, start, v]) => [k, { start, end, value: v }]),
      sessionsByKey: keys.map((k) => sessions.filter((row) => row[0] === k && row[1] >= 4000 && row[2] <= 7000).map((row) => row[3])),
      sliding: windows.map(([k, windowStart, timestamp, v]) => [k, { windowStart, value: v, timestamp }]),
      slidingByKey: keys.map((k) => windows.filter((row) => row[0] === k && row[1] >= 3000 && row[1] <= 6000).map((row) => row[3])),
      join: keys.map((k) =>
        live('join', this.join)
          .filter((row) => row[0] === k)
          .map((row) => [row[1], row[3]]),
      ),
      versioned: readVersioned(state),
      buffer: byPlace(this.buffer.values()),
      queue: byPlace(this.queue.values()),
      sizes: [this.buffer, this.queue].map((rows) => [rows.size, bytesOf(rows.values())]),
    };
    await state.close({ clean: false });
    return content;
  }

  async read(state: TaskState): Promise<unknown> {
    return {
      session: await collect(session(state).fetchAll()),
      sessionsByKey: keys.map((k) =>
        session(state)
          .findSessions(k, 4000, 7000)
          .map((row) => row.value),
      ),
      sliding: await collect(sliding(state).fetchAll(-Infinity, Infinity)),
      slidingByKey: keys.map((k) =>
        sliding(state)
          .rows(k, 3000, 6000)
          .map((row) => row.value),
      ),
      join: keys.map((k) =>
        joined(state)
          .fetch(k, -Infinity, Infinity)
          .map((record) => [record.timestamp, record.value]),
      ),
      versioned: readVersioned(state),
      buffer: readBuffer(buffer(state)),
      queue: readBuffer(buffer(state, 'queue')),
      sizes: [buffer(state), buffer(state, 'queue')].map((store) => [store.size, store.byteSize]),
    };
  }
}

function readVersioned(state: TaskState): unknown {
  const store = versioned(state);
  return keys.map((k) => [store.get(k), store.getAsOf(k, 5000), store.getRange(k, -Infinity, Infinity)]);
}

/** Looks at all rows and takes none. */
function readBuffer(store: TimeOrderedBuffer<string, number>): unknown {
  const rows: unknown[] = [];
  const look = (time: number, rank: number, k?: string): 'skip' => {
    rows.push([k, time, rank, store.get(time, rank, k as string)]);
    return 'skip';
  };
  void store.drain(look, () => undefined);
  return rows;
}

function byKeyAndTime(rows: Row[]): Row[] {
  return rows.sort((a, b) => byBytes(a[0], b[0]) || a[1] - b[1] || a[2] - b[2]);
}

function byPlace(rows: Iterable<Row>): Row[] {
  return [...rows].sort((a, b) => a[1] - b[1] || a[2] - b[2] || byBytes(a[0], b[0]));
}

function byBytes(a: string, b: string): number {
  return Buffer.compare(Buffer.from(a), Buffer.from(b));
}

function bytesOf(rows: Iterable<Row>): number {
  let bytes = 0;
  for (const [k] of rows) bytes += Buffer.byteLength(k) + 4;
  return bytes;
}
