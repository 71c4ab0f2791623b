import type { CompiledSerde } from '../serdes/serde.js';
import type { CacheBudget } from './cache-budget.js';
import type { Engine } from './engine/engine.js';
import type { StoreSpec } from './store.js';

/** What a store gets from its task. */
export interface StoreEnvironment {
  readonly spec: StoreSpec;
  readonly taskId: string;
  /** Two bytes that tell the store's rows from those of the task's other stores in the shared engine. */
  readonly id: number;
  /** null: the memory engine. */
  readonly engine: Engine | null;
  readonly budget: CacheBudget | null;
  readonly keySerde: CompiledSerde<unknown>;
  readonly valueSerde: CompiledSerde<unknown>;
  /** Timestamp of the record in work, for stores whose rows have none. */
  recordTimestamp(): number;
}

/** Changelog records leave here; whoever implements it copies the bytes at once. */
export interface ChangelogSink {
  append(
    storeName: string,
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void;
}

/** First bytes of every engine key of a store. Id 0 holds what is no row. */
export function idPrefix(id: number): Buffer {
  const prefix = Buffer.alloc(2);
  prefix.writeUInt16BE(id);
  return prefix;
}
