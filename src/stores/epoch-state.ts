/** What a task asks of each of its stores to carry it through epochs and restores. `KeyedState` keeps rows as objects, `JoinWindowState` records as bytes. */
import type { Engine, EngineBatch } from './engine/engine.js';
import type { StateStore, StoreSpec } from './store.js';
import type { ChangelogSink } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';

/** What one epoch changed in one store. */
export interface EpochLayer {
  /** State of the store beside its rows as of this epoch. */
  readonly marks: StoreMarks;
  /** What the engine write is about to take, bytes. */
  readonly byteLength: number;
  /** Rows that the epoch touched. */
  readonly rowCount: number;
  /** Puts rows `[from, to)` as of this epoch into the batch, but for those that the engine write `mark` has in a newer state already. */
  putRows(batch: EngineBatch, from: number, to: number, mark: number): void;
  /** Puts all rows into the batch of a restore. */
  writeAll(batch: EngineBatch): void;
}

export interface EpochState extends StateStore {
  readonly spec: StoreSpec;
  readonly taskId: string;
  /** Tells the store's rows from those of the task's other stores in the engine. */
  readonly id: number;
  /** null: the store is in memory alone. */
  readonly engine: Engine | null;
  /** Bytes that the active epoch changed, estimated. */
  readonly activeBytes: number;
  /** Rows that have a value, entries of a list each; exact but after a restore and a restart, where it is an estimate. */
  readonly estimateNumKeys: number;
  /** Of these, records of restores that may have been counted before. */
  readonly uncounted: number;
  /** Where what counts begins in the engine: what is out of retention may still be there. */
  readonly countedFrom: Buffer;
  /** The count was wrong by so many rows, and so many records are no longer in doubt. */
  recounted(more: number, doubted: number): void;
  /** Bytes that the store takes in memory, estimated. */
  readonly memoryBytes: number;
  /** Somebody reads the store as of a moment: nothing that exists in memory alone may leave. */
  readonly hasSnapshots: boolean;

  /** Serialises what the active epoch changed; null when it changed nothing. */
  freeze(sink: ChangelogSink | null): EpochLayer | null;
  /** The epoch of the layer is committed in Kafka. */
  layerCommitted(layer: EpochLayer): void;
  /** The engine has the layer's rows, or newer ones, or there is no engine. */
  release(layer: EpochLayer): void;

  /** Finds out what the engine holds, once, before the store is used. */
  attach(engineHasRows: boolean): Promise<void>;
  /** Adds one changelog record. */
  restore(
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
    batch: EngineBatch | null,
  ): void;
  /** What changelog records changed in stores that merge them into rows, frozen for the batch of the restore; null when there is nothing. */
  freezeRestored(): EpochLayer | null;
  /** Clean rows of an engine leave memory. */
  forgetClean(): void;

  marks(): StoreMarks;
  adoptMarks(marks: StoreMarks): void;
  /** After an engine write: drops what is out of retention; returns engine ranges to clear. */
  expire(committed: StoreMarks): readonly (readonly [Buffer, Buffer])[];
  /** Forgets everything, as if the store had never been written. */
  reset(): void;
  close(): void;
}
