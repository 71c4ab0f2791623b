import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { silentLogger } from '../../src/observability/logger.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { ChangelogSink } from '../../src/stores/store-environment.js';
import type { StoreSpec } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';

export interface ChangelogRecord {
  readonly store: string;
  readonly timestamp: number;
  readonly key: Buffer;
  readonly value: Buffer | null;
}

/** A changelog in memory: what a task's epochs wrote, in order. */
export class Changelog implements ChangelogSink {
  readonly records: ChangelogRecord[] = [];

  append(store: string, timestamp: number, key: Buffer, ks: number, ke: number, value: Buffer | null, vs: number, ve: number): void {
    this.records.push({
      store,
      timestamp,
      key: Buffer.from(key.subarray(ks, ke)),
      value: value === null ? null : Buffer.from(value.subarray(vs, ve)),
    });
  }

  get end(): number {
    return this.records.length;
  }

  /** Replays `[from, to)` of one store. Offsets are those of the whole list. */
  async restore(state: TaskState, store: string, from: number | null, to = this.end): Promise<number> {
    state.beginRestore(store, from);
    let restored = 0;
    for (let i = from ?? 0; i < to; i++) {
      const record = this.records[i]!;
      if (record.store !== store) continue;
      restored++;
      state.restoreRecord(store, record.timestamp, record.key, 0, record.key.length, record.value, 0, record.value?.length ?? 0);
    }
    await state.endRestore(store, to);
    return restored;
  }
}

export const identity = { topic: 'app-store-changelog', topicId: 'id-1', clusterId: 'cluster-1' };

export interface OpenOptions {
  readonly directory: string | null;
  readonly specs: readonly StoreSpec[];
  readonly cacheBytes?: number;
  readonly recordTimestamp?: () => number;
  readonly keySerde?: Serde<never>;
  readonly valueSerde?: Serde<never>;
  readonly now?: () => number;
}

export function openState(options: OpenOptions): Promise<TaskState> {
  return TaskState.open({
    taskId: '0_0',
    directory: options.directory,
    specs: options.specs,
    defaultEngine: 'leveldb',
    serdes: (spec) => ({
      key: compileSerde(spec.keySerde ?? options.keySerde ?? serdes.string),
      value: compileSerde(spec.valueSerde ?? options.valueSerde ?? serdes.int32),
    }),
    cacheBytes: options.cacheBytes ?? 1 << 20,
    logger: silentLogger,
    recordTimestamp: options.recordTimestamp ?? (() => 7),
    now: options.now,
  });
}

/** One whole epoch: freeze, commit, write. */
export async function commitEpoch(state: TaskState, epoch: number, changelog: Changelog): Promise<void> {
  state.freeze(epoch, changelog);
  const names = new Set(changelog.records.map((record) => record.store));
  state.committed(epoch, new Map([...names].map((name) => [name, changelog.end])));
  await state.flush();
}

export function temporaryDirectories(): { make(): Promise<string>; removeAll(): Promise<void> } {
  const made: string[] = [];
  return {
    make: async () => {
      const directory = await mkdtemp(join(tmpdir(), 'millrace-stores-'));
      made.push(directory);
      return directory;
    },
    removeAll: async () => {
      for (const directory of made.splice(0)) await rm(directory, { recursive: true, force: true });
    },
  };
}

export async function collect<T>(rows: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = [];
  for await (const row of rows) found.push(row);
  return found;
}
