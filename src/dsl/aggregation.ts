/** What count, reduce and aggregate have in common, windowed or not: a store, perhaps a repartition before it, and a table as the result. */
import type { OperatorSupplier } from '../processors/operator.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreSpec } from '../stores/store.js';
import { checkedName } from './checked-name.js';
import type { DslContext } from './dsl-context.js';
import { statefulNode } from './graph/stateful-node.js';
import type { GroupedState } from './grouped-state.js';
import type { KTable } from './ktable.js';
import { addLateOutput } from './late-output.js';
import type { LateOption, MaterializedOptions, NamedOptions } from './options.js';
import { storedView } from './table-view.js';

export interface Aggregation<K, V, KR, VR> {
  readonly grouped: GroupedState<K, V>;
  readonly operatorPrefix: string;
  readonly options: NamedOptions & { readonly materialized?: MaterializedOptions<K, VR> };
  readonly store: StoreSpec;
  readonly supplier: OperatorSupplier;
  readonly keySerde: Serde<KR> | null;
  readonly valueSerde: Serde<VR> | null;
  /** Windows only: how long after its end a window may still change, ms. */
  readonly windowGrace?: number;
  readonly late?: LateOption<K, V>;
}

/** The store's name must have been taken before: Kafka Streams numbers store, operator, repartition in that order. */
export function addAggregation<K, V, KR, VR>(context: DslContext, aggregation: Aggregation<K, V, KR, VR>): KTable<KR, VR> {
  const { grouped, operatorPrefix, options, store, supplier, keySerde, valueSerde } = aggregation;
  const { graph } = context;
  const name = graph.nameOr(checkedName(options), operatorPrefix);
  const { parent, sources } = grouped.inputFor(graph, store.name);
  const node = statefulNode(name, supplier, store);
  graph.add(node, [parent]);
  if (aggregation.windowGrace !== undefined) graph.windowGraces.set(node, aggregation.windowGrace);
  addLateOutput(context, aggregation.late, store.name, [node], {
    keySerde: grouped.fields.keySerde,
    valueSerde: grouped.fields.valueSerde,
    sources,
  });
  const view = storedView<KR, VR>(graph, node);
  return context.table({ name, keySerde, valueSerde, sources, queryableStoreName: options.materialized?.storeName ?? null, node, view });
}
