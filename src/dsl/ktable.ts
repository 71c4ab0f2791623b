import type { RecordMeta } from '../processors/record-meta.js';
import type { Awaitable, Given, Predicate, TableGrouper, ValueMapper } from '../processors/user-functions.js';
import type { ValueTransformerSupplier } from '../processors/value-transformer.js';
import type { AnyJoinable, TableJoinMistake } from './join-mistake.js';
import type { KGroupedTable } from './kgrouped-table.js';
import type { KStream } from './kstream.js';
import type {
  DerivedTableOptions,
  ForeignKeyJoinOptions,
  GroupedOptions,
  MappedTableOptions,
  NamedOptions,
  TableJoinOptions,
  TransformedTableOptions,
} from './options.js';
import type { Suppressed } from './suppressed.js';

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

  /**
   * The rows for which the predicate holds. A row that no longer passes is deleted. When the table has a store, only rows that were there are deleted; otherwise
   * nobody knows, and a deletion goes out for each change that does not pass (Kafka Streams' rule).
   *
   * The result is kept only when `materialized.storeName` is given.
   *
   * @example
   * const adults = users.filter((user) => user.age >= 18, { materialized: { storeName: 'adults' } });
   */
  filter<VR extends V>(predicate: (value: V, key: K, meta: RecordMeta) => value is VR, options?: DerivedTableOptions<K, VR>): KTable<K, VR>;
  /** As above, for predicates that are no type guards. */
  filter(predicate: Predicate<K, V>, options?: DerivedTableOptions<K, V>): KTable<K, V>;

  /**
   * The rows for which the predicate does not hold.
   *
   * @example
   * const open = orders.filterNot((order) => order.paid);
   */
  filterNot(predicate: Predicate<K, V>, options?: DerivedTableOptions<K, V>): KTable<K, V>;

  /**
   * The same keys with other values. The mapper never sees null: a deleted row stays deleted. It may be called again for a row that it was called for: to know
   * what the row was, and to answer look-ups when the result is not kept.
   *
   * @example
   * const names = users.mapValues((user) => user.name, { valueSerde: serdes.string });
   */
  mapValues<VR extends Given<VR>>(mapper: ValueMapper<K, V, VR>, options?: MappedTableOptions<K, VR>): KTable<K, VR>;

  /**
   * The same keys with values that an object of yours makes, with stores and timers: `stores` names what it uses. Unlike the mapper of `mapValues` it is told of deleted rows
   * too, as null, and may give a row for them.
   *
   * The result is kept only when `materialized.storeName` is given, and then the transformer is called once a change. Otherwise it is called again for what the row was, when
   * an operator behind it wants to know, and operators that look rows up (joins) have one of their own, which shares its stores: **keep the result whenever the transformer has
   * state** (Kafka Streams' rules).
   *
   * @param supplier makes a new transformer for each task
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice, or no object with a method `transform`
   * @example
   * builder.addStateStore(stores.keyValue({ name: 'seen', keySerde: serdes.string, valueSerde: serdes.int32 }));
   * users.transformValues(() => new Versions(), { stores: ['seen'], valueSerde: serdes.string, materialized: { storeName: 'versions' } });
   */
  transformValues<VR>(supplier: ValueTransformerSupplier<K, V, VR>, options?: TransformedTableOptions<K, NoInfer<VR>>): KTable<K, VR>;

  /**
   * Groups the rows by another key, to be aggregated: through a repartition topic, with the old and the new value of each changed row.
   *
   * @param mapper gives key and value for the group; null, or a null key or value, leaves the row out
   * @example
   * users.groupBy((user, id) => [user.country, id], { keySerde: serdes.string, valueSerde: serdes.string }).count();
   */
  groupBy<KR, VR>(mapper: TableGrouper<K, V, KR, VR>, options?: GroupedOptions<KR, VR>): KGroupedTable<KR, VR>;

  /**
   * Holds changes back, so that fewer go downstream: until a time limit, or, for tables of windows, until the window is final.
   *
   * @throws MILL_TOPOLOGY_INVALID for a versioned table, and for `untilWindowCloses` on a table that does not come from windows
   * @example
   * counts.suppress(untilTimeLimit(60_000, { maxRecords: 10_000, whenFull: 'emitEarly' }));
   * clicks.groupByKey().windowedBy(tumbling({ size: 60_000 })).count().suppress(untilWindowCloses()).toStream().to('finals');
   */
  suppress(suppressed: Suppressed, options?: NamedOptions): KTable<K, V>;

  /**
   * Joins each row with the row of another table that `foreignKey` names: many rows here may join the same row there. The topics need no equal partition counts: subscriptions
   * and answers go through two internal topics.
   *
   * A row without a foreign key is left out, dropped and counted. A deleted row, or one that moves to a key without a row, sends a tombstone also when it had no
   * result, as in Kafka Streams (KIP-213).
   *
   * @example
   * orders.join(customers, (order, customer) => ({ ...order, name: customer.name }), { foreignKey: (order) => order.customerId });
   */
  join<KO, VO, VR extends Given<VR>>(
    other: KTable<KO, VO>,
    joiner: (value: V, otherValue: VO, key: K) => Awaitable<VR>,
    options: ForeignKeyJoinOptions<K, V, KO, NoInfer<VR>>,
  ): KTable<K, VR>;
  /**
   * A table of the rows that both tables have, by key. It changes whenever a row of either changes. Both topics need equal partition counts, or the app fails
   * at start with MILL_TOPOLOGY_NOT_COPARTITIONED. A result's timestamp is the later one of its rows.
   *
   * Rows of versioned tables that come out of order leave the result as it is (KIP-914).
   *
   * @param joiner gets both values and the key; it must not return null
   * @example
   * const profiles = users.join(addresses, (user, address) => ({ ...user, city: address.city }), { materialized: { storeName: 'profiles' } });
   */
  join<VO, VR extends Given<VR>>(
    other: KTable<K, VO>,
    joiner: (value: V, otherValue: VO, key: K) => Awaitable<VR>,
    options?: TableJoinOptions<K, NoInfer<VR>>,
  ): KTable<K, VR>;
  /** @internal */
  join<O extends AnyJoinable>(
    other: O & TableJoinMistake<O, 'join'>,
    joiner: (value: V, otherValue: never, key: K) => unknown,
    options?: unknown,
  ): KTable<K, unknown>;

  /**
   * As `join` by a foreign key, but a row whose foreign key is null or names no row is joined with null.
   *
   * @example
   * orders.leftJoin(customers, (order, customer) => ({ ...order, name: customer?.name ?? null }), { foreignKey: (order) => order.customerId });
   */
  leftJoin<KO, VO, VR extends Given<VR>>(
    other: KTable<KO, VO>,
    joiner: (value: V, otherValue: VO | null, key: K) => Awaitable<VR>,
    options: ForeignKeyJoinOptions<K, V, KO, NoInfer<VR>>,
  ): KTable<K, VR>;
  /**
   * As `join`, but a row without one in the other table is joined with null.
   *
   * @example
   * users.leftJoin(addresses, (user, address) => ({ ...user, city: address?.city ?? null }));
   */
  leftJoin<VO, VR extends Given<VR>>(
    other: KTable<K, VO>,
    joiner: (value: V, otherValue: VO | null, key: K) => Awaitable<VR>,
    options?: TableJoinOptions<K, NoInfer<VR>>,
  ): KTable<K, VR>;
  /** @internal */
  leftJoin<O extends AnyJoinable>(
    other: O & TableJoinMistake<O, 'leftJoin'>,
    joiner: (value: V, otherValue: never, key: K) => unknown,
    options?: unknown,
  ): KTable<K, unknown>;

  /**
   * A table of the rows that either table has, by key; the value of the one that lacks the row is null.
   *
   * @example
   * online.outerJoin(shops, (web, shop) => (web ?? 0) + (shop ?? 0));
   */
  outerJoin<VO, VR extends Given<VR>>(
    other: KTable<K, VO>,
    joiner: (value: V | null, otherValue: VO | null, key: K) => Awaitable<VR>,
    options?: TableJoinOptions<K, NoInfer<VR>>,
  ): KTable<K, VR>;
  /** @internal */
  outerJoin<O extends AnyJoinable>(
    other: O & TableJoinMistake<O, 'outerJoin'>,
    joiner: (value: never, otherValue: never, key: K) => unknown,
    options?: unknown,
  ): KTable<K, unknown>;
}
