/**
 * What a task's stores ask of the ordered, persistent map below them. All stores of a task share one engine, so that one atomic batch covers them all,
 * their changelog offsets and the epoch. Stores with the `memory` engine have none: their rows in memory are all there is.
 *
 * Keys and values handed in are copied before a call returns; those handed out belong to the caller.
 */
export interface Engine {
  get(key: Buffer): Buffer | undefined;
  batch(): EngineBatch;
  /** Rows with `from <= key < to`, as of this call. */
  scan(range: EngineRange): EngineScan;
  /** The rows as of this call, for reads one by one. */
  snapshot(): EngineSnapshot;
  /** Bytes on disk of the rows with `from <= key < to`, estimated without reading them; what was written last may not be in it yet. */
  sizeOf(from: Buffer, to: Buffer): Promise<number>;
  /** Deletes the rows with `from <= key < to`. Not part of a batch. */
  clear(from: Buffer, to: Buffer): Promise<void>;
  /** Closes open scans too. */
  close(): Promise<void>;
}

export interface EngineRange {
  readonly from: Buffer;
  readonly to: Buffer;
  readonly reverse?: boolean;
  readonly keysOnly?: boolean;
}

export interface EngineBatch {
  put(key: Buffer, value: Buffer): void;
  delete(key: Buffer): void;
  /** All or nothing. Once only. */
  write(): Promise<void>;
  /** Drops it. */
  close(): Promise<void>;
}

export interface EngineSnapshot {
  get(key: Buffer): Buffer | undefined;
  close(): Promise<void>;
}

export interface EngineScan {
  /** The next rows in order, at most `size`; none at the end. With `keysOnly` the values are empty. */
  next(size: number): Promise<readonly (readonly [Buffer, Buffer])[]>;
  /** Goes on at the first key at or after `key` (at or before, in reverse). */
  seek(key: Buffer): void;
  close(): Promise<void>;
}
