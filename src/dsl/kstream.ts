import type { AsyncProcessor } from '../processors/async/async-processor.js';
import type { FixedKeyProcessor, Processor } from '../processors/processor.js';
import type { RecordMeta } from '../processors/record-meta.js';
import type {
  Awaitable,
  FlatRecordMapper,
  FlatValueMapper,
  Given,
  GlobalTableJoiner,
  Predicate,
  RecordAction,
  RecordMapper,
  TableJoiner,
  ValueMapper,
} from '../processors/user-functions.js';
import type { TopicNameExtractor } from '../topology/nodes.js';
import type { Lookup } from '../processors/lookup/lookup-work.js';
import type { AsyncMapper, AsyncProcessOptions, AsyncRecordOptions, AsyncValueOptions, LookupJoinOptions } from './async-options.js';
import type { BranchedKStream } from './branched-kstream.js';
import type { BroadcastConnectedStream, BroadcastOptions, BroadcastStream } from './broadcast-stream.js';
import type { GlobalKTable } from './global-ktable.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { KeyedStream } from './keyed-stream.js';
import type { AnyJoinable, JoinMistake } from './join-mistake.js';
import type { KTable } from './ktable.js';
import type {
  GroupedByOptions,
  GroupedOptions,
  JoinedOptions,
  KeyOptions,
  NamedOptions,
  PrintOptions,
  ProcessOptions,
  ProcessValuesOptions,
  ProducedOptions,
  RecordOptions,
  RepartitionedOptions,
  StreamJoinOptions,
  StreamTableOptions,
  ValueOptions,
} from './options.js';

/** How a stream record finds its row in a global table. */
export interface GlobalJoinOptions<K, V, KG, VR> extends ValueOptions<VR> {
  /** The table key of a record; null joins nothing. */
  readonly keyOf: ValueMapper<K, V, KG | null>;
}

/** Names the topic for a record; `source` says where the record was read. */
export type TopicOf<K, V> = (value: V, key: K, source: Parameters<TopicNameExtractor>[2]) => string;

/**
 * A stream of records. Each operator leaves the stream as it is and returns a new one, so a stream can be used several times.
 *
 * User functions get `(value, key, meta)`; `meta` is one object that is used again for each record, so copy what you keep of it. They may
 * return a promise: the task then waits for it, and order is kept. Keys and values are null at run time where the topic has null keys or tombstones.
 */
export interface KStream<K, V> {
  readonly kind: 'stream';

  /**
   * Keeps the records for which `predicate` holds. A type guard narrows the values.
   *
   * @example
   * orders.filter((order) => order.total > 100);
   */
  filter<VR extends V>(predicate: (value: V, key: K, meta: RecordMeta) => value is VR, options?: NamedOptions): KStream<K, VR>;
  /** As above, for predicates that are no type guards. */
  filter(predicate: Predicate<K, V>, options?: NamedOptions): KStream<K, V>;

  /**
   * Drops the records for which `predicate` holds.
   *
   * @example
   * orders.filterNot((order) => order.cancelled);
   */
  filterNot(predicate: Predicate<K, V>, options?: NamedOptions): KStream<K, V>;

  /**
   * Makes a new key and a new value. Grouping or joining the result repartitions it; use `mapValues` when the key stays.
   *
   * @example
   * orders.map((order) => [order.customer, order.total]);
   */
  map<KR extends Given<KR>, VR extends Given<VR>>(
    mapper: RecordMapper<K, V, KR, VR>,
    options?: RecordOptions<NoInfer<KR>, NoInfer<VR>>,
  ): KStream<KR, VR>;

  /**
   * Makes a new value; the key stays, and with it the partition.
   *
   * @example
   * orders.mapValues((order) => order.total, { valueSerde: serdes.double });
   */
  mapValues<VR extends Given<VR>>(mapper: ValueMapper<K, V, VR>, options?: ValueOptions<NoInfer<VR>>): KStream<K, VR>;

  /**
   * Makes any number of records out of one, with new keys. Grouping or joining the result repartitions it.
   *
   * @example
   * orders.flatMap((order) => order.lines.map((line) => [line.sku, line.quantity] as const));
   */
  flatMap<KR extends Given<KR>, VR extends Given<VR>>(
    mapper: FlatRecordMapper<K, V, KR, VR>,
    options?: RecordOptions<NoInfer<KR>, NoInfer<VR>>,
  ): KStream<KR, VR>;

  /**
   * Makes any number of values out of one; the key stays.
   *
   * @example
   * lines.flatMapValues((line) => line.toLowerCase().match(/\p{L}+/gu) ?? []);
   */
  flatMapValues<VR extends Given<VR>>(mapper: FlatValueMapper<K, V, VR>, options?: ValueOptions<NoInfer<VR>>): KStream<K, VR>;

  /**
   * Makes a new key. Grouping or joining the result repartitions it.
   *
   * @example
   * orders.selectKey((order) => order.customer, { keySerde: serdes.string });
   */
  selectKey<KR extends Given<KR>>(mapper: ValueMapper<K, V, KR>, options?: KeyOptions<NoInfer<KR>>): KStream<KR, V>;

  /**
   * Calls `action` for each record and passes the record on.
   *
   * @example
   * orders.peek((order, key, meta) => logger.debug({ key, offset: meta.offset }, 'order'));
   */
  peek(action: RecordAction<K, V>, options?: NamedOptions): KStream<K, V>;

  /**
   * Calls `action` for each record: the end of the stream. Calls are repeated when an epoch is processed again, so the action should be idempotent.
   *
   * @example
   * alerts.foreach((alert) => pager.send(alert.id, alert));
   */
  foreach(action: RecordAction<K, V>, options?: NamedOptions): void;

  /**
   * Prints each record as a line, `[label]: key, value`: the end of the stream. For looking into a topology while it is written.
   *
   * @example
   * orders.print({ label: 'orders' });
   */
  print(options?: PrintOptions): void;

  /**
   * Splits the stream: each record goes to the first branch whose predicate holds.
   *
   * @param options `name` is the beginning of the branches' node names
   * @example
   * const { big, small } = orders.split({ name: 'size-' }).branch((order) => order.total > 100, { name: 'big' }).defaultBranch({ name: 'small' });
   */
  split(options?: NamedOptions): BranchedKStream<K, V>;

  /**
   * The records of both streams. Between the two there is no order.
   *
   * @example
   * webOrders.merge(shopOrders).to('orders');
   */
  merge<V2>(other: KStream<K, V2>, options?: NamedOptions): KStream<K, V | V2>;

  /**
   * Sends the records through an internal topic, so that equal keys meet in one task. Records with a null key are dropped and counted, unless a left join follows.
   *
   * @example
   * orders.selectKey((order) => order.customer).repartition({ name: 'by-customer', partitions: 12 });
   */
  repartition(options?: RepartitionedOptions<K, V>): KStream<K, V>;

  /**
   * Reads the stream as changes of a table: the last value of each key, null deletes.
   *
   * @example
   * const latest = readings.toTable({ materialized: { storeName: 'latest-readings' } });
   */
  toTable(options?: StreamTableOptions<K, V>): KTable<K, V>;

  /**
   * Writes the records to a topic, which must exist, or to the topic that a function names for each.
   *
   * @example
   * orders.to('orders-out', { keySerde: serdes.string, valueSerde: serdes.json<Order>() });
   * orders.to((order) => `orders-${order.region}`);
   */
  to(topic: string | TopicOf<K, V>, options?: ProducedOptions<K, V>): void;

  /**
   * Groups by a new key, to aggregate. The records go through a repartition topic.
   *
   * @param options `name` names the operator and the topic
   * @example
   * orders.groupBy((order) => order.customer, { name: 'by-customer', keySerde: serdes.string }).count();
   */
  groupBy<KR extends Given<KR>>(mapper: ValueMapper<K, V, KR>, options?: GroupedByOptions<NoInfer<KR>, V>): KGroupedStream<KR, V>;

  /**
   * Groups by the key, to aggregate. The records go through a repartition topic only when an operator before may have changed the key.
   *
   * @example
   * orders.groupByKey().count();
   */
  groupByKey(options?: GroupedOptions<K, V>): KGroupedStream<K, V>;

  /**
   * The stream by key, with event time and state as in Flink: windows with triggers and lateness, keyed state, timers. Without a function the records keep their
   * keys, and go through a repartition topic only when an operator before may have changed them.
   *
   * @example
   * builder
   *   .stream('readings', { keySerde: serdes.string, valueSerde: serdes.json<Reading>(), watermarks: watermarks.boundedOutOfOrderness(5_000) })
   *   .keyBy()
   *   .window(tumblingEventTime({ size: 60_000 }))
   *   .aggregate({ initial: () => 0, add: (sum, reading) => sum + reading.celsius, result: (sum) => sum })
   *   .to('sums', { valueSerde: serdes.double });
   */
  keyBy(options?: GroupedOptions<K, V>): KeyedStream<K, V>;
  /** By a new key: the records go through a repartition topic, and event time with them. */
  keyBy<KR extends Given<KR>>(mapper: ValueMapper<K, V, KR>, options?: GroupedByOptions<NoInfer<KR>, V>): KeyedStream<KR, V>;

  /**
   * Sends every record to every task of the streams that it is connected to (`connect`), where it writes broadcast state: rules, settings, models. Each record is written once for
   * each partition of the data, so this is for streams that change seldom.
   *
   * @throws MILL_TOPOLOGY_INVALID unless `states` are map states without a time to live; MILL_TOPOLOGY_DUPLICATE_NAME when two have one name
   * @example
   * const rules = mapState<string, Rule>('rules');
   * const changes = builder.stream<string, Rule>('rules').broadcast({ name: 'rules', states: [rules] });
   */
  broadcast(options: BroadcastOptions<K, V>): BroadcastStream<K, V>;

  /**
   * Connects the stream with a broadcast one, whose every record reaches every task. As `KeyedStream.connect`, without state of a key; records keep their order, and
   * those without a key are taken too.
   *
   * @throws MILL_TOPOLOGY_INVALID when the broadcast stream comes from another builder
   * @example
   * payments.connect(changes).process(() => new CheckRules(rules), { name: 'check' });
   */
  connect<KB, VB>(broadcast: BroadcastStream<KB, VB>): BroadcastConnectedStream<K, V, KB, VB>;

  /**
   * Joins each record with those of another stream that have its key and lie in its window, in either order of arrival. A result's timestamp is the later one of its records.
   *
   * Both sides are repartitioned when an operator before may have changed their keys. Records with a null key or value are dropped and counted. A late record is joined with what is
   * still kept: records are kept for the window's size and grace.
   *
   * @param joiner gets this stream's value, the other's and the key
   * @example
   * views.join(clicks, (view, click) => ({ view, click }), { windows: joinWindows({ before: 0, after: 60_000 }) });
   */
  join<VO, VR extends Given<VR>>(
    other: KStream<K, VO>,
    joiner: TableJoiner<K, V, VO, VR>,
    options: StreamJoinOptions<K, V, VO, NoInfer<VR>>,
  ): KStream<K, VR>;
  /**
   * Joins each record with the row of its key, as the table is at that moment; records without a row are left out. Records of the table never cause output.
   * Both topics need equal partition counts, or the app fails at start with MILL_TOPOLOGY_NOT_COPARTITIONED. Records with a null key or value are dropped and counted.
   *
   * @param joiner gets the record's value, the row's value and the key
   * @example
   * orders.join(customers, (order, customer) => ({ ...order, name: customer.name }));
   */
  join<VT, VR extends Given<VR>>(
    table: KTable<K, VT>,
    joiner: TableJoiner<K, V, VT, VR>,
    options?: JoinedOptions<K, V, NoInfer<VR>>,
  ): KStream<K, VR>;
  /**
   * Joins each record with the row that `keyOf` names, whatever its own key; records without a row are left out. The joiner gets that key too, last.
   *
   * @example
   * flights.join(airports, (flight, airport) => ({ ...flight, city: airport.city }), { keyOf: (flight) => flight.origin });
   */
  join<KG, VT, VR extends Given<VR>>(
    table: GlobalKTable<KG, VT>,
    joiner: GlobalTableJoiner<K, V, KG, VT, VR>,
    options: GlobalJoinOptions<K, V, KG, NoInfer<VR>>,
  ): KStream<K, VR>;
  /** @internal */
  join<O extends AnyJoinable>(
    other: O & JoinMistake<O>,
    joiner: (value: V, other: never, key: K) => unknown,
    options?: unknown,
  ): KStream<K, unknown>;

  /**
   * As `join` with a stream, but a record of this stream that finds no partner is joined with null, once stream time has passed its window and grace. One with a null key is joined with null
   * at once (KIP-962).
   *
   * @example
   * views.leftJoin(clicks, (view, click) => ({ view, clicked: click !== null }), { windows: joinWindows({ before: 0, after: 60_000, grace: 5_000 }) });
   */
  leftJoin<VO, VR extends Given<VR>>(
    other: KStream<K, VO>,
    joiner: TableJoiner<K, V, VO | null, VR>,
    options: StreamJoinOptions<K, V, VO, NoInfer<VR>>,
  ): KStream<K, VR>;
  /**
   * As `join`, but records without a row are joined with null. Records with a null key are kept (KIP-962).
   *
   * @example
   * orders.leftJoin(customers, (order, customer) => ({ ...order, name: customer?.name ?? 'unknown' }));
   */
  leftJoin<VT, VR extends Given<VR>>(
    table: KTable<K, VT>,
    joiner: TableJoiner<K, V, VT | null, VR>,
    options?: JoinedOptions<K, V, NoInfer<VR>>,
  ): KStream<K, VR>;
  /**
   * As `join` with a global table, but records without a row are joined with null.
   *
   * @example
   * flights.leftJoin(airports, (flight, airport) => ({ ...flight, city: airport?.city ?? null }), { keyOf: (flight) => flight.origin });
   */
  leftJoin<KG, VT, VR extends Given<VR>>(
    table: GlobalKTable<KG, VT>,
    joiner: GlobalTableJoiner<K, V, KG | null, VT | null, VR>,
    options: GlobalJoinOptions<K, V, KG, NoInfer<VR>>,
  ): KStream<K, VR>;
  /** @internal */
  leftJoin<O extends AnyJoinable>(
    other: O & JoinMistake<O>,
    joiner: (value: V, other: never, key: K) => unknown,
    options?: unknown,
  ): KStream<K, unknown>;

  /**
   * As `leftJoin` with a stream, for both sides: whichever record finds no partner is joined with null.
   *
   * @example
   * debits.outerJoin(credits, (debit, credit) => ({ debit, credit }), { windows: joinWindows({ before: 3_600_000, after: 3_600_000 }) });
   */
  outerJoin<VO, VR extends Given<VR>>(
    other: KStream<K, VO>,
    joiner: (value: V | null, otherValue: VO | null, key: K) => Awaitable<VR>,
    options: StreamJoinOptions<K, V, VO, NoInfer<VR>>,
  ): KStream<K, VR>;

  /**
   * Hands each record to a processor of your own, with stores, timers and several outputs a record. Grouping or joining the result repartitions it.
   *
   * @param supplier makes a new processor at each call: every task has its own (two more are made, and left unused, to check that)
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice
   * @example
   * builder.addStateStore(stores.keyValue({ name: 'seen', keySerde: serdes.string, valueSerde: serdes.boolean }));
   * orders.process(() => new Deduplicate(), { name: 'deduplicate', stores: ['seen'] });
   */
  process<KR, VR>(supplier: () => Processor<K, V, KR, VR>, options?: ProcessOptions<KR, VR>): KStream<KR, VR>;

  /**
   * As `mapValues`, for functions that wait for something outside: up to `concurrency` calls of each task run side by side, and results leave in the order of their
   * records (`order`). A call may be repeated (`retry`) and takes `timeout` at most; one that fails for good goes to the processing handler.
   *
   * The calls belong to the epochs: a result is committed once, together with the end of its record, and commits do not wait for calls. Records that are unfinished
   * at a commit lie in a store with a changelog, and whoever owns the task after a crash calls for them again. Time downstream does not pass unfinished records.
   *
   * @throws MILL_TOPOLOGY_INVALID when an option is out of range
   * @example
   * orders.mapValuesAsync(async (order, customer, { signal }) => ({ ...order, score: await scoreOf(customer, { signal }) }), {
   *   name: 'score',
   *   concurrency: 32,
   *   timeout: 2_000,
   *   retry: { attempts: 3 },
   * });
   */
  mapValuesAsync<VR extends Given<VR>>(mapper: AsyncMapper<K, V, VR>, options?: AsyncValueOptions<K, V, NoInfer<VR>>): KStream<K, VR>;

  /**
   * As `mapValuesAsync`, with a new key too. Grouping or joining the result repartitions it.
   *
   * @example
   * visits.mapAsync(async (visit, _key, { signal }) => [await userOf(visit.session, { signal }), visit] as const, { name: 'identify' });
   */
  mapAsync<KR extends Given<KR>, VR extends Given<VR>>(
    mapper: AsyncMapper<K, V, readonly [KR, VR]>,
    options?: AsyncRecordOptions<K, V, NoInfer<KR>, NoInfer<VR>>,
  ): KStream<KR, VR>;

  /**
   * As `mapValuesAsync`, with any number of values out of one: none drops the record.
   *
   * @example
   * orders.flatMapValuesAsync(async (order) => ((await isFraud(order)) ? [] : [order]), { name: 'fraud-check' });
   */
  flatMapValuesAsync<VR extends Given<VR>>(
    mapper: AsyncMapper<K, V, Iterable<VR>>,
    options?: AsyncValueOptions<K, V, NoInfer<VR>>,
  ): KStream<K, VR>;

  /**
   * As `mapAsync`, with any number of records out of one.
   *
   * @example
   * pages.flatMapAsync(async (url) => (await linksOf(url)).map((link) => [link, url] as const), { name: 'links' });
   */
  flatMapAsync<KR extends Given<KR>, VR extends Given<VR>>(
    mapper: AsyncMapper<K, V, Iterable<readonly [KR, VR]>>,
    options?: AsyncRecordOptions<K, V, NoInfer<KR>, NoInfer<VR>>,
  ): KStream<KR, VR>;

  /**
   * Joins each record with a row that lies outside of Kafka: `lookup` asks a service or a database for it (Flink's lookup join). Records without a row, or without a key to look
   * up, are dropped.
   *
   * Calls are as those of `mapValuesAsync`, with its options and guarantees. Records of a task that ask for a key while it is being asked for share one call, and its failure.
   * With `cache` what was found is used again until its time is over, also that there is no row; the cache lies in a store of the operator, so it is there after a crash or a move.
   * Each task has a cache of its own: bring the records of a key into one task first (`selectKey` and `repartition`) where each key is to be asked for once in all of them.
   *
   * @param lookup finds the row of a key; null or undefined: there is none
   * @param joiner makes the result out of the record's value and the row
   * @throws MILL_TOPOLOGY_INVALID when an option is out of range, or `keyOf` is missing
   * @example
   * orders.lookupJoin(
   *   (productId: string, { signal }) => fetchProduct(productId, { signal }),
   *   (order, product) => ({ ...order, name: product.name }),
   *   { name: 'with-product', keyOf: (order) => order.productId, cache: { ttl: 600_000 }, retry: { attempts: 3 } },
   * );
   */
  lookupJoin<KL, VL, VR extends Given<VR>>(
    lookup: Lookup<KL, VL>,
    joiner: TableJoiner<K, V, VL, VR>,
    options: LookupJoinOptions<K, V, KL, NoInfer<VL>, NoInfer<VR>>,
  ): KStream<K, VR>;

  /**
   * As `lookupJoin`, but records without a row, or without a key to look up, are joined with null.
   *
   * @example
   * orders.leftLookupJoin(fetchProduct, (order, product) => ({ ...order, name: product?.name ?? 'unknown' }), { keyOf: (order) => order.productId });
   */
  leftLookupJoin<KL, VL, VR extends Given<VR>>(
    lookup: Lookup<KL, VL>,
    joiner: TableJoiner<K, V, VL | null, VR>,
    options: LookupJoinOptions<K, V, KL, NoInfer<VL>, NoInfer<VR>>,
  ): KStream<K, VR>;

  /**
   * Hands each record to a processor of your own in two steps: `call`, of which many run side by side, and then, in the record's turn, `process` with what the call
   * gave: stores, timers and `forward` belong there. Options and guarantees as for `mapValuesAsync`; with `order: 'perKey'` the next `call` of a key begins after
   * `process` has ended for the record before it. Grouping or joining the result repartitions it.
   *
   * @param supplier makes a new processor at each call: every task has its own (two more are made, and left unused, to check that)
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice, or an option is out of range
   * @example
   * payments.processAsync(() => new ChargeCard(), { name: 'charge', stores: ['receipts'], order: 'perKey' });
   */
  processAsync<R, KR, VR>(supplier: () => AsyncProcessor<K, V, R, KR, VR>, options?: AsyncProcessOptions<K, V, KR, VR>): KStream<KR, VR>;

  /**
   * As `process`, but the processor can't change the key, so that grouping or joining the result repartitions nothing.
   *
   * @param supplier makes a new processor at each call: every task has its own (two more are made, and left unused, to check that)
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice
   * @example
   * const totals = stores.keyValue({ name: 'totals', keySerde: serdes.string, valueSerde: serdes.double });
   * orders.processValues(() => new RunningTotal(), { name: 'running-total', stores: [totals], valueSerde: serdes.double });
   */
  processValues<VR>(supplier: () => FixedKeyProcessor<K, V, VR>, options?: ProcessValuesOptions<VR>): KStream<K, VR>;
}
