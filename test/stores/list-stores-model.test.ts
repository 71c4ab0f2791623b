/**
 * Random sequences of operations, barriers, commits, engine writes and crashes on the stores that keep several things of a key, against plain models. A crash
 * copies the directory as it is and opens the copy: what kill -9 would leave; the tail of the changelog is then replayed.
 */
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { TaskState } from '../../src/stores/task-state.js';
import { modelOf, storeNames, storeSpecs, stepArbitrary } from './list-store-models.js';
import type { Model, Step } from './list-store-models.js';
import { Changelog, identity, openState, temporaryDirectories } from './store-harness.js';

const directories = temporaryDirectories();
afterEach(() => directories.removeAll(), 60_000);

type Operation = Step | { readonly kind: 'check' | 'freeze' | 'commit' | 'flush' | 'crash' | 'restart' | 'wipe' };

const plain = (kind: 'check' | 'freeze' | 'commit' | 'flush' | 'crash' | 'restart' | 'wipe', weight: number) => ({
  weight,
  arbitrary: fc.constant({ kind }),
});
const operation: fc.Arbitrary<Operation> = fc.oneof(
  { weight: 40, arbitrary: stepArbitrary },
  plain('check', 4),
  plain('freeze', 5),
  plain('commit', 5),
  plain('flush', 3),
  plain('crash', 1),
  plain('restart', 1),
  plain('wipe', 1),
);

class Run {
  state!: TaskState;
  private directory = '';
  private epoch = 0;
  private active: Model = modelOf();
  private committed: Model = modelOf();
  private frozen: { readonly epoch: number; readonly model: Model; readonly changelog: Changelog }[] = [];
  private readonly log = new Changelog();
  /** Model and changelog position as of each epoch that the engine may be at. */
  private history: { readonly epoch: number; readonly model: Model; readonly position: number }[] = [];

  constructor(
    private readonly engine: 'memory' | 'leveldb',
    private readonly cacheBytes: number,
  ) {}

  async open(directory: string): Promise<void> {
    this.directory = directory;
    this.state = await openState({
      directory,
      specs: storeSpecs.map((spec) => ({ ...spec, engine: this.engine })),
      cacheBytes: this.cacheBytes,
    });
  }

  async apply(op: Operation): Promise<void> {
    switch (op.kind) {
      case 'check':
        return this.check(this.active);
      case 'freeze': {
        const changelog = new Changelog();
        this.state.freeze(++this.epoch, changelog);
        this.frozen.push({ epoch: this.epoch, model: this.active.clone(), changelog });
        return;
      }
      case 'commit': {
        const next = this.frozen.shift();
        if (next === undefined) return;
        this.log.records.push(...next.changelog.records);
        this.committed = next.model;
        this.state.committed(next.epoch, new Map(storeNames.map((name) => [name, this.log.end])));
        this.history.push({ epoch: next.epoch, model: next.model, position: this.log.end });
        return;
      }
      case 'flush':
        return this.state.flush();
      case 'crash':
        return this.crash();
      case 'restart':
        await this.state.close({ clean: true });
        await this.open(this.directory);
        return this.catchUp();
      case 'wipe':
        await this.state.close({ clean: false });
        await this.open(join(await directories.make(), 'task'));
        this.history = [];
        return this.catchUp();
      default:
        this.active.apply(op);
        op.run(this.state);
    }
  }

  async check(model: Model): Promise<void> {
    expect(await model.read(this.state)).toEqual(await model.content());
  }

  private async crash(): Promise<void> {
    const abandoned = this.state;
    await this.open(await this.copy());
    await this.catchUp();
    await abandoned.close({ clean: false });
  }

  /** LevelDB may remove a file under the copy's hands, after compacting it: then another copy is taken. */
  private async copy(): Promise<string> {
    for (;;) {
      const copy = join(await directories.make(), 'copy');
      if (this.engine === 'memory') return copy;
      try {
        await cp(this.directory, copy, { recursive: true, filter: (source) => !source.endsWith('LOCK') });
        return copy;
      } catch (error) {
        if ((error as { code?: string }).code !== 'ENOENT') throw error;
      }
    }
  }

  /** The engine is at a committed epoch; the changelog brings it to the last one. */
  private async catchUp(): Promise<void> {
    const at = this.history.find((past) => past.epoch === this.state.epoch);
    if (at !== undefined && this.engine === 'leveldb') await this.check(at.model);
    for (const name of storeNames) {
      const position = this.state.position(name, identity);
      if (at !== undefined && this.engine === 'leveldb') expect(position).toBe(at.position);
      await this.log.restore(this.state, name, position);
    }
    this.active = this.committed.clone();
    this.frozen = [];
    await this.check(this.active);
    this.history = [{ epoch: this.state.epoch, model: this.committed, position: this.log.end }];
  }
}

describe.each([
  ['leveldb', 1 << 20],
  ['leveldb', 1500],
  ['memory', 1 << 20],
] as const)('stores with lists over %s with a cache of %i bytes', (engine, cacheBytes) => {
  it('equal their models after every sequence of writes, epochs and crashes', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(operation, { minLength: 20, maxLength: 150, size: 'max' }), async (operations) => {
        const run = new Run(engine, cacheBytes);
        await run.open(join(await directories.make(), 'task'));
        try {
          for (const op of operations) await run.apply(op);
          await run.apply({ kind: 'check' });
        } finally {
          await run.state.close({ clean: false });
        }
      }),
      { numRuns: 30 },
    );
  }, 120_000);
});
