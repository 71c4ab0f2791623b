/**
 * Turns the logical plan into a topology: node by node, in the order in which Kafka Streams writes its graph, since that order numbers the
 * sub-topologies and with them the tasks.
 */
import { listOf } from '../../errors/checked-options.js';
import { MillraceError } from '../../errors.js';
import type { ExecutionMode, Topology } from '../../topology/nodes.js';
import { BuiltTopology } from '../../topology/built-topology.js';
import { TopologyBuilder } from '../../topology/topology-builder.js';
import { writeAsync } from './async-node.js';
import { writeBroadcast } from './broadcast-node.js';
import { writeConnected } from './connected-node.js';
import { writeGlobalTable } from './global-table-node.js';
import type { GraphNode } from './graph-node.js';
import { writeInternalSink, writeInternalSource } from './internal-topic-nodes.js';
import { writeOperator } from './operator-node.js';
import { writeRepartition } from './repartition-node.js';
import { comesFromWatermarks, leadsToEventTime } from './event-time-flow.js';
import { sharedSources } from './shared-sources.js';
import { writeSink } from './sink-graph-node.js';
import { writeStateStore } from './state-store-node.js';
import { writeStateful } from './stateful-node.js';
import type { GraphLink, StreamGraph } from './stream-graph.js';
import { writeStreamSource } from './stream-source-node.js';
import { lastResultNodes, nameOfLastResults } from './last-results.js';
import { mergeRepartitions } from './merged-repartitions.js';
import { selfJoins, type SelfJoins } from './self-joins.js';
import { writeStreamSelfJoin, writeStreamStreamJoin } from './stream-stream-join-node.js';
import { writeStreamToTable } from './stream-to-table-node.js';
import { writeTableJoin } from './table-join-node.js';
import { writeTableRepartition } from './table-repartition-node.js';
import { writeTableSource } from './table-source-node.js';
import { writeTableTableJoin } from './table-table-join-node.js';

/**
 * What may be left out of a topology, without another result.
 *
 * `singleStoreSelfJoin`: the second store of a join of a stream with itself. `mergeRepartitions`: all repartition topics but one of a stream whose keys have
 * changed. `reuseSourceTopics`: the changelogs of source tables, whose topics serve as such; versioned tables keep theirs, since a compacted topic forgets versions that they
 * know. They change names and numbers of stores and topics: an app that has run keeps its setting.
 */
export type Optimization = 'singleStoreSelfJoin' | 'mergeRepartitions' | 'reuseSourceTopics';

const optimizations: Readonly<Record<Optimization, true>> = { singleStoreSelfJoin: true, mergeRepartitions: true, reuseSourceTopics: true };

/** The check of an option that is a list of them. */
export const optimizationsOption = listOf(...Object.keys(optimizations));

export function writeGraph(graph: StreamGraph, optimizations: readonly Optimization[] = [], mode: ExecutionMode = 'streaming'): Topology {
  return new GraphWriter(graph, optimizations, mode).write();
}

class GraphWriter {
  readonly #builder = new TopologyBuilder();
  readonly #written = new Set<GraphNode>();
  readonly #standIns: ReadonlyMap<GraphNode, GraphNode>;
  readonly #links: ReadonlyMap<GraphNode, GraphLink>;
  readonly #reusesSourceTopics: boolean;
  readonly #lastResults: ReadonlySet<GraphNode>;
  readonly #renamed: ReadonlyMap<string, string> = new Map();
  readonly #selfJoins: SelfJoins = { joins: new Set(), spared: new Set() };

  constructor(
    private readonly graph: StreamGraph,
    optimizations: readonly Optimization[],
    private readonly mode: ExecutionMode,
  ) {
    this.#standIns = sharedSources(graph);
    this.#links = graph.links;
    this.#reusesSourceTopics = optimizations.includes('reuseSourceTopics');
    if (optimizations.includes('mergeRepartitions')) {
      const { links, renamed } = mergeRepartitions(graph);
      this.#links = links;
      this.#renamed = renamed;
    }
    this.#lastResults = mode === 'batch' ? lastResultNodes(this.#links.values()) : new Set();
    if (optimizations.includes('singleStoreSelfJoin')) this.#selfJoins = selfJoins(graph, this.#standIns);
  }

  write(): Topology {
    const waiting = new Set([...this.#links.values()].filter(({ node }) => !this.#standIns.has(node) && !this.#selfJoins.spared.has(node)));
    // Stores first: a processor may name one that was added after it.
    for (const link of waiting) if (link.node.kind === 'stateStore') this.#write(link, waiting);
    while (waiting.size > 0) this.#write(firstByPriority(waiting, this.#isReady), waiting);
    const byName = new Map([...this.#renamed, ...[...this.#standIns].map(([node, standIn]) => [node.name, standIn.name] as const)]);
    for (const sources of this.graph.copartitioned) this.#builder.copartition(sources.map((name) => byName.get(name) ?? name));
    return new BuiltTopology({ ...this.#builder.build(), mode: this.mode });
  }

  #write(link: GraphLink, waiting: Set<GraphLink>): void {
    this.#writeNode(link);
    if (storesOf(link.node).some((store) => this.graph.emitsAtOnce(store))) this.#builder.emitAtOnce(link.node.name);
    this.#written.add(link.node);
    waiting.delete(link);
  }

  /** Its parents are there; and the tables whose stores it uses, which may hang under a node that was added again later. */
  readonly #isReady = (link: GraphLink): boolean => {
    const { node } = link;
    if (node.kind === 'tableJoin' && !this.#written.has(node.table)) return false;
    if (node.kind === 'operator' && !node.after.every((other) => this.#written.has(other))) return false;
    return this.#parentsOf(link).every((parent) => this.#written.has(parent.node));
  };

  #parentsOf(link: GraphLink): GraphLink[] {
    return [...link.parents].map((parent) => {
      const standIn = this.#standIns.get(parent.node);
      return (standIn === undefined ? undefined : this.#links.get(standIn)) ?? parent;
    });
  }

  /** The node that has what it gives. */
  #outputOf({ node }: GraphLink): string {
    return node.kind === 'stateful' && this.#lastResults.has(node) ? nameOfLastResults(node.name) : node.name;
  }

  #writeNode(link: GraphLink): void {
    const { node } = link;
    const parents = [...new Set(this.#parentsOf(link).map((parent) => this.#outputOf(parent)))];
    switch (node.kind) {
      case 'streamSource':
        writeStreamSource(node, this.#builder);
        break;
      case 'tableSource':
        writeTableSource(node, this.#builder, this.graph.isKept(node), this.#reusesSourceTopics && node.store.kind !== 'versioned');
        break;
      case 'globalTable':
        writeGlobalTable(node, this.#builder);
        break;
      case 'stateStore':
        writeStateStore(node, this.#builder);
        break;
      case 'operator':
        writeOperator(node, this.#builder, parents, this.#lastResults.has(node));
        break;
      case 'async':
        writeAsync(node, this.#builder, parents);
        break;
      case 'stateful':
        writeStateful(node, this.#builder, parents, this.#lastResults.has(node));
        break;
      case 'connected':
        writeConnected(node, this.#builder, parents);
        break;
      case 'streamToTable':
        writeStreamToTable(node, this.#builder, parents, this.graph.isKept(node));
        break;
      case 'repartition':
        writeRepartition(node, this.#builder, parents, {
          passNullKeys: leadsToNullKeys(link),
          carriesWatermarks: leadsToEventTime(link) && comesFromWatermarks(link),
        });
        break;
      case 'broadcast':
        writeBroadcast(node, this.#builder, parents, leadsToEventTime(link) && comesFromWatermarks(link));
        break;
      case 'tableRepartition':
        writeTableRepartition(node, this.#builder, parents);
        break;
      case 'tableJoin':
        writeTableJoin(node, this.#builder, parents);
        break;
      case 'streamStreamJoin':
        if (this.#selfJoins.joins.has(node)) writeStreamSelfJoin(node, this.#builder);
        else writeStreamStreamJoin(node, this.#builder);
        break;
      case 'tableTableJoin':
        writeTableTableJoin(node, this.#builder, this.graph.sendsOldValues(node));
        break;
      case 'internalSink':
        writeInternalSink(node, this.#builder, parents);
        break;
      case 'internalSource':
        writeInternalSource(node, this.#builder);
        break;
      case 'sink':
        writeSink(node, this.#builder, parents);
        break;
    }
  }
}

/** Stores that a node brings or uses. */
function storesOf(node: GraphNode): readonly string[] {
  if (node.kind === 'operator') return node.stores;
  return 'store' in node && node.store !== null ? [node.store.name] : [];
}

function firstByPriority(links: ReadonlySet<GraphLink>, ready: (link: GraphLink) => boolean): GraphLink {
  let first: GraphLink | null = null;
  for (const link of links) if ((first === null || link.priority < first.priority) && ready(link)) first = link;
  if (first === null) throw new MillraceError('MILL_INVARIANT', 'The graph of the DSL has a cycle.');
  return first;
}

/** Whether an operator below still has a use for records with a null key. */
function leadsToNullKeys(link: GraphLink): boolean {
  const below = new Set(link.children);
  for (const { node, children } of below) {
    if ('acceptsNullKeys' in node && node.acceptsNullKeys) return true;
    // A set that grows while it is walked visits what was added.
    for (const child of children) below.add(child);
  }
  return false;
}
