/** `filter`, `filterNot`, `mapValues` and `transformValues` of a table: computed from the table, kept only under a given store name. */
import { checkedSupplier } from '../processors/checked-supplier.js';
import type { OperatorContext, OperatorSupplier } from '../processors/operator.js';
import { RecordMetaView } from '../processors/record-meta.js';
import { tableFilterOperator } from '../processors/table-filter.js';
import { mappedGetter, type TableGetterSupplier } from '../processors/table-getter.js';
import { tableMapValuesOperator } from '../processors/table-map-values.js';
import { tableTransformValuesOperator, transformedGetter } from '../processors/table-transform-values.js';
import type { TableTransformOptions } from '../processors/table-transform.js';
import type { Awaitable, Predicate, ValueMapper } from '../processors/user-functions.js';
import type { ValueTransformerSupplier } from '../processors/value-transformer.js';
import { isPromiseLike } from '../bytes/maybe-async.js';
import { serdeOf } from '../serdes/serde-for.js';
import type { Serde } from '../serdes/serde.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import { operatorNode } from './graph/operator-node.js';
import { statefulNode } from './graph/stateful-node.js';
import type { KTable } from './ktable.js';
import { checkResultsAreKept, checkVersionsAreKept, tableStore, versionsAllLeave } from './materialize.js';
import type { DerivedTableOptions, MappedTableOptions, TransformedTableOptions } from './options.js';
import { prefix } from './prefixes.js';
import { derivedView, storedView, type TableView } from './table-view.js';

export function addTableFilter<K, V>(
  context: DslContext,
  table: TableState<K, V>,
  predicate: Predicate<K, V>,
  negate: boolean,
  options: DerivedTableOptions<K, V>,
): KTable<K, V> {
  const { versioned } = table.view;
  return addTransform(context, table, {
    operatorPrefix: prefix.tableFilter,
    options,
    valueSerde: serdeOf(options.materialized?.valueSerde) ?? table.valueSerde,
    supplierOf: (common) => tableFilterOperator({ ...common, predicate, negate, versioned }),
    getter: (parent) => mappedGetter<K, V, V>(parent, filterRow(predicate, negate)),
    // What is known upstream already lets needless tombstones be left out.
    wantsOldValues: true,
  });
}

export function addTableMapValues<K, V, VR>(
  context: DslContext,
  table: TableState<K, V>,
  mapper: ValueMapper<K, V, VR>,
  options: MappedTableOptions<K, VR>,
): KTable<K, VR> {
  return addTransform(context, table, {
    operatorPrefix: prefix.tableMapValues,
    options,
    valueSerde: serdeOf(options.materialized?.valueSerde) ?? serdeOf(options.valueSerde) ?? null,
    supplierOf: (common) => tableMapValuesOperator({ ...common, mapper }),
    getter: (parent) => mappedGetter<K, V, VR>(parent, (value, key, lookup) => mapper(value, key, metaOf(lookup))),
    wantsOldValues: false,
  });
}

export function addTableTransformValues<K, V, VR>(
  context: DslContext,
  table: TableState<K, V>,
  supplier: ValueTransformerSupplier<K, V, VR>,
  options: TransformedTableOptions<K, VR>,
): KTable<K, VR> {
  const stores = context.graph.storesOf('transformValues', options.stores);
  return addTransform(context, table, {
    operatorPrefix: prefix.tableTransformValues,
    options,
    valueSerde: serdeOf(options.materialized?.valueSerde) ?? serdeOf(options.valueSerde) ?? null,
    supplierOf: (common) => tableTransformValuesOperator({ ...common, supplier }),
    getter: (parent) => transformedGetter<K, V, VR>(parent, supplier, stores),
    wantsOldValues: false,
    stores,
    check: (name) => checkedSupplier(name, supplier, ['transform']),
  });
}

interface Transform<K, V, VR> {
  readonly operatorPrefix: string;
  readonly options: DerivedTableOptions<K, VR>;
  readonly valueSerde: Serde<VR> | null;
  readonly supplierOf: (common: TableTransformOptions) => OperatorSupplier;
  readonly getter: (parent: TableGetterSupplier<K, V>) => TableGetterSupplier<K, VR>;
  readonly wantsOldValues: boolean;
  /** Stores added elsewhere that it uses. */
  readonly stores?: readonly string[];
  /** Throws when the node of that name could not be made. */
  readonly check?: (name: string) => void;
}

function addTransform<K, V, VR>(context: DslContext, table: TableState<K, V>, transform: Transform<K, V, VR>): KTable<K, VR> {
  const { graph } = context;
  const { operatorPrefix, options, valueSerde, supplierOf, getter, stores = [], check } = transform;
  const { materialized, emitOnChange = false } = options;
  checkVersionsAreKept(materialized);
  const keySerde = serdeOf(materialized?.keySerde) ?? table.keySerde;
  const storeName = materialized?.storeName;
  checkResultsAreKept(options, storeName !== undefined, 'materialized.storeName');
  if (emitOnChange && table.view.versioned) throw versionsAllLeave(`The table computed from ${table.name}`);
  // A store without a name is not built, but takes its number as in Kafka Streams.
  if (materialized !== undefined && storeName === undefined) graph.newStoreName(operatorPrefix);
  const store =
    storeName === undefined
      ? null
      : tableStore(graph, operatorPrefix, materialized, { keySerde, valueSerde }, { emit: 'onUpdate', emitOnChange });
  const name = graph.nameOr(checkedName(options), operatorPrefix);
  check?.(name);
  const supplier: OperatorSupplier = () =>
    supplierOf({ storeName: store === null ? null : store.name, sendOldValues: () => graph.sendsOldValues(node) })();
  const node = store === null ? operatorNode(name, supplier, { stores }) : statefulNode(name, supplier, store, { stores });
  const view: TableView<K, VR> = node.kind === 'operator' ? derivedView(graph, node, table.view, getter) : storedView(graph, node);
  if (transform.wantsOldValues && table.view.sendOldValues(false)) graph.sendOldValues(node);
  graph.add(node, [table.node]);
  return context.table({ name, keySerde, valueSerde, sources: table.sources, queryableStoreName: storeName ?? null, node, view });
}

function filterRow<K, V>(predicate: Predicate<K, V>, negate: boolean) {
  return (value: V, key: K, context: OperatorContext): Awaitable<V | null> => {
    const verdict: Awaitable<unknown> = predicate(value, key, metaOf(context));
    if (isPromiseLike(verdict)) return verdict.then((passes) => (Boolean(passes) === negate ? null : value));
    return Boolean(verdict) === negate ? null : value;
  };
}

/** What a user function is told when a row is computed for somebody who looks it up: the record in work. */
function metaOf(context: OperatorContext): RecordMetaView {
  const meta = new RecordMetaView(context.record);
  meta.enter(context.record.timestamp);
  return meta;
}
