import type { KStream } from './kstream.js';
import type { NamedOptions } from './options.js';

/**
 * A changing table: one row a key, the latest. Records with a null value delete a row; records without a key are dropped and counted.
 *
 * @example
 * const users: KTable<string, User> = builder.table('users', { keySerde: serdes.string, valueSerde: serdes.json<User>() });
 */
export interface KTable<K, V> {
  readonly kind: 'table';
  /** Name of the store that holds the rows and can be queried; null when none was given. */
  readonly storeName: string | null;

  /**
   * The changes of the table as a stream: for each changed row its new value, null when it was deleted.
   *
   * @example
   * counts.toStream().to('counts');
   */
  toStream(options?: NamedOptions): KStream<K, V>;
}
