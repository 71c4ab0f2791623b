import { MillraceError } from '../errors.js';
import { suppressedGetter, suppressOperator } from '../processors/suppress.js';
import { suppressedRowSerde } from '../processors/suppressed-row.js';
import { serdeOver } from '../serdes/late-serde.js';
import type { StoreSpec } from '../stores/store.js';
import { requireSuppressed } from './checked-arguments.js';
import { checkedName } from './checked-name.js';
import type { DslContext, TableState } from './dsl-context.js';
import { statefulNode } from './graph/stateful-node.js';
import { windowGraceOf } from './graph/window-grace.js';
import type { KTable } from './ktable.js';
import type { NamedOptions } from './options.js';
import { prefix } from './prefixes.js';
import type { Suppressed } from './suppressed.js';

export function addSuppress<K, V>(
  context: DslContext,
  table: TableState<K, V>,
  suppressed: Suppressed,
  options: NamedOptions,
): KTable<K, V> {
  requireSuppressed(suppressed);
  const { graph } = context;
  if (table.view.versioned) {
    throw new MillraceError('MILL_TOPOLOGY_INVALID', `${table.name} is a versioned table: suppress takes others only.`, {
      details: { table: table.name },
    });
  }
  const given = checkedName(options);
  const name = given ?? graph.newName(prefix.suppress);
  const wait = suppressed.kind === 'windowCloses' ? windowGraceOf(graph, table.node) : suppressed.limit;
  const store: StoreSpec = Object.freeze({
    name: given === undefined ? graph.newStoreName(prefix.suppress) : `${given}-store`,
    kind: 'timeOrderedBuffer',
    keySerde: table.keySerde,
    valueSerde: serdeOver(table.valueSerde, suppressedRowSerde, 'value', 'suppressed(default)'),
    engine: null,
    logged: true,
    changelogConfigs: Object.freeze({}),
    byKey: true,
  });
  const { maxRecords, maxBytes, whenFull } = suppressed;
  const untilWindowCloses = suppressed.kind === 'windowCloses';
  const supplier = suppressOperator({ storeName: store.name, wait, untilWindowCloses, maxRecords, maxBytes, whenFull });
  const node = statefulNode(name, supplier, store, { storeNamedBy: 'name' });
  graph.add(node, [table.node]);
  // The prior row of what waits must be known downstream, whatever asks for it; a source table gets its store by that, as in Kafka Streams.
  table.view.sendOldValues(true);
  return context.table({
    ...table,
    name,
    queryableStoreName: null,
    node,
    view: {
      versioned: false,
      historyRetention: null,
      getter: (inStep) => suppressedGetter(table.view.getter(inStep), store.name),
      sendOldValues: (force) => table.view.sendOldValues(force),
    },
  });
}
