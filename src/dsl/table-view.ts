/**
 * What operators on a table need from the operator that makes it: a getter for its rows, and the old values in its changes.
 *
 * Both may be asked for late, and asking may give a source table its store. Each table handle carries one view; a table without a store makes its view
 * out of its parent's (see `derivedView`).
 */
import { MillraceError } from '../errors.js';
import { storeGetter, type TableGetterSupplier } from '../processors/table-getter.js';
import type { GraphNode, TableNode } from './graph/graph-node.js';
import type { StreamGraph } from './graph/stream-graph.js';

export interface TableView<K, V> {
  /** Whether changes say if they are the latest (KIP-914): joins and aggregations of such a table leave out-of-order rows out. */
  readonly versioned: boolean;
  /** How far back its getter knows the past, ms; null: not at all. */
  readonly historyRetention: number | null;
  /**
   * Asks for the rows; a source table gets a store by that.
   *
   * @param inStep true for a join that also takes the table's changes: rows and changes must then tell the same, so that changes may not wait for a commit
   */
  getter(inStep?: boolean): TableGetterSupplier<K, V>;
  /**
   * Asks for the row as it was in every change. Answers false when the table can't without a store that it does not have;
   * with `force` it gets one.
   */
  sendOldValues(force: boolean): boolean;
}

/** A table whose operator always has a store when somebody asks: sources, aggregations, whatever is materialised. */
export function storedView<K, V>(graph: StreamGraph, node: TableNode): TableView<K, V> {
  const { store } = node;
  if (store === null) throw new MillraceError('MILL_INVARIANT', `Table ${node.name} has no store to look into.`);
  return {
    versioned: store.kind === 'versioned',
    historyRetention: store.historyRetention ?? null,
    getter: (inStep = false) => {
      graph.keep(node);
      if (inStep) graph.emitAtOnce(store.name);
      return storeGetter(store.name);
    },
    sendOldValues: (force) => {
      if (!force && !graph.isKept(node)) return false;
      graph.keep(node);
      graph.sendOldValues(node);
      return true;
    },
  };
}

/**
 * A table that is computed from one other table and has no store: `getter` derives the rows, old values come from the parent's.
 */
export function derivedView<K, V, KP, VP>(
  graph: StreamGraph,
  node: GraphNode,
  parent: TableView<KP, VP>,
  getter: (parent: TableGetterSupplier<KP, VP>) => TableGetterSupplier<K, V>,
): TableView<K, V> {
  return {
    versioned: parent.versioned,
    historyRetention: parent.historyRetention,
    getter: (inStep) => getter(parent.getter(inStep)),
    sendOldValues: (force) => {
      if (!parent.sendOldValues(force)) return false;
      graph.sendOldValues(node);
      return true;
    },
  };
}
