import type { Aggregator, Initializer, Reducer } from '../processors/user-functions.js';
import type { KTable } from './ktable.js';
import type { TableOptions } from './options.js';

/**
 * A table grouped by another key, to be aggregated. When a row changes, its old value is subtracted from its group before the new one is added; a row that
 * moves to another group changes both.
 */
export interface KGroupedTable<K, V> {
  /**
   * How many rows each group has. A group that all rows have left stays, with 0.
   *
   * @example
   * users.groupBy((user, id) => [user.country, id]).count({ materialized: { storeName: 'users-by-country' } });
   */
  count(options?: TableOptions<K, number>): KTable<K, number>;

  /**
   * Combines the values of each group, two at a time; the first value is taken as it is.
   *
   * @param adder gets the aggregate so far, a value that came and the key; null deletes the row
   * @param subtractor gets the aggregate so far, a value that went and the key; null deletes the row
   * @example
   * accounts.groupBy((account) => [account.owner, account.balance]).reduce((sum, balance) => sum + balance, (sum, balance) => sum - balance);
   */
  reduce(adder: Reducer<K, V>, subtractor: Reducer<K, V>, options?: TableOptions<K, V>): KTable<K, V>;

  /**
   * Folds the values of each group into an aggregate of any type.
   *
   * @param initializer gives the aggregate before the first value
   * @param adder gets the aggregate so far, a value that came and the key; null deletes the row
   * @param subtractor gets the aggregate so far, a value that went and the key; null deletes the row
   * @example
   * carts.groupBy((cart) => [cart.shop, cart.total]).aggregate(
   *   () => ({ carts: 0, total: 0 }),
   *   (sum, total) => ({ carts: sum.carts + 1, total: sum.total + total }),
   *   (sum, total) => ({ carts: sum.carts - 1, total: sum.total - total }),
   *   { materialized: { storeName: 'totals', valueSerde: serdes.json() } },
   * );
   */
  aggregate<A>(
    initializer: Initializer<A>,
    adder: Aggregator<K, V, A>,
    subtractor: Aggregator<K, V, A>,
    options?: TableOptions<K, A>,
  ): KTable<K, A>;
}
