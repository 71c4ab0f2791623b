import type { Headers } from '../bytes/headers.js';

/** A record read from an output topic. */
export interface TestRecord<K, V> {
  readonly key: K | null;
  readonly value: V | null;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly headers: Headers;
  readonly partition: number;
}
