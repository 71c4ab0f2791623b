/** The option `late`: where an operator's late records go. */
import { MillraceError } from '../errors.js';
import type { LateTarget } from '../processors/late-records.js';
import { passThroughOperator } from '../processors/pass-through.js';
import type { StoreSpec } from '../stores/store.js';
import type { DslContext, StreamState } from './dsl-context.js';
import type { GraphNode } from './graph/graph-node.js';
import { operatorNode } from './graph/operator-node.js';
import type { LateOption } from './options.js';

/** @throws MILL_TOPOLOGY_INVALID */
export function lateTarget<K, V>(late: LateOption<K, V> | undefined, storeName: string): LateTarget {
  if (late === undefined || late === 'drop') return null;
  if (late === 'deadLetter') return late;
  if (typeof late === 'function') return { child: sideName(storeName) };
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `The option late of the operator over ${storeName} must be "drop", "deadLetter" or a function that takes the stream of late records, not ${String(late)}.`,
    { details: { store: storeName } },
  );
}

/** The same for tables, of which only versioned ones have late records. @throws MILL_TOPOLOGY_INVALID */
export function versionedLate<K, V>(late: LateOption<K, V> | undefined, store: StoreSpec): LateTarget {
  const target = lateTarget(late, store.name);
  if (target === null || store.kind === 'versioned') return target;
  throw new MillraceError(
    'MILL_TOPOLOGY_INVALID',
    `Table ${store.name} has the option late but no \`materialized.historyRetention\`: in a table that keeps the last record of a key no record is late.`,
    { details: { store: store.name } },
  );
}

/** Hands the stream of late records to the user's function, when there is one. `operators` are those that send them. */
export function addLateOutput<K, V>(
  context: DslContext,
  late: LateOption<K, V> | undefined,
  storeName: string,
  operators: readonly GraphNode[],
  fields: Pick<StreamState<K, V>, 'keySerde' | 'valueSerde' | 'sources'>,
): void {
  if (typeof late !== 'function') return;
  const node = operatorNode(sideName(storeName), passThroughOperator(), { isSide: true });
  context.graph.add(node, operators);
  const { keySerde, valueSerde, sources } = fields;
  late(context.stream<K, V>({ name: node.name, keySerde, valueSerde, sources, repartitionRequired: false, node }));
}

function sideName(storeName: string): string {
  return `${storeName}-late`;
}
