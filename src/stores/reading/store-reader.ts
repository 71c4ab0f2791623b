/** What queries read of one store of one task, by its kind. `AsOf` comes from `rows.asOf`; what is given out is a copy. */
import type { KeyValueReader } from './key-value-reader.js';
import type { SessionReader, SlidingWindowReader } from './entry-readers.js';
import type { VersionedReader } from './versioned-reader.js';
import type { WindowReader } from './window-reader.js';

export type StoreReader =
  | KeyValueReader<unknown, unknown>
  | WindowReader<unknown, unknown>
  | SlidingWindowReader<unknown, unknown>
  | SessionReader<unknown, unknown>
  | VersionedReader<unknown, unknown>;

/** Bounds of keys in the order of their bytes, both inclusive. */
export interface KeyBounds<K> {
  readonly from?: K;
  readonly to?: K;
  /** Keys whose bytes begin so. */
  readonly prefix?: Uint8Array;
}

/** Bounds of times in ms, both inclusive. */
export interface TimeBounds {
  readonly from: number;
  readonly to: number;
}
