import { defined } from '../processors/defined-result.js';
import { checkOptions } from '../errors/checked-options.js';
import { shapes } from './option-shapes.js';
import { lastTableResults } from '../processors/last-results.js';
import type { TableJoinKind } from '../processors/table-table-join.js';
import { toStreamOperator } from '../processors/to-stream.js';
import type { RecordMeta } from '../processors/record-meta.js';
import type { Predicate, RowJoiner, TableGrouper, TableJoiner, ValueMapper } from '../processors/user-functions.js';
import type { ValueTransformerSupplier } from '../processors/value-transformer.js';
import { requireFunction, requireKind } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import { operatorNode } from './graph/operator-node.js';
import { lastResultsStore } from './last-results-store.js';
import type { KStream } from './kstream.js';
import type { KTable } from './ktable.js';
import { groupTable } from './kgrouped-table-impl.js';
import type { KGroupedTable } from './kgrouped-table.js';
import type {
  DerivedTableOptions,
  ForeignKeyJoinOptions,
  GroupedOptions,
  MappedTableOptions,
  NamedOptions,
  TableJoinOptions,
  TransformedTableOptions,
} from './options.js';
import { prefix } from './prefixes.js';
import { joinByForeignKey } from './foreign-key-join.js';
import { addSuppress } from './suppress.js';
import type { Suppressed } from './suppressed.js';
import { addTableFilter, addTableMapValues, addTableTransformValues } from './table-transforms.js';
import { joinTables } from './table-table-join.js';

export class KTableImpl<K, V> implements KTable<K, V> {
  readonly kind = 'table';
  readonly storeName: string | null;
  readonly #context: DslContext;
  readonly #state: TableState<K, V>;

  constructor(context: DslContext, state: TableState<K, V>) {
    this.#context = context;
    this.#state = state;
    this.storeName = state.queryableStoreName;
  }

  toStream(options: NamedOptions = {}): KStream<K, V> {
    checkOptions('toStream', options, shapes.named);
    const { graph } = this.#context;
    const { keySerde, valueSerde, sources } = this.#state;
    const name = graph.nameOr(checkedName(options), prefix.toStream);
    const store = lastResultsStore(`${name}-results`, keySerde, valueSerde);
    const node = operatorNode(name, toStreamOperator(), { lastResults: { supplier: lastTableResults(store.name), store } });
    graph.add(node, [this.#state.node]);
    return this.#context.stream({ name: node.name, keySerde, valueSerde, sources, repartitionRequired: false, node });
  }

  filter<VR extends V>(predicate: (value: V, key: K, meta: RecordMeta) => value is VR, options?: DerivedTableOptions<K, VR>): KTable<K, VR>;
  filter(predicate: Predicate<K, V>, options?: DerivedTableOptions<K, V>): KTable<K, V>;
  filter(predicate: Predicate<K, V>, options: DerivedTableOptions<K, V> = {}): KTable<K, V> {
    requireFunction('filter: the predicate', predicate);
    checkOptions('filter', options, shapes.derived);
    return addTableFilter(this.#context, this.#state, predicate, false, options);
  }

  filterNot(predicate: Predicate<K, V>, options: DerivedTableOptions<K, V> = {}): KTable<K, V> {
    checkOptions('filterNot', options, shapes.derived);
    requireFunction('filterNot: the predicate', predicate);
    return addTableFilter(this.#context, this.#state, predicate, true, options);
  }

  mapValues<VR>(mapper: ValueMapper<K, V, VR>, options: MappedTableOptions<K, VR> = {}): KTable<K, VR> {
    checkOptions('mapValues', options, shapes.mapped);
    requireFunction('mapValues: the mapper', mapper);
    return addTableMapValues(this.#context, this.#state, defined('mapValues: the mapper', mapper), options);
  }

  transformValues<VR>(supplier: ValueTransformerSupplier<K, V, VR>, options: TransformedTableOptions<K, VR> = {}): KTable<K, VR> {
    requireFunction('transformValues: the supplier', supplier);
    checkOptions('transformValues', options, shapes.transformed);
    return addTableTransformValues(this.#context, this.#state, supplier, options);
  }

  groupBy<KR, VR>(mapper: TableGrouper<K, V, KR, VR>, options: GroupedOptions<KR, VR> = {}): KGroupedTable<KR, VR> {
    checkOptions('groupBy', options, shapes.grouped);
    requireFunction('groupBy: the mapper', mapper);
    return groupTable(this.#context, this.#state, defined('groupBy: the mapper', mapper), options);
  }

  suppress(suppressed: Suppressed, options: NamedOptions = {}): KTable<K, V> {
    checkOptions('suppress', options, shapes.named);
    return addSuppress(this.#context, this.#state, suppressed, options);
  }

  join<KO, VO, VR>(
    other: KTable<KO, VO>,
    joiner: TableJoiner<K, V, never, unknown>,
    options: TableJoinOptions<K, VR> | ForeignKeyJoinOptions<K, V, KO, VR> = {},
  ): KTable<K, VR> {
    requireKind('join', other, ['table']);
    requireFunction('join: the joiner', joiner);
    checkOptions('join', options, shapes.foreignKeyJoin);
    return this.#joined(other, 'inner', defined('join: the joiner', joiner as RowJoiner<K, V, VO, VR>), options);
  }

  leftJoin<KO, VO, VR>(
    other: KTable<KO, VO>,
    joiner: TableJoiner<K, V, never, unknown>,
    options: TableJoinOptions<K, VR> | ForeignKeyJoinOptions<K, V, KO, VR> = {},
  ): KTable<K, VR> {
    requireKind('leftJoin', other, ['table']);
    requireFunction('leftJoin: the joiner', joiner);
    checkOptions('leftJoin', options, shapes.foreignKeyJoin);
    return this.#joined(other, 'left', defined('leftJoin: the joiner', joiner as RowJoiner<K, V, VO, VR>), options);
  }

  outerJoin<VO, VR>(
    other: KTable<K, VO>,
    joiner: TableJoiner<K, never, never, unknown>,
    options: TableJoinOptions<K, VR> = {},
  ): KTable<K, VR> {
    requireKind('outerJoin', other, ['table']);
    requireFunction('outerJoin: the joiner', joiner);
    checkOptions('outerJoin', options, shapes.table);
    return joinTables(
      this.#context,
      this.#state,
      other,
      'outer',
      defined('outerJoin: the joiner', joiner as RowJoiner<K, V, VO, VR>),
      options,
    );
  }

  #joined<KO, VO, VR>(
    other: KTable<KO, VO>,
    kind: TableJoinKind,
    joiner: RowJoiner<K, V, VO, VR>,
    options: TableJoinOptions<K, VR> | ForeignKeyJoinOptions<K, V, KO, VR>,
  ): KTable<K, VR> {
    if ('foreignKey' in options) {
      requireFunction('a join by foreign key: foreignKey', options.foreignKey);
      const foreignKey = defined(`${kind === 'left' ? 'leftJoin' : 'join'}: foreignKey`, options.foreignKey);
      return joinByForeignKey(this.#context, this.#state, other, kind === 'left', joiner, { ...options, foreignKey });
    }
    // Without a foreign key the keys of both tables are of one type: the overloads of KTable see to it.
    return joinTables(this.#context, this.#state, other as unknown as KTable<K, VO>, kind, joiner, options);
  }
}
