/**
 * The logical plan behind a `StreamsBuilder`: what was declared, and how it hangs together.
 *
 * It is written to a topology only in `build`, because some of it is decided late: whether a table needs a store, which streams
 * share a source. Names come from one counter, and each call takes the same numbers as the call of Kafka Streams' `InternalStreamsBuilder`,
 * so that stores and internal topics of an existing app are found under their names.
 */
import { MillraceError } from '../../errors.js';
import type { StoreSpec } from '../../stores/store.js';
import type { GraphNode, TableNode } from './graph-node.js';
import { stateStoreNode } from './state-store-node.js';

/** A node and its neighbours. Links change while the graph grows; nodes do not. */
export interface GraphLink {
  readonly node: GraphNode;
  readonly parents: Set<GraphLink>;
  readonly children: Set<GraphLink>;
  /** Nodes are written in this order, as far as their parents allow. */
  priority: number;
}

export class StreamGraph {
  #counter = 0;
  #priority = 0;
  readonly #links = new Map<GraphNode, GraphLink>();
  readonly #generated = new Set<string>();
  readonly #kept = new Set<TableNode>();
  readonly #emittingAtOnce = new Set<string>();
  readonly #sendingOldValues = new Set<GraphNode>();
  readonly #addedStores = new Set<StoreSpec>();
  readonly #copartitioned: (readonly string[])[] = [];
  /** Stream operators after which equal keys may lie in different partitions. */
  readonly keyChanging = new Set<GraphNode>();
  /** Stream operators that change values and no keys. */
  readonly valueChanging = new Set<GraphNode>();
  /** Windowed aggregations, and how long after its end a window of theirs may still change, ms. */
  readonly windowGraces = new Map<GraphNode, number>();

  /** `<prefix><10-digit number>`. */
  newName(prefix: string): string {
    const name = `${prefix}${String(this.#counter).padStart(10, '0')}`;
    this.#counter += 1;
    this.#generated.add(name);
    return name;
  }

  /** `<prefix>STATE-STORE-<10-digit number>`. */
  newStoreName(prefix: string): string {
    return this.newName(`${prefix}STATE-STORE-`);
  }

  /** `given`, or a new name. Takes a number in both cases, so that naming one operator renames no other. */
  nameOr(given: string | undefined, prefix: string): string {
    const name = this.newName(prefix);
    return given ?? name;
  }

  /** `<given><suffix>`, or a new name; takes a number in both cases. For operators that are several nodes. */
  suffixedOr(given: string | undefined, suffix: string, prefix: string): string {
    return this.nameOr(given === undefined ? undefined : `${given}${suffix}`, prefix);
  }

  /** `name`, marked as generated too when it is made out of a generated name. */
  derivedName(name: string, generated: boolean): string {
    if (generated) this.#generated.add(name);
    return name;
  }

  /** Whether the name came from the counter: it changes when an operator is added before it. */
  isGenerated(name: string): boolean {
    return this.#generated.has(name);
  }

  /** Hangs `node` under its parents; a node added again moves behind what was added since. */
  add(node: GraphNode, parents: readonly GraphNode[] = []): void {
    const link = this.#links.get(node) ?? { node, parents: new Set<GraphLink>(), children: new Set<GraphLink>(), priority: 0 };
    this.#links.set(node, link);
    link.priority = this.#priority;
    this.#priority += 1;
    for (const parent of parents) {
      const above = this.#links.get(parent);
      if (above === undefined) continue;
      above.children.add(link);
      link.parents.add(above);
    }
  }

  /** A store for processors; returns its name. Added again it stays one store: several processors may bring it. */
  addStore(spec: StoreSpec): string {
    if (!this.#addedStores.has(spec)) {
      this.#addedStores.add(spec);
      this.add(stateStoreNode(Object.freeze({ ...spec })));
    }
    return spec.name;
  }

  /**
   * The names of the stores that a processor uses; those that are given themselves are added.
   *
   * @param what the call, as in `process`
   * @throws MILL_TOPOLOGY_INVALID when one of them is neither a name nor a store
   */
  storesOf(what: string, used: readonly (string | StoreSpec)[] = []): readonly string[] {
    return used.map((store) => {
      if (typeof store === 'string') return store;
      if (isSpec(store)) return this.addStore(store);
      const given = typeof store === 'object' ? 'something else' : String(store);
      throw new MillraceError(
        'MILL_TOPOLOGY_INVALID',
        `${what}: stores takes names of stores and what stores.keyValue(…) and the like give, not ${given}.`,
      );
    });
  }

  /** The table gets a store. */
  keep(table: TableNode): void {
    this.#kept.add(table);
  }

  isKept(table: TableNode): boolean {
    if (table.kind === 'tableTableJoin') return table.store !== null;
    if (table.kind === 'stateful' || table.store.kind === 'versioned') return true;
    return this.#kept.has(table) || table.store.comparesChanges === true || !this.isGenerated(table.store.name);
  }

  /** The table of that store never holds changes back until a commit. */
  emitAtOnce(storeName: string): void {
    this.#emittingAtOnce.add(storeName);
  }

  emitsAtOnce(storeName: string): boolean {
    return this.#emittingAtOnce.has(storeName);
  }

  /** The changes of this table carry the row as it was. */
  sendOldValues(node: GraphNode): void {
    this.#sendingOldValues.add(node);
  }

  /** To be asked when the graph is written: an operator added later may want them. */
  sendsOldValues(node: GraphNode): boolean {
    return this.#sendingOldValues.has(node);
  }

  /** Declares that the topics of these source nodes meet in one task. */
  copartition(sources: readonly string[]): void {
    this.#copartitioned.push([...new Set(sources)]);
  }

  get links(): ReadonlyMap<GraphNode, GraphLink> {
    return this.#links;
  }

  get copartitioned(): readonly (readonly string[])[] {
    return this.#copartitioned;
  }
}

function isSpec(store: unknown): store is StoreSpec {
  return typeof store === 'object' && store !== null && 'name' in store && typeof store.name === 'string' && 'kind' in store;
}
