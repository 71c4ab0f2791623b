import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import { changeSerde } from '../processors/change-serde.js';
import type { AggregationTable } from '../processors/table-operator.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { tableAggregateOperator, tableCountOperator } from '../processors/table-aggregate.js';
import { tableReduceOperator } from '../processors/table-reduce.js';
import { tableRegroupOperator } from '../processors/table-regroup.js';
import type { Aggregator, Initializer, Reducer, TableGrouper } from '../processors/user-functions.js';
import { countSerde } from '../serdes/count.js';
import { serdeOver } from '../serdes/late-serde.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import { checkResourceName } from '../topology/resource-name.js';
import { requireFunction } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import { operatorNode } from './graph/operator-node.js';
import type { OperatorNode } from './graph/operator-node.js';
import { statefulNode } from './graph/stateful-node.js';
import { tableRepartitionNode, type TableRepartitionNode } from './graph/table-repartition-node.js';
import type { KGroupedTable } from './kgrouped-table.js';
import type { KTable } from './ktable.js';
import { tableStore } from './materialize.js';
import type { GroupedOptions, TableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { storedView } from './table-view.js';

/** The groups need to know what each row was: a source table gets a store by this. */
export function groupTable<K, V, KR, VR>(
  context: DslContext,
  table: TableState<K, V>,
  mapper: TableGrouper<K, V, KR, VR>,
  options: GroupedOptions<KR, VR>,
): KGroupedTable<KR, VR> {
  const { graph } = context;
  const name = graph.nameOr(checkedName(options), prefix.tableSelect);
  table.view.sendOldValues(true);
  const node = operatorNode(name, tableRegroupOperator({ mapper, versioned: table.view.versioned }));
  graph.add(node, [table.node]);
  return new KGroupedTableImpl(context, node, options);
}

class KGroupedTableImpl<K, V> implements KGroupedTable<K, V> {
  readonly #context: DslContext;
  readonly #node: OperatorNode;
  readonly #options: GroupedOptions<K, V>;
  #repartition: TableRepartitionNode | null = null;

  constructor(context: DslContext, node: OperatorNode, options: GroupedOptions<K, V>) {
    this.#context = context;
    this.#node = node;
    this.#options = options;
  }

  count(options: TableOptions<K, number> = {}): KTable<K, number> {
    checkOptions('count', options, shapes.table);
    return this.#add(prefix.tableAggregate, options, countSerde, tableCountOperator);
  }

  reduce(adder: Reducer<K, V>, subtractor: Reducer<K, V>, options: TableOptions<K, V> = {}): KTable<K, V> {
    checkOptions('reduce', options, shapes.table);
    requireFunction('reduce: the adder', adder);
    requireFunction('reduce: the subtractor', subtractor);
    const valueSerde = serdeOf(this.#options.valueSerde) ?? null;
    return this.#add(prefix.tableReduce, options, valueSerde, (common) =>
      tableReduceOperator({
        ...common,
        adder: defined('reduce: the adder', adder),
        subtractor: defined('reduce: the subtractor', subtractor),
      }),
    );
  }

  aggregate<A>(
    initializer: Initializer<A>,
    adder: Aggregator<K, V, A>,
    subtractor: Aggregator<K, V, A>,
    options: TableOptions<K, A> = {},
  ): KTable<K, A> {
    checkOptions('aggregate', options, shapes.table);
    requireFunction('aggregate: the initializer', initializer);
    requireFunction('aggregate: the adder', adder);
    requireFunction('aggregate: the subtractor', subtractor);
    return this.#add(prefix.tableAggregate, options, null, (common) =>
      tableAggregateOperator({
        ...common,
        initializer: defined('aggregate: the initializer', initializer),
        adder: defined('aggregate: the adder', adder),
        subtractor: defined('aggregate: the subtractor', subtractor),
      }),
    );
  }

  #add<VR>(
    operatorPrefix: string,
    options: TableOptions<K, VR>,
    carriedValueSerde: Serde<VR> | null,
    supplierOf: (common: AggregationTable) => OperatorSupplier,
  ): KTable<K, VR> {
    const { graph } = this.#context;
    const { materialized, emit } = options;
    const keySerde = serdeOf(materialized?.keySerde) ?? serdeOf(this.#options.keySerde) ?? null;
    const valueSerde = serdeOf(materialized?.valueSerde) ?? carriedValueSerde;
    // Kafka Streams names the store of a reduce after the aggregations too.
    const store = tableStore(graph, prefix.tableAggregate, materialized, { keySerde, valueSerde }, options);
    const given = checkedName(options);
    const repartition = this.#repartitionFor(given, store.name);
    const name = graph.nameOr(given, operatorPrefix);
    graph.add(repartition, [this.#node]);
    const node = statefulNode(name, supplierOf({ storeName: store.name, emit: emit ?? null, valueSerde: store.valueSerde }), store);
    graph.add(node, [repartition]);
    return this.#context.table({
      name,
      keySerde,
      valueSerde,
      sources: [repartition.name],
      queryableStoreName: materialized?.storeName ?? null,
      node,
      view: storedView<K, VR>(graph, node),
    });
  }

  /** Aggregations of a named grouping share one repartition topic; without a name each has its own, named after its store. */
  #repartitionFor(given: string | undefined, storeName: string): TableRepartitionNode {
    const { graph } = this.#context;
    const keySerde = serdeOf(this.#options.keySerde) ?? null;
    const valueSerde = serdeOf(this.#options.valueSerde) ?? null;
    const sinkName = graph.nameOr(given === undefined ? undefined : `${given}-sink`, prefix.sink);
    const name = graph.nameOr(given === undefined ? undefined : `${given}-source`, prefix.streamSource);
    const namedAfter = this.#options.name ?? storeName;
    if (this.#repartition !== null && this.#options.name !== undefined) return this.#repartition;
    this.#repartition = tableRepartitionNode({
      name,
      sinkName,
      topic: checkResourceName(`${namedAfter}-repartition`, 'repartition topic'),
      keySerde,
      valueSerde: serdeOver(valueSerde, changeSerde, 'value', 'change(default)'),
      namedAfter,
    });
    return this.#repartition;
  }
}
