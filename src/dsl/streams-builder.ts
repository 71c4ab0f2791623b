import { checkOptions, oneOf, type ShapeOf } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import type { Logger } from '../observability/logger.js';
import { loggerOption, silentLogger } from '../observability/logger.js';
import { checkedSupplier } from '../processors/checked-supplier.js';
import type { Processor } from '../processors/processor.js';
import type { StoreSpec } from '../stores/store.js';
import type { ExecutionMode, Topology } from '../topology/nodes.js';
import type { SourceOptions } from '../topology/source-node.js';
import { requireTopic, requireTopics } from '../topology/topic-arguments.js';
import { checkedName } from './checked-name.js';
import type { GlobalKTable } from './global-ktable.js';
import type { ExplicitNames } from './graph/explicit-names.js';
import { checkExplicitNames } from './graph/explicit-names.js';
import { globalTableNode } from './graph/global-table-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { streamSourceNode } from './graph/stream-source-node.js';
import { tableSourceNode } from './graph/table-source-node.js';
import type { Optimization } from './graph/write-graph.js';
import { optimizationsOption, writeGraph } from './graph/write-graph.js';
import { Handles } from './handles.js';
import type { KStream } from './kstream.js';
import type { KTable } from './ktable.js';
import { addLateOutput, versionedLate } from './late-output.js';
import { tableStore } from './materialize.js';
import type { ConsumedOptions, GlobalConsumedOptions, GlobalTableOptions, NamedOptions, SourceTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { storedView } from './table-view.js';
import { serdeOf } from '../serdes/serde-for.js';

/** For `builder.build`. */
export interface BuildOptions {
  /** What may be left out of the topology. Default: nothing. */
  readonly optimizations?: readonly Optimization[];
  /**
   * `batch`: each `toStream` of a table tells the last row of each key, and windows with `allowedLateness` their last result, once, at the end of a bounded run, unless what is behind them has state or works in time;
   * the app is run with `runUntilEnd`. The relation is the same. Default `streaming`.
   */
  readonly mode?: ExecutionMode;
  /** What to do when a store or an internal topic has a generated name, which changes when the topology does. Default `off`. */
  readonly explicitNames?: ExplicitNames;
  /** Gets the warning of `explicitNames: 'warn'`. Default: nobody. */
  readonly logger?: Logger;
}

const buildShape = {
  optimizations: optimizationsOption,
  mode: oneOf('streaming', 'batch'),
  explicitNames: oneOf('require', 'warn', 'off'),
  logger: loggerOption,
} satisfies ShapeOf<BuildOptions>;

/**
 * Declares a topology: streams and tables out of topics, operators on them, topics for the results.
 *
 * @example
 * const builder = new StreamsBuilder();
 * builder
 *   .stream('lines', { keySerde: serdes.string, valueSerde: serdes.string })
 *   .flatMapValues((line) => line.toLowerCase().match(/\p{L}+/gu) ?? [], { valueSerde: serdes.string })
 *   .groupBy((word) => word, { name: 'by-word', keySerde: serdes.string })
 *   .count({ materialized: { storeName: 'word-counts' } })
 *   .toStream()
 *   .to('word-counts');
 * const topology = builder.build();
 */
export class StreamsBuilder {
  readonly #handles = new Handles();

  /**
   * The records of a topic, of several, or of all topics whose whole name a pattern matches.
   *
   * @throws MILL_TOPOLOGY_INVALID when the name is not allowed or there is no topic
   * @example
   * builder.stream('orders', { keySerde: serdes.string, valueSerde: serdes.json<Order>() });
   * builder.stream(['orders-eu', 'orders-us']);
   * builder.stream(/orders-.+/);
   */
  stream<K = unknown, V = unknown>(topics: string | readonly string[] | RegExp, options: ConsumedOptions<K, V> = {}): KStream<K, V> {
    checkOptions('stream', options, shapes.consumed);
    requireTopics('stream: the topic', topics);
    const { graph } = this.#handles;
    const name = graph.nameOr(checkedName(options), prefix.streamSource);
    const node = streamSourceNode(name, typeof topics === 'string' ? [topics] : topics, sourceOptions(options));
    graph.add(node);
    const { keySerde = null, valueSerde = null } = options;
    return this.#handles.stream({ name, keySerde, valueSerde, sources: [name], repartitionRequired: false, node });
  }

  /**
   * A topic as a changing table: the latest value of each key, null deletes. It gets a store when `materialized.storeName` is given or an operator needs it.
   *
   * @example
   * builder.table('customers', { keySerde: serdes.string, valueSerde: serdes.json<Customer>(), materialized: { storeName: 'customers' } });
   */
  table<K = unknown, V = unknown>(topic: string, options: SourceTableOptions<K, V> = {}): KTable<K, V> {
    checkOptions('table', options, shapes.sourceTable);
    requireTopic('table: the topic', topic);
    const { graph } = this.#handles;
    const { materialized, emit, late } = options;
    const keySerde = options.keySerde ?? serdeOf(materialized?.keySerde) ?? null;
    const valueSerde = options.valueSerde ?? serdeOf(materialized?.valueSerde) ?? null;
    const store = tableStore(graph, `${topic}-`, materialized, { keySerde, valueSerde }, options);
    const { sourceName, name } = tableNames(graph, options);
    const node = tableSourceNode({
      name,
      sourceName,
      topic,
      source: sourceOptions({ ...options, keySerde, valueSerde }),
      store,
      emit: emit ?? null,
      late: versionedLate(late, store),
    });
    graph.add(node);
    addLateOutput(this.#handles, late, store.name, [node], {
      keySerde,
      valueSerde,
      sources: [sourceName],
    });
    return this.#handles.table({
      name,
      keySerde,
      valueSerde,
      sources: [sourceName],
      queryableStoreName: materialized?.storeName ?? null,
      node,
      view: storedView<K, V>(graph, node),
    });
  }

  /**
   * All of a topic as a table in every instance, to be joined by any key.
   *
   * @example
   * builder.globalTable('airports', { keySerde: serdes.string, valueSerde: serdes.json<Airport>(), materialized: { storeName: 'airports' } });
   */
  globalTable<K = unknown, V = unknown>(topic: string, options: GlobalTableOptions<K, V> = {}): GlobalKTable<K, V> {
    checkOptions('globalTable', options, shapes.globalTable);
    requireTopic('globalTable: the topic', topic);
    const { graph } = this.#handles;
    const { materialized } = options;
    const keySerde = options.keySerde ?? serdeOf(materialized?.keySerde) ?? null;
    const valueSerde = options.valueSerde ?? serdeOf(materialized?.valueSerde) ?? null;
    const store = tableStore(graph, `${topic}-`, { ...materialized, logged: false }, { keySerde, valueSerde }, { emit: 'onUpdate' });
    const { sourceName, name } = tableNames(graph, options);
    const source = sourceOptions({ ...options, keySerde, valueSerde });
    const node = globalTableNode({ name, sourceName, topic, source, store, processor: null });
    graph.add(node);
    return this.#handles.globalTable(node);
  }

  /**
   * All of a topic in a store of every instance, as a processor of yours writes it: any kind of store, any form of rows. Every processor may read it. The processor runs once an
   * instance; it has the store, and neither children nor timers. It sees the whole topic again at each start.
   *
   * @throws MILL_TOPOLOGY_INVALID when the supplier gives the same object twice
   * @example
   * const prices = stores.keyValue({ name: 'prices', keySerde: serdes.string, valueSerde: serdes.double });
   * builder.addGlobalStore(prices, 'price-changes', () => new PriceRows(), { keySerde: serdes.string, valueSerde: serdes.json<PriceChange>() });
   */
  addGlobalStore<K, V>(spec: StoreSpec, topic: string, supplier: () => Processor<K, V>, options: GlobalConsumedOptions<K, V> = {}): this {
    checkOptions('addGlobalStore', options, shapes.globalStore);
    requireTopic('addGlobalStore: the topic', topic);
    const { graph } = this.#handles;
    const { sourceName, name } = tableNames(graph, options);
    checkedSupplier(name, supplier);
    const store = Object.freeze({ ...spec, logged: false });
    graph.add(globalTableNode({ name, sourceName, topic, source: sourceOptions(options), store, processor: supplier }));
    return this;
  }

  /**
   * A store for processors, which name it in the `stores` option of `process`.
   *
   * @example
   * builder.addStateStore(stores.keyValue({ name: 'seen', keySerde: serdes.string, valueSerde: serdes.boolean }));
   */
  addStateStore(spec: StoreSpec): this {
    this.#handles.graph.addStore(spec);
    return this;
  }

  /**
   * The topology that was declared so far, frozen.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME, MILL_TOPOLOGY_UNKNOWN_STORE, MILL_TOPOLOGY_STORE_NOT_CONNECTED, MILL_TOPOLOGY_NOT_COPARTITIONED,
   * MILL_TOPOLOGY_NAME_REQUIRED (with `explicitNames: 'require'`, naming all operators that lack a name), MILL_TOPOLOGY_INVALID.
   * @example
   * console.log(builder.build({ explicitNames: 'require' }).describe());
   */
  build(options: BuildOptions = {}): Topology {
    checkOptions('build', options, buildShape);
    const { explicitNames = 'off', logger = silentLogger, optimizations = [], mode = 'streaming' } = options;
    checkExplicitNames(this.#handles.graph, mode, explicitNames, logger);
    return writeGraph(this.#handles.graph, optimizations, mode);
  }
}

function tableNames(graph: StreamGraph, options: NamedOptions): { readonly sourceName: string; readonly name: string } {
  const given = checkedName(options);
  const sourceName = graph.nameOr(given === undefined ? undefined : `${given}-source`, prefix.streamSource);
  return { sourceName, name: graph.nameOr(given, prefix.tableSource) };
}

interface SourceFields {
  readonly keySerde?: SourceOptions['keySerde'];
  readonly valueSerde?: SourceOptions['valueSerde'];
  readonly timestampExtractor?: SourceOptions['timestampExtractor'];
  readonly offsetReset?: SourceOptions['offsetReset'];
  readonly watermarks?: SourceOptions['watermarks'];
}

function sourceOptions({
  keySerde = null,
  valueSerde = null,
  timestampExtractor = null,
  offsetReset = null,
  watermarks = null,
}: SourceFields): SourceOptions {
  return Object.freeze({ keySerde, valueSerde, timestampExtractor, offsetReset, watermarks });
}
