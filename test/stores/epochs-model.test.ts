/**
 * Random sequences of operations, barriers, commits, engine writes and crashes against a model made of plain maps. A crash copies the directory as it is
 * and opens the copy: what kill -9 would leave.
 */
import { cp, mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedKeyValueStore, TimestampedWindowStore } from '../../src/stores/store.js';
import { timestampedKeyValueStore, timestampedWindowStore } from '../../src/stores/store-builders.js';
import type { TaskState } from '../../src/stores/task-state.js';
import { Changelog, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll(), 60_000);

type Operation =
  | { readonly kind: 'put'; readonly key: string; readonly value: number | null }
  | { readonly kind: 'putWindow'; readonly key: string; readonly start: number; readonly value: number | null }
  | { readonly kind: 'get'; readonly key: string }
  | { readonly kind: 'scan' }
  | { readonly kind: 'freeze' }
  | { readonly kind: 'commit' }
  | { readonly kind: 'flush' }
  | { readonly kind: 'startFlush' }
  | { readonly kind: 'crash' }
  | { readonly kind: 'restart' };

const key = fc.constantFrom('', 'a', 'b', 'c', 'dd', 'é', '\u00ff', '\u0000', '日', 'k1', 'k2', 'k3', 'k4', 'k5');
const value = fc.option(fc.integer({ min: 0, max: 1000 }), { freq: 4 });
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ kind: fc.constant('put' as const), key, value }) },
  {
    weight: 8,
    arbitrary: fc.record({ kind: fc.constant('putWindow' as const), key, start: fc.integer({ min: 0, max: 8 }).map((n) => n * 10), value }),
  },
  { weight: 6, arbitrary: fc.record({ kind: fc.constant('get' as const), key }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'scan' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'freeze' as const }) },
  { weight: 4, arbitrary: fc.constant({ kind: 'commit' as const }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'flush' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'startFlush' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'crash' as const }) },
  { weight: 1, arbitrary: fc.constant({ kind: 'restart' as const }) },
);

/** Rows as `store|window|key` → value. */
type Rows = Map<string, number>;

interface FrozenModel {
  readonly epoch: number;
  readonly rows: Rows;
  readonly changelog: Changelog;
}

const specs = [
  timestampedKeyValueStore({ name: 'kv', valueSerde: serdes.int32 }),
  timestampedWindowStore({ name: 'win', valueSerde: serdes.int32, windowSize: 10, retention: 1000 }),
];

class Run {
  state!: TaskState;
  kv!: TimestampedKeyValueStore<string, number>;
  win!: TimestampedWindowStore<string, number>;
  directory = '';
  epoch = 0;
  active: Rows = new Map();
  committedRows: Rows = new Map();
  frozen: FrozenModel[] = [];
  readonly committedLog = new Changelog();
  /** Rows and position as of each committed epoch, for what a crash may leave. */
  history: { readonly epoch: number; readonly rows: Rows; readonly position: number }[] = [];
  flushedAtLeast = -1;
  flushing: Promise<void> = Promise.resolve();

  constructor(
    private readonly engine: 'memory' | 'leveldb',
    private readonly cacheBytes: number,
  ) {}

  async open(directory: string): Promise<void> {
    this.directory = directory;
    this.state = await openState({
      directory,
      specs: specs.map((spec) => ({ ...spec, engine: this.engine })),
      cacheBytes: this.cacheBytes,
    });
    this.kv = this.state.store('kv') as TimestampedKeyValueStore<string, number>;
    this.win = this.state.store('win') as TimestampedWindowStore<string, number>;
  }

  async apply(op: Operation): Promise<void> {
    switch (op.kind) {
      case 'put':
        this.kv.put(op.key, op.value, this.epoch);
        set(this.active, `kv||${op.key}`, op.value);
        return;
      case 'putWindow':
        this.win.put(op.key, op.value, op.start, this.epoch);
        set(this.active, `win|${op.start}|${op.key}`, op.value);
        return;
      case 'get':
        expect(this.kv.get(op.key)).toBe(this.active.get(`kv||${op.key}`) ?? null);
        expect(this.win.fetch(op.key, 20)).toBe(this.active.get(`win|20|${op.key}`) ?? null);
        return;
      case 'scan':
        expect(await this.content()).toEqual(sorted(this.active));
        return;
      case 'freeze': {
        const changelog = new Changelog();
        this.state.freeze(++this.epoch, changelog);
        this.frozen.push({ epoch: this.epoch, rows: new Map(this.active), changelog });
        return;
      }
      case 'commit':
        this.commit();
        return;
      case 'flush':
        await this.state.flush();
        this.flushedAtLeast = this.history.at(-1)?.epoch ?? this.flushedAtLeast;
        return;
      case 'startFlush':
        this.flushing = this.state.flush();
        return;
      case 'crash':
        await this.crash();
        return;
      case 'restart':
        await this.restart();
        return;
    }
  }

  private commit(): void {
    const next = this.frozen.shift();
    if (next === undefined) return;
    this.committedLog.records.push(...next.changelog.records);
    this.committedRows = next.rows;
    const position = this.committedLog.end;
    this.state.committed(
      next.epoch,
      new Map([
        ['kv', position],
        ['win', position],
      ]),
    );
    this.history.push({ epoch: next.epoch, rows: next.rows, position });
  }

  async content(): Promise<[string, number][]> {
    const rows: Rows = new Map();
    for await (const [key, row] of this.kv.range()) rows.set(`kv||${key}`, row.value);
    for await (const [key, start, row] of this.win.fetchAll(0, 10_000)) rows.set(`win|${start}|${key}`, row.value);
    return sorted(rows);
  }

  /** The engine must be at one of the committed epochs, none older than the last awaited flush; the tail brings it to the last one. */
  private async crash(): Promise<void> {
    const copy = join(await directories.make(), 'copy');
    await mkdir(this.directory, { recursive: true });
    await cp(this.directory, copy, { recursive: true, filter: (source) => !source.endsWith('LOCK') });
    const abandoned = this.state;
    await this.open(copy);
    await this.verifyAndCatchUp();
    await abandoned.close({ clean: false });
  }

  private async restart(): Promise<void> {
    await this.state.close({ clean: true });
    this.flushedAtLeast = this.history.at(-1)?.epoch ?? this.flushedAtLeast;
    await this.open(this.directory);
    await this.verifyAndCatchUp();
  }

  private async verifyAndCatchUp(): Promise<void> {
    const at = this.history.find((past) => past.epoch === this.state.epoch);
    if (this.engine === 'leveldb') {
      expect(this.state.epoch).toBeGreaterThanOrEqual(this.flushedAtLeast);
      expect(await this.content()).toEqual(sorted(at?.rows ?? new Map<string, number>()));
    } else {
      expect(await this.content()).toEqual([]);
    }
    for (const name of ['kv', 'win']) {
      const position = this.state.position(name, identity);
      expect(position).toBe(this.engine === 'leveldb' ? (at?.position ?? this.restored(name)) : null);
      await this.committedLog.restore(this.state, name, position);
      this.positions.set(name, this.committedLog.end);
    }
    this.active = new Map(this.committedRows);
    this.frozen = [];
    expect(await this.content()).toEqual(sorted(this.active));
    // From here on the engine is at the whole of the log, under the epoch that was written last.
    this.history = [{ epoch: this.state.epoch, rows: this.committedRows, position: this.committedLog.end }];
    this.flushedAtLeast = this.state.epoch;
  }

  private readonly positions = new Map<string, number>();

  private restored(name: string): number | null {
    return this.positions.get(name) ?? null;
  }
}

function set(rows: Rows, key: string, value: number | null): void {
  if (value === null) rows.delete(key);
  else rows.set(key, value);
}

function sorted(rows: Rows): [string, number][] {
  return [...rows].sort((a, b) => (a[0] < b[0] ? -1 : 1));
}

describe.each([
  ['leveldb', 1 << 20],
  ['leveldb', 1500],
  ['memory', 1 << 20],
] as const)('a task’s stores over %s with a cache of %i bytes', (engine, cacheBytes) => {
  it('equal the model after every sequence of writes, epochs and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 5, maxLength: 80 }), async (operations) => {
        const run = new Run(engine, cacheBytes);
        await run.open(join(await directories.make(), 'task'));
        try {
          for (const op of operations) await run.apply(op);
          expect(await run.content()).toEqual(sorted(run.active));
        } finally {
          await run.flushing;
          await run.state.close({ clean: false });
        }
      }),
      { numRuns: engine === 'memory' ? 30 : 60 },
    );
  });
});
