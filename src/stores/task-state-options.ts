import type { Logger } from '../observability/logger.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { StoreSpec } from './store.js';

/** What the state of a task is opened from. */
export interface TaskStateOptions {
  readonly taskId: string;
  /** The task's directory; null: everything in memory, whatever the specs say. */
  readonly directory: string | null;
  readonly specs: readonly StoreSpec[];
  /** The app's `emit`: whether stores that track changes `ifEmittingOnCommit` do so. Default true. */
  readonly emitsOnCommit?: boolean;
  readonly defaultEngine: 'memory' | 'leveldb';
  serdes(spec: StoreSpec): { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> };
  /** Bytes that rows of LevelDB stores may take in memory; `TaskState.cacheBytes` changes it. */
  readonly cacheBytes: number;
  /** Bytes that the task's database may take for itself. Default 24 MiB. */
  readonly engineBytes?: number;
  readonly logger: Logger;
  /** Least milliseconds between engine writes, but for those that need the room. Default 1000. */
  readonly flushIntervalMs?: number;
  /** Wall clock, ms. Default `Date.now`. */
  readonly now?: () => number;
  /** Timestamp of the record in work: that of the changelog records of plain stores. Default: the wall clock. */
  readonly recordTimestamp?: () => number;
  /** Called when the database was found unreadable, before it is deleted. */
  readonly onDamaged?: () => void;
  /** Called after each write of committed rows. What failed stays in memory, and is tried again. */
  readonly onWritten?: (hasFailed: boolean) => void;
  /** Called once when the state is closed. */
  readonly onClosed?: () => void;
}
