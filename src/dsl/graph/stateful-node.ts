import type { OperatorSupplier } from '../../processors/operator.js';
import type { StoreSpec } from '../../stores/store.js';
import { nameOfLastResults, writeLastResults, type LastResults } from './last-results.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** An operator that brings its store: the aggregations. */
export interface StatefulNode {
  readonly kind: 'stateful';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  readonly store: StoreSpec;
  /** The option that gives the store its name. */
  readonly storeNamedBy: 'name' | 'materialized.storeName';
  /** Stores added elsewhere that it uses besides. */
  readonly stores: readonly string[];
  /** Works in event time, or may: watermarks have to reach it. */
  readonly usesEventTime: boolean;
  /** What is put behind it where only last results are to be told; null: nothing. */
  readonly lastResults: LastResults | null;
}

export function statefulNode(
  name: string,
  supplier: OperatorSupplier,
  store: StoreSpec,
  options: Partial<Pick<StatefulNode, 'storeNamedBy' | 'usesEventTime' | 'stores' | 'lastResults'>> = {},
): StatefulNode {
  const { storeNamedBy = 'materialized.storeName', usesEventTime = false, stores = [], lastResults = null } = options;
  return Object.freeze({
    kind: 'stateful',
    name,
    supplier,
    store,
    storeNamedBy,
    stores: Object.freeze(stores.slice()),
    usesEventTime,
    lastResults,
  });
}

export function writeStateful(node: StatefulNode, builder: TopologyBuilder, parents: readonly string[], lastResultsOnly: boolean): void {
  builder.addOperator(node.name, node.supplier, parents, node.stores);
  builder.addStateStore(node.store, { processors: [node.name] });
  if (lastResultsOnly && node.lastResults !== null) writeLastResults(nameOfLastResults(node.name), node.lastResults, builder, [node.name]);
}
