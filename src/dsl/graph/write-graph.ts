/**
 * Turns the logical plan into a topology: node by node, in the order in which Kafka Streams writes its graph, since that order numbers the
 * sub-topologies and with them the tasks.
 */
import { MillraceError } from '../../errors.js';
import type { Topology } from '../../topology/nodes.js';
import { TopologyBuilder } from '../../topology/topology-builder.js';
import { writeGlobalTable } from './global-table-node.js';
import type { GraphNode } from './graph-node.js';
import { writeOperator } from './operator-node.js';
import { writeRepartition } from './repartition-node.js';
import { sharedSources } from './shared-sources.js';
import { writeSink } from './sink-graph-node.js';
import { writeStateStore } from './state-store-node.js';
import { writeStateful } from './stateful-node.js';
import type { GraphLink, StreamGraph } from './stream-graph.js';
import { writeStreamSource } from './stream-source-node.js';
import { writeStreamToTable } from './stream-to-table-node.js';
import { writeTableJoin } from './table-join-node.js';
import { writeTableSource } from './table-source-node.js';

export function writeGraph(graph: StreamGraph): Topology {
  return new GraphWriter(graph).write();
}

class GraphWriter {
  readonly #builder = new TopologyBuilder();
  readonly #written = new Set<GraphNode>();
  readonly #standIns: ReadonlyMap<GraphNode, GraphNode>;

  constructor(private readonly graph: StreamGraph) {
    this.#standIns = sharedSources(graph);
  }

  write(): Topology {
    const waiting = new Set([...this.graph.links.values()].filter(({ node }) => !this.#standIns.has(node)));
    // Stores first: a processor may name one that was added after it.
    for (const link of waiting) if (link.node.kind === 'stateStore') this.#write(link, waiting);
    while (waiting.size > 0) this.#write(firstByPriority(waiting, this.#isReady), waiting);
    const byName = new Map([...this.#standIns].map(([node, standIn]) => [node.name, standIn.name]));
    for (const sources of this.graph.copartitioned) this.#builder.copartition(sources.map((name) => byName.get(name) ?? name));
    return this.#builder.build();
  }

  #write(link: GraphLink, waiting: Set<GraphLink>): void {
    this.#writeNode(link);
    this.#written.add(link.node);
    waiting.delete(link);
  }

  /** Its parents are there; for a join also the table, which may hang under a node that was added again later. */
  readonly #isReady = (link: GraphLink): boolean => {
    if (link.node.kind === 'tableJoin' && !this.#written.has(link.node.table)) return false;
    return this.#parentsOf(link).every((parent) => this.#written.has(parent.node));
  };

  #parentsOf(link: GraphLink): GraphLink[] {
    return [...link.parents].map((parent) => {
      const standIn = this.#standIns.get(parent.node);
      return (standIn === undefined ? undefined : this.graph.links.get(standIn)) ?? parent;
    });
  }

  #writeNode(link: GraphLink): void {
    const { node } = link;
    const parents = [...new Set(this.#parentsOf(link).map((parent) => parent.node.name))];
    switch (node.kind) {
      case 'streamSource':
        writeStreamSource(node, this.#builder);
        break;
      case 'tableSource':
        writeTableSource(node, this.#builder, this.graph.isKept(node));
        break;
      case 'globalTable':
        writeGlobalTable(node, this.#builder);
        break;
      case 'stateStore':
        writeStateStore(node, this.#builder);
        break;
      case 'operator':
        writeOperator(node, this.#builder, parents);
        break;
      case 'stateful':
        writeStateful(node, this.#builder, parents);
        break;
      case 'streamToTable':
        writeStreamToTable(node, this.#builder, parents, this.graph.isKept(node));
        break;
      case 'repartition':
        writeRepartition(node, this.#builder, parents, leadsToNullKeys(link));
        break;
      case 'tableJoin':
        writeTableJoin(node, this.#builder, parents);
        break;
      case 'sink':
        writeSink(node, this.#builder, parents);
        break;
    }
  }
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
    if ((node.kind === 'operator' || node.kind === 'tableJoin') && node.acceptsNullKeys) return true;
    // A set that grows while it is walked visits what was added.
    for (const child of children) below.add(child);
  }
  return false;
}
