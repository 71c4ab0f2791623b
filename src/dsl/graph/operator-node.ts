import type { OperatorSupplier } from '../../processors/operator.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';
import type { GraphNode } from './graph-node.js';
import { writeLastResults, type LastResults } from './last-results.js';

/** An operator without a store of its own: filter, map, merge, branch, process, … */
export interface OperatorNode {
  readonly kind: 'operator';
  readonly name: string;
  readonly supplier: OperatorSupplier;
  /** Stores added elsewhere that the operator uses. */
  readonly stores: readonly string[];
  /** Nodes whose stores it uses, which must be written before it. */
  readonly after: readonly GraphNode[];
  /** True when a repartition upstream must let records with a null key through (left joins, KIP-962). */
  readonly acceptsNullKeys: boolean;
  /** It gets only what its parents send it by name. */
  readonly isSide: boolean;
  /** What takes its place where only last results are to be told; null: it can't. */
  readonly lastResults: LastResults | null;
}

export interface OperatorNodeOptions {
  readonly stores?: readonly string[];
  readonly after?: readonly GraphNode[];
  readonly acceptsNullKeys?: boolean;
  readonly isSide?: boolean;
  readonly lastResults?: LastResults | null;
}

export function operatorNode(name: string, supplier: OperatorSupplier, options: OperatorNodeOptions = {}): OperatorNode {
  const { stores = [], after = [], acceptsNullKeys = false, isSide = false, lastResults = null } = options;
  return Object.freeze({
    kind: 'operator',
    name,
    supplier,
    stores: Object.freeze(stores.slice()),
    after,
    acceptsNullKeys,
    isSide,
    lastResults,
  });
}

export function writeOperator(node: OperatorNode, builder: TopologyBuilder, parents: readonly string[], lastResultsOnly: boolean): void {
  if (lastResultsOnly && node.lastResults !== null) {
    writeLastResults(node.name, node.lastResults, builder, parents);
    return;
  }
  builder.addOperator(node.name, node.supplier, parents, node.stores);
  if (node.isSide) builder.sideOutput(node.name);
}
