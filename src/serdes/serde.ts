import type { ByteWriter } from '../bytes/byte-writer.js';

/**
 * Turns values into bytes and back. Null never reaches a serde: it is a null key or a tombstone and is told beside the bytes.
 *
 * `serdes.*` has one for most needs. For a format of your own implement `name`, `serialize` and `deserialize`; the other methods make it faster.
 */
export interface Serde<T> {
  /** Shown in errors and in `topology.describe()`. */
  readonly name: string;
  /** Bytes of a value. Synchronous: what must be loaded first is loaded in `prepare`. */
  serialize(value: T): Uint8Array;
  /**
   * The value of `bytes`. The array may be a view into a larger buffer that is reused later: copy what is kept.
   * A promise is allowed for input topics only (for instance a writer schema met for the first time); the task then waits.
   */
  deserialize(bytes: Buffer): T | Promise<T>;
  /** Writes the bytes of `value` at the end of `out`: the same bytes as `serialize`, without an array of their own. */
  encode?(value: T, out: ByteWriter): void;
  /** Reads from `buffer[start, end)`: the same as `deserialize` of that part, without a view of its own. */
  decode?(buffer: Buffer, start: number, end: number): T | Promise<T>;
  /**
   * Called once before first use, for each topic or store changelog the serde is used with.
   * Registry serdes fetch and register schemas here, so that everything after is synchronous.
   */
  prepare?(use: SerdeUse): Promise<void>;
  /** For serdes made of others: the serde with the app's defaults in place of those that it was made without. */
  withDefaults?(defaults: DefaultSerdes): Serde<T>;
  /**
   * True when two values are the same Map key (`Object.is`) exactly when their bytes are equal, as with strings, 32-bit integers, bigints. Stores then
   * cache by the value itself.
   */
  readonly valueIsIdentity?: boolean;
  /** True when every byte string decodes, so that decoding can be left out when nobody reads the value. */
  readonly total?: boolean;
}

/** The app's own serdes, for what names none. */
export interface DefaultSerdes {
  readonly key: Serde<unknown> | null;
  readonly value: Serde<unknown> | null;
}

/** Where a serde is about to be used. */
export interface SerdeUse {
  /** Name of the topic or changelog. */
  readonly topic: string;
  readonly part: 'key' | 'value';
}

/** A serde with every fast path filled in: what the engine calls. Made by `compileSerde`. */
export interface CompiledSerde<T> {
  readonly name: string;
  readonly serde: Serde<T>;
  readonly valueIsIdentity: boolean;
  readonly total: boolean;
  encode(value: T, out: ByteWriter): void;
  decode(buffer: Buffer, start: number, end: number): T | Promise<T>;
  /** Same as `decode`, where a promise can't be awaited (stores): throws MILL_SERDE when there is one. */
  decodeSync(buffer: Buffer, start: number, end: number): T;
}
