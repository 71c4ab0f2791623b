import { eachPair, eachValue, onlyPair, onlyValue } from '../processors/async/mapped-pairs.js';
import { AsyncMapperWork, AsyncProcessorWork, type AsyncProcessor } from '../processors/async/async-processor.js';
import { checkedSupplier } from '../processors/checked-supplier.js';
import { defined } from '../processors/defined-result.js';
import { checkOptions, requireOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import { filterOperator } from '../processors/filter.js';
import { flatMapValuesOperator } from '../processors/flat-map-values.js';
import { flatMapOperator } from '../processors/flat-map.js';
import { foreachOperator } from '../processors/foreach.js';
import { mapValuesOperator } from '../processors/map-values.js';
import { mapOperator } from '../processors/map.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { passThroughOperator } from '../processors/pass-through.js';
import { peekOperator } from '../processors/peek.js';
import type { FixedKeyProcessor, Processor } from '../processors/processor.js';
import type { RecordMeta } from '../processors/record-meta.js';
import { selectKeyOperator } from '../processors/select-key.js';
import type { TableJoinKind } from '../processors/table-table-join.js';
import type {
  FlatRecordMapper,
  FlatValueMapper,
  GlobalTableJoiner,
  Predicate,
  RecordAction,
  RecordMapper,
  RowJoiner,
  TableJoiner,
  ValueMapper,
} from '../processors/user-functions.js';
import type { TopicNameExtractor } from '../topology/nodes.js';
import { requireTopicOrFunction } from '../topology/topic-arguments.js';
import { addAsync } from './async.js';
import type { AsyncMapper, AsyncProcessOptions, AsyncRecordOptions, AsyncValueOptions, LookupJoinOptions } from './async-options.js';
import { addLookupJoin } from './lookup-join.js';
import type { Lookup } from '../processors/lookup/lookup-work.js';
import { BranchedKStreamImpl } from './branched-kstream-impl.js';
import type { BranchedKStream } from './branched-kstream.js';
import { broadcastStream, connectStream } from './broadcast.js';
import type { BroadcastConnectedStream, BroadcastOptions, BroadcastStream } from './broadcast-stream.js';
import { requireFunction, requireKind } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext, StreamState } from './dsl-context.js';
import type { GlobalKTable } from './global-ktable.js';
import type { AsyncNode } from './graph/async-node.js';
import type { OperatorNode } from './graph/operator-node.js';
import { operatorNode } from './graph/operator-node.js';
import { sinkGraphNode } from './graph/sink-graph-node.js';
import { GroupedState } from './grouped-state.js';
import { KeyedStreamImpl } from './keyed-stream-impl.js';
import type { KeyedStream } from './keyed-stream.js';
import type { KGroupedStream } from './kgrouped-stream.js';
import type { GlobalJoinOptions, KStream, TopicOf } from './kstream.js';
import type { KTable } from './ktable.js';
import { printing } from './print.js';
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
import { prefix } from './prefixes.js';
import { addOperatorStates, storeNamesOf } from './operator-state-stores.js';
import { addProcess, addProcessValues } from './process.js';
import { newRepartition } from './repartition.js';
import { joinGlobalTable } from './stream-global-table-join.js';
import type { StreamRepartition } from './stream-repartition.js';
import { joinStreams } from './stream-stream-join.js';
import { joinTable } from './stream-table-join.js';
import { addToTable } from './to-table.js';
import { windowedKeyPartitioner } from './windowed-keys.js';
import { serdeOf } from '../serdes/serde-for.js';

type AnyJoinOptions<K, V, KT, VT, VR> = JoinedOptions<K, V, VR> | GlobalJoinOptions<K, V, KT, VR> | StreamJoinOptions<K, V, VT, VR>;

/** The options of a join, by what a stream is joined with. */
const joinShapes = { stream: shapes.streamJoin, table: shapes.tableJoin, globalTable: shapes.globalJoin };

export class KStreamImpl<K, V> implements KStream<K, V> {
  readonly kind = 'stream';
  readonly #context: DslContext;
  readonly #state: StreamState<K, V>;
  readonly #repartition: StreamRepartition<K, V>;

  constructor(context: DslContext, state: StreamState<K, V>, repartition: StreamRepartition<K, V>) {
    this.#context = context;
    this.#state = state;
    this.#repartition = repartition;
  }

  filter<VR extends V>(predicate: (value: V, key: K, meta: RecordMeta) => value is VR, options?: NamedOptions): KStream<K, VR>;
  filter(predicate: Predicate<K, V>, options?: NamedOptions): KStream<K, V>;
  filter(predicate: Predicate<K, V>, options: NamedOptions = {}): KStream<K, V> {
    requireFunction('filter: the predicate', predicate);
    checkOptions('filter', options, shapes.named);
    return this.#same(this.#operator(prefix.filter, options, filterOperator(predicate, false)));
  }

  filterNot(predicate: Predicate<K, V>, options: NamedOptions = {}): KStream<K, V> {
    checkOptions('filterNot', options, shapes.named);
    requireFunction('filterNot: the predicate', predicate);
    return this.#same(this.#operator(prefix.filter, options, filterOperator(predicate, true)));
  }

  map<KR, VR>(mapper: RecordMapper<K, V, KR, VR>, options: RecordOptions<KR, VR> = {}): KStream<KR, VR> {
    checkOptions('map', options, shapes.record);
    requireFunction('map: the mapper', mapper);
    return this.#rekeyed(this.#operator(prefix.map, options, mapOperator(mapper)), options);
  }

  mapValues<VR>(mapper: ValueMapper<K, V, VR>, options: ValueOptions<VR> = {}): KStream<K, VR> {
    checkOptions('mapValues', options, shapes.valued);
    requireFunction('mapValues: the mapper', mapper);
    return this.#revalued(this.#operator(prefix.mapValues, options, mapValuesOperator(mapper)), options);
  }

  flatMap<KR, VR>(mapper: FlatRecordMapper<K, V, KR, VR>, options: RecordOptions<KR, VR> = {}): KStream<KR, VR> {
    checkOptions('flatMap', options, shapes.record);
    requireFunction('flatMap: the mapper', mapper);
    return this.#rekeyed(this.#operator(prefix.flatMap, options, flatMapOperator(mapper)), options);
  }

  flatMapValues<VR>(mapper: FlatValueMapper<K, V, VR>, options: ValueOptions<VR> = {}): KStream<K, VR> {
    checkOptions('flatMapValues', options, shapes.valued);
    requireFunction('flatMapValues: the mapper', mapper);
    return this.#revalued(this.#operator(prefix.flatMapValues, options, flatMapValuesOperator(mapper)), options);
  }

  selectKey<KR>(mapper: ValueMapper<K, V, KR>, options: KeyOptions<KR> = {}): KStream<KR, V> {
    checkOptions('selectKey', options, shapes.keyed);
    requireFunction('selectKey: the mapper', mapper);
    const node = this.#operator(prefix.selectKey, options, selectKeyOperator(mapper));
    return this.#rekeyed(node, { keySerde: serdeOf(options.keySerde), valueSerde: this.#state.valueSerde ?? undefined });
  }

  peek(action: RecordAction<K, V>, options: NamedOptions = {}): KStream<K, V> {
    checkOptions('peek', options, shapes.named);
    requireFunction('peek: the action', action);
    return this.#same(this.#operator(prefix.peek, options, peekOperator(action)));
  }

  foreach(action: RecordAction<K, V>, options: NamedOptions = {}): void {
    checkOptions('foreach', options, shapes.named);
    requireFunction('foreach: the action', action);
    this.#operator(prefix.foreach, options, foreachOperator(action));
  }

  print(options: PrintOptions = {}): void {
    checkOptions('print', options, shapes.print);
    this.#operator(prefix.print, options, foreachOperator(printing(this.#state.name, options)));
  }

  split(options: NamedOptions = {}): BranchedKStream<K, V> {
    checkOptions('split', options, shapes.named);
    return new BranchedKStreamImpl(this.#context, this.#state, options) as BranchedKStream<K, V>;
  }

  merge<V2>(other: KStream<K, V2>, options: NamedOptions = {}): KStream<K, V | V2> {
    checkOptions('merge', options, shapes.named);
    const that = this.#context.streamState(other);
    const node = operatorNode(this.#context.graph.nameOr(checkedName(options), prefix.merge), passThroughOperator());
    this.#context.graph.add(node, [this.#state.node, that.node]);
    return this.#context.stream<K, V | V2>({
      name: node.name,
      keySerde: this.#state.keySerde === that.keySerde ? this.#state.keySerde : null,
      valueSerde: null,
      sources: [...new Set([...this.#state.sources, ...that.sources])],
      repartitionRequired: this.#state.repartitionRequired || that.repartitionRequired,
      node,
    });
  }

  repartition(options: RepartitionedOptions<K, V> = {}): KStream<K, V> {
    checkOptions('repartition', options, shapes.repartitioned);
    const { graph } = this.#context;
    const keySerde = serdeOf(options.keySerde) ?? this.#state.keySerde;
    const valueSerde = serdeOf(options.valueSerde) ?? this.#state.valueSerde;
    const namedAfter = checkedName(options) ?? graph.newName(prefix.repartition);
    const { partitions, partitioner } = options;
    const node = newRepartition(graph, { namedAfter, keySerde, valueSerde, partitions, partitioner, explicit: true });
    graph.add(node, [this.#state.node]);
    return this.#context.stream({ name: node.name, keySerde, valueSerde, sources: [node.name], repartitionRequired: false, node });
  }

  toTable(options: StreamTableOptions<K, V> = {}): KTable<K, V> {
    checkOptions('toTable', options, shapes.streamTable);
    return addToTable(this.#context, this.#state, options);
  }

  to(topic: string | TopicOf<K, V>, options: ProducedOptions<K, V> = {}): void {
    checkOptions('to', options, shapes.produced);
    requireTopicOrFunction('to: the topic', topic);
    const { graph } = this.#context;
    const keySerde = serdeOf(options.keySerde) ?? this.#state.keySerde;
    const valueSerde = serdeOf(options.valueSerde) ?? this.#state.valueSerde;
    const partitioner = options.partitioner ?? windowedKeyPartitioner(keySerde);
    const name = graph.nameOr(checkedName(options), prefix.sink);
    graph.add(sinkGraphNode(name, typeof topic === 'string' ? topic : extractorOf(topic), { keySerde, valueSerde, partitioner }), [
      this.#state.node,
    ]);
  }

  groupBy<KR>(mapper: ValueMapper<K, V, KR>, options: GroupedByOptions<KR, V> = {}): KGroupedStream<KR, V> {
    checkOptions('groupBy', options, shapes.grouped);
    requireFunction('groupBy: the mapper', mapper);
    return this.#context.groupedStream(this.#groupedBy(mapper, options));
  }

  groupByKey(options: GroupedOptions<K, V> = {}): KGroupedStream<K, V> {
    checkOptions('groupByKey', options, shapes.grouped);
    return this.#context.groupedStream(this.#groupedByKey(options));
  }

  keyBy(options?: GroupedOptions<K, V>): KeyedStream<K, V>;
  keyBy<KR>(mapper: ValueMapper<K, V, KR>, options?: GroupedByOptions<KR, V>): KeyedStream<KR, V>;
  keyBy<KR>(first: ValueMapper<K, V, KR> | GroupedOptions<K, V> = {}, options: GroupedByOptions<KR, V> = {}): unknown {
    checkOptions('keyBy', typeof first === 'function' ? options : first, shapes.grouped);
    if (typeof first !== 'function') return new KeyedStreamImpl(this.#context, this.#groupedByKey(first));
    return new KeyedStreamImpl(this.#context, this.#groupedBy(first, options));
  }

  join<KT, VT, VR>(
    other: KStream<K, VT> | KTable<K, VT> | GlobalKTable<KT, VT>,
    joiner: GlobalTableJoiner<K, V, never, never, unknown>,
    options: AnyJoinOptions<K, V, KT, VT, VR> = {},
  ): KStream<K, VR> {
    requireKind('join', other, ['stream', 'table', 'globalTable']);
    requireFunction('join: the joiner', joiner);
    checkOptions('join', options, joinShapes[other.kind]);
    if (other.kind === 'stream')
      return this.#joinedStream(other, 'inner', defined('join: the joiner', joiner as RowJoiner<K, V, VT, VR>), options);
    return this.#joined(other, defined('join: the joiner', joiner as TableJoiner<K, V, VT | null, VR>), options, false);
  }

  leftJoin<KT, VT, VR>(
    other: KStream<K, VT> | KTable<K, VT> | GlobalKTable<KT, VT>,
    joiner: GlobalTableJoiner<K, V, never, never, unknown>,
    options: AnyJoinOptions<K, V, KT, VT, VR> = {},
  ): KStream<K, VR> {
    requireKind('leftJoin', other, ['stream', 'table', 'globalTable']);
    requireFunction('leftJoin: the joiner', joiner);
    checkOptions('leftJoin', options, joinShapes[other.kind]);
    if (other.kind === 'stream')
      return this.#joinedStream(other, 'left', defined('leftJoin: the joiner', joiner as RowJoiner<K, V, VT, VR>), options);
    return this.#joined(other, defined('leftJoin: the joiner', joiner as TableJoiner<K, V, VT | null, VR>), options, true);
  }

  outerJoin<VO, VR>(other: KStream<K, VO>, joiner: RowJoiner<K, V, VO, VR>, options: StreamJoinOptions<K, V, VO, VR>): KStream<K, VR> {
    requireKind('outerJoin', other, ['stream']);
    requireFunction('outerJoin: the joiner', joiner);
    checkOptions('outerJoin', options, shapes.streamJoin);
    return this.#joinedStream(other, 'outer', defined('outerJoin: the joiner', joiner), options);
  }

  broadcast(options: BroadcastOptions<K, V>): BroadcastStream<K, V> {
    return broadcastStream(this.#context, this.#state, options);
  }

  connect<KB, VB>(broadcast: BroadcastStream<KB, VB>): BroadcastConnectedStream<K, V, KB, VB> {
    return connectStream(this.#context, this.#state, broadcast);
  }

  process<KR, VR>(supplier: () => Processor<K, V, KR, VR>, options: ProcessOptions<KR, VR> = {}): KStream<KR, VR> {
    checkOptions('process', options, shapes.process);
    requireFunction('process: the supplier', supplier);
    return this.#rekeyed(addProcess(this.#context.graph, this.#state.node, supplier, options), options);
  }

  lookupJoin<KL, VL, VR>(
    lookup: Lookup<KL, VL>,
    joiner: TableJoiner<K, V, VL, VR>,
    options: LookupJoinOptions<K, V, KL, VL, VR>,
  ): KStream<K, VR> {
    // Only records with a row come to the joiner.
    return this.#lookedUp('lookupJoin', lookup, joiner as TableJoiner<K, V, VL | null, VR>, options);
  }

  leftLookupJoin<KL, VL, VR>(
    lookup: Lookup<KL, VL>,
    joiner: TableJoiner<K, V, VL | null, VR>,
    options: LookupJoinOptions<K, V, KL, VL, VR>,
  ): KStream<K, VR> {
    return this.#lookedUp('leftLookupJoin', lookup, joiner, options);
  }

  #lookedUp<KL, VL, VR>(
    what: 'lookupJoin' | 'leftLookupJoin',
    lookup: Lookup<KL, VL>,
    joiner: TableJoiner<K, V, VL | null, VR>,
    options: LookupJoinOptions<K, V, KL, VL, VR>,
  ): KStream<K, VR> {
    requireFunction(`${what}: the lookup`, lookup);
    requireFunction(`${what}: the joiner`, joiner);
    requireOptions(what, options, shapes.lookupJoin);
    requireFunction(`${what}: keyOf`, (options as { readonly keyOf?: unknown }).keyOf);
    return this.#revalued(addLookupJoin(this.#context.graph, this.#state, what, lookup, joiner, options), options);
  }

  mapValuesAsync<VR>(mapper: AsyncMapper<K, V, VR>, options: AsyncValueOptions<K, V, VR> = {}): KStream<K, VR> {
    checkOptions('mapValuesAsync', options, shapes.asyncValue);
    requireFunction('mapValuesAsync: the mapper', mapper);
    return this.#revalued(this.#async(prefix.mapValuesAsync, mapper, options, onlyValue), options);
  }

  mapAsync<KR, VR>(mapper: AsyncMapper<K, V, readonly [KR, VR]>, options: AsyncRecordOptions<K, V, KR, VR> = {}): KStream<KR, VR> {
    checkOptions('mapAsync', options, shapes.asyncRecord);
    requireFunction('mapAsync: the mapper', mapper);
    return this.#rekeyed(this.#async(prefix.mapAsync, mapper, options, onlyPair), options);
  }

  flatMapValuesAsync<VR>(mapper: AsyncMapper<K, V, Iterable<VR>>, options: AsyncValueOptions<K, V, VR> = {}): KStream<K, VR> {
    checkOptions('flatMapValuesAsync', options, shapes.asyncValue);
    requireFunction('flatMapValuesAsync: the mapper', mapper);
    return this.#revalued(this.#async(prefix.flatMapValuesAsync, mapper, options, eachValue), options);
  }

  flatMapAsync<KR, VR>(
    mapper: AsyncMapper<K, V, Iterable<readonly [KR, VR]>>,
    options: AsyncRecordOptions<K, V, KR, VR> = {},
  ): KStream<KR, VR> {
    checkOptions('flatMapAsync', options, shapes.asyncRecord);
    requireFunction('flatMapAsync: the mapper', mapper);
    return this.#rekeyed(this.#async(prefix.flatMapAsync, mapper, options, eachPair), options);
  }

  processAsync<R, KR, VR>(
    supplier: () => AsyncProcessor<K, V, R, KR, VR>,
    options: AsyncProcessOptions<K, V, KR, VR> = {},
  ): KStream<KR, VR> {
    checkOptions('processAsync', options, shapes.asyncProcess);
    requireFunction('processAsync: the supplier', supplier);
    const node = addAsync(this.#context.graph, this.#state, prefix.processAsync, options, (_nameOf, name) => {
      const checked = checkedSupplier(name, supplier, ['call', 'process']);
      const states = addOperatorStates(this.#context.graph, name, options.operatorStates);
      return { work: () => new AsyncProcessorWork(checked(), states), stores: storeNamesOf(states) };
    });
    return this.#rekeyed(node, options);
  }

  #async<R>(
    namePrefix: string,
    mapper: AsyncMapper<K, V, R>,
    options: AsyncValueOptions<K, V, unknown>,
    pairs: (result: R, key: K) => Iterable<readonly [unknown, unknown]>,
  ): AsyncNode {
    return addAsync(this.#context.graph, this.#state, namePrefix, options, () => ({ work: () => new AsyncMapperWork(mapper, pairs) }));
  }

  processValues<VR>(supplier: () => FixedKeyProcessor<K, V, VR>, options: ProcessValuesOptions<VR> = {}): KStream<K, VR> {
    checkOptions('processValues', options, shapes.processValues);
    requireFunction('processValues: the supplier', supplier);
    return this.#revalued(addProcessValues(this.#context.graph, this.#state.node, supplier, options), options);
  }

  #groupedBy<KR>(mapper: ValueMapper<K, V, KR>, options: GroupedByOptions<KR, V>): GroupedState<KR, V> {
    const node = this.#operator(prefix.selectKey, options, selectKeyOperator(mapper));
    this.#context.graph.keyChanging.add(node);
    return new GroupedState<KR, V>({
      keySerde: serdeOf(options.keySerde) ?? null,
      valueSerde: serdeOf(options.valueSerde) ?? this.#state.valueSerde,
      sources: this.#state.sources,
      repartitionRequired: true,
      node,
      givenName: options.name,
    });
  }

  #groupedByKey(options: GroupedOptions<K, V>): GroupedState<K, V> {
    const { sources, repartitionRequired, node } = this.#state;
    return new GroupedState<K, V>({
      keySerde: serdeOf(options.keySerde) ?? this.#state.keySerde,
      valueSerde: serdeOf(options.valueSerde) ?? this.#state.valueSerde,
      sources,
      repartitionRequired,
      node,
      givenName: checkedName(options),
    });
  }

  #joinedStream<KT, VO, VR>(
    other: KStream<K, VO>,
    kind: TableJoinKind,
    joiner: RowJoiner<K, V, VO, VR>,
    options: AnyJoinOptions<K, V, KT, VO, VR>,
  ): KStream<K, VR> {
    const state = this.#context.streamState(other);
    const right = { state, repartition: this.#context.repartitionOf(other) };
    const left = { state: this.#state, repartition: this.#repartition };
    return joinStreams(this.#context, left, right, kind, joiner, options as StreamJoinOptions<K, V, VO, VR>);
  }

  #joined<KT, VT, VR>(
    table: KTable<K, VT> | GlobalKTable<KT, VT>,
    joiner: TableJoiner<K, V, VT | null, VR>,
    options: JoinedOptions<K, V, VR> | GlobalJoinOptions<K, V, KT, VR>,
    left: boolean,
  ): KStream<K, VR> {
    if (table.kind === 'globalTable') {
      return joinGlobalTable(this.#context, this.#state, table, joiner, options as GlobalJoinOptions<K, V, KT, VR>, left);
    }
    return joinTable(this.#context, this.#state, this.#repartition, table, joiner, options, left);
  }

  #operator(namePrefix: string, options: NamedOptions, supplier: OperatorSupplier): OperatorNode {
    const node = operatorNode(this.#context.graph.nameOr(checkedName(options), namePrefix), supplier);
    this.#context.graph.add(node, [this.#state.node]);
    return node;
  }

  /** Keys and values as they were. */
  #same(node: OperatorNode): KStream<K, V> {
    return this.#context.stream({ ...this.#state, name: node.name, node });
  }

  /** New values under the same keys. */
  #revalued<VR>(node: OperatorNode | AsyncNode, options: ValueOptions<VR>): KStream<K, VR> {
    this.#context.graph.valueChanging.add(node);
    return this.#context.stream<K, VR>({ ...this.#state, name: node.name, valueSerde: serdeOf(options.valueSerde) ?? null, node });
  }

  /** New keys: equal ones may now lie in different partitions. */
  #rekeyed<KR, VR>(node: OperatorNode | AsyncNode, options: RecordOptions<KR, VR>): KStream<KR, VR> {
    this.#context.graph.keyChanging.add(node);
    const { sources } = this.#state;
    const keySerde = serdeOf(options.keySerde) ?? null;
    const valueSerde = serdeOf(options.valueSerde) ?? null;
    return this.#context.stream<KR, VR>({ name: node.name, keySerde, valueSerde, sources, repartitionRequired: true, node });
  }
}

/** Keeps the function's name, which `describe()` shows. */
function extractorOf<K, V>(topicOf: TopicOf<K, V>): TopicNameExtractor {
  const extractor: TopicNameExtractor = (key, value, source) => topicOf(value as V, key as K, source);
  return Object.defineProperty(extractor, 'name', { value: topicOf.name });
}
