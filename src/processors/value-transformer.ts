import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { ProcessingContext } from './processor.js';
import type { RecordMeta } from './record-meta.js';
import type { Awaitable } from './user-functions.js';

/**
 * Makes the values of a table out of those of another one, with state of its own and timers (Kafka Streams' `ValueTransformerWithKey`). It forwards nothing: what it gives is the
 * row.
 *
 * @example
 * class Versions implements ValueTransformer<string, string, string> {
 *   init(context: ProcessingContext) { this.seen = context.store<KeyValueStore<string, number>>('seen', 'keyValue'); }
 *   transform(value: string | null, key: string) {
 *     const version = (this.seen.get(key) ?? 0) + 1;
 *     this.seen.put(key, version);
 *     return value === null ? null : `${value} (version ${version})`;
 *   }
 * }
 */
export interface ValueTransformer<K, V, VR> {
  /** Called once, before any row, with the stores restored. Get stores and set timers here. It may give no promise: MILL_STATE_INVALID. */
  init?(context: ProcessingContext): void;
  /**
   * The new row; null for none. Called for each change, and where the result is not kept also for the row as it was and for rows that an operator looks up.
   *
   * @param value null for a row that is deleted, or not there
   * @param meta of the record that changed the row; for a row that is looked up only its timestamp is known, -1 when there is none
   */
  transform(value: V | null, key: K, meta: RecordMeta): Awaitable<VR | null>;
  /** Called once, when the task is closed, also after a failure. */
  close?(): MaybeAsync;
}

/** Makes a transformer for whoever computes the table: its node, and each operator that looks into it while it is not kept. */
export type ValueTransformerSupplier<K, V, VR> = () => ValueTransformer<K, V, VR>;
