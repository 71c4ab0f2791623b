/**
 * Builds a topology node by node: the low-level API under the DSL (Kafka Streams' `Topology`).
 *
 * Parents are added before their children, so the order of the nodes is topological and numbers the sub-topologies as Kafka Streams does.
 * What can be known without a broker is checked here: names, parents, stores, topics read twice, explicit partition counts.
 */
import { MillraceError } from '../errors.js';
import type { OperatorSupplier } from '../processors/operator.js';
import type { StoreSpec } from '../stores/store.js';
import { BuiltTopology } from './built-topology.js';
import { checkCopartitioning } from './copartitioning.js';
import type { GlobalStoreNode, RepartitionTopic, StoreNode, Topology, TopicNameExtractor, TopicRef, TopologyNode } from './nodes.js';
import { processorNode } from './processor-node.js';
import { checkResourceName } from './resource-name.js';
import type { SinkOptions } from './sink-node.js';
import { sinkNode } from './sink-node.js';
import type { SourceOptions } from './source-node.js';
import { sourceNode } from './source-node.js';
import { SourceTopics } from './source-topics.js';
import { subTopologiesOf } from './sub-topologies.js';
import { UnionFind } from './union-find.js';

/** A source reads named topics, or all topics that a pattern matches. */
export type SourceSpec = SourceOptions & ({ readonly topics: readonly string[] } | { readonly pattern: RegExp });

export interface GlobalStoreOptions extends SourceOptions {
  readonly topic: string;
  readonly sourceName: string;
  readonly processorName: string;
  /** Turns records into store writes. Default: the record as it is. */
  readonly supplier?: OperatorSupplier | null;
}

export interface StateStoreOptions {
  /** Processors that use the store; more can be connected later. */
  readonly processors?: readonly string[];
  /** A source topic that serves as the store's changelog. */
  readonly sourceTopic?: string | null;
}

type Draft =
  | { readonly kind: 'source'; readonly spec: SourceSpec; readonly parents: readonly string[] }
  | { readonly kind: 'processor'; readonly supplier: OperatorSupplier; readonly stores: string[]; readonly parents: readonly string[] }
  | {
      readonly kind: 'sink';
      readonly topic: string | TopicNameExtractor;
      readonly options: SinkOptions;
      readonly parents: readonly string[];
    };

interface StoreDraft {
  readonly spec: StoreSpec;
  readonly processors: string[];
  readonly sourceTopic: string | null;
}

/**
 * @example
 * const topology = new TopologyBuilder()
 *   .addSource('words', { topics: ['words'], valueSerde: serdes.string() })
 *   .addProcessor('upper', processorOperator(() => new Upper()), ['words'])
 *   .addSink('out', 'upper-words', ['upper'], { valueSerde: serdes.string() })
 *   .build();
 */
export class TopologyBuilder {
  readonly #nodes = new Map<string, Draft>();
  readonly #stores = new Map<string, StoreDraft>();
  readonly #globalStores = new Map<string, { readonly spec: StoreSpec; readonly options: GlobalStoreOptions }>();
  readonly #repartitionTopics = new Map<string, RepartitionTopic>();
  readonly #copartitioned: (readonly string[])[] = [];
  readonly #sourceTopics = new SourceTopics();
  /** Which nodes share a task: joined by edges and by stores. */
  readonly #groups = new UnionFind();
  /** All node names in order, those of global stores included, since they take part in the numbering. */
  readonly #order: string[] = [];

  /**
   * A node that reads topics.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME when the name is taken, or another source reads one of the topics.
   * @example
   * builder.addSource('orders', { topics: ['orders'], keySerde: serdes.string, offsetReset: 'earliest' });
   */
  addSource(name: string, spec: SourceSpec): this {
    this.#claimNodeName(name);
    if ('pattern' in spec) this.#sourceTopics.claimPattern(spec.pattern, name);
    else {
      if (spec.topics.length === 0) throw invalid(`Source ${name} has no topic.`, { node: name });
      for (const topic of spec.topics) this.#sourceTopics.claim(topic, name);
    }
    this.#addNode(name, { kind: 'source', spec, parents: [] });
    return this;
  }

  /**
   * A node that handles records.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME, MILL_TOPOLOGY_INVALID (no parent, unknown parent, parent is a sink), MILL_TOPOLOGY_UNKNOWN_STORE.
   * @example
   * builder.addProcessor('totals', processorOperator(() => new Totals()), ['orders'], ['totals-store']);
   */
  addProcessor(name: string, supplier: OperatorSupplier, parents: readonly string[], stores: readonly string[] = []): this {
    this.#claimNodeName(name);
    this.#checkParents(name, parents);
    this.#addNode(name, { kind: 'processor', supplier, stores: [], parents });
    if (stores.length > 0) this.connectProcessorAndStateStores(name, stores);
    return this;
  }

  /**
   * A node that writes to a topic, or to the topic that a function names for each record.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME, MILL_TOPOLOGY_INVALID (no parent, unknown parent, parent is a sink).
   * @example
   * builder.addSink('out', 'totals', ['totals'], { valueSerde: serdes.double });
   */
  addSink(name: string, topic: string | TopicNameExtractor, parents: readonly string[], options: SinkOptions = {}): this {
    this.#claimNodeName(name);
    this.#checkParents(name, parents);
    if (topic === '') throw invalid(`Sink ${name} has an empty topic name.`, { node: name });
    this.#addNode(name, { kind: 'sink', topic, options, parents });
    return this;
  }

  /**
   * A store of its own in each task, for the processors that are connected to it.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME when there is another store of that name.
   * @example
   * builder.addStateStore(keyValueStore({ name: 'totals-store' }), { processors: ['totals'] });
   */
  addStateStore(spec: StoreSpec, options: StateStoreOptions = {}): this {
    this.#claimStoreName(spec.name);
    this.#stores.set(spec.name, { spec, processors: [], sourceTopic: options.sourceTopic ?? null });
    for (const processor of options.processors ?? []) this.connectProcessorAndStateStores(processor, [spec.name]);
    return this;
  }

  /**
   * Lets a processor use stores. Processors that share a store share their tasks.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_TOPOLOGY_INVALID (unknown node, not a processor, a global store).
   * @example
   * builder.connectProcessorAndStateStores('report', ['totals-store']);
   */
  connectProcessorAndStateStores(processor: string, stores: readonly string[]): this {
    for (const store of stores) this.#connect(processor, store);
    return this;
  }

  /**
   * A store that holds all partitions of `topic` in every instance. Every processor may read it; none is connected to it.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME, MILL_TOPOLOGY_INVALID when `spec.logged` is true: the topic is the changelog.
   * @example
   * builder.addGlobalStore(timestampedKeyValueStore({ name: 'airports', logged: false }), {
   *   topic: 'airports', sourceName: 'airports-source', processorName: 'airports-rows',
   * });
   */
  addGlobalStore(spec: StoreSpec, options: GlobalStoreOptions): this {
    if (spec.logged)
      throw invalid(`Global store ${spec.name} must have \`logged: false\`: its topic ${options.topic} is its changelog.`, {
        store: spec.name,
      });
    this.#claimNodeName(options.sourceName);
    this.#claimNodeName(options.processorName);
    if (options.sourceName === options.processorName) throw duplicate('node', options.sourceName);
    this.#claimStoreName(spec.name);
    this.#sourceTopics.claim(options.topic, options.sourceName);
    this.#globalStores.set(spec.name, { spec, options });
    this.#order.push(options.sourceName, options.processorName);
    this.#groups.unite(options.sourceName, options.processorName);
    return this;
  }

  /**
   * Makes `name` an internal topic: created by the app and called `<applicationId>-<name>`.
   *
   * @param partitions null: as many as the largest topic upstream of it.
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME when it was added before.
   * @example
   * builder.addRepartitionTopic('by-customer-repartition', 12).addSink('out', 'by-customer-repartition', ['rekey']);
   */
  addRepartitionTopic(name: string, partitions: number | null = null): this {
    checkResourceName(name, 'repartition topic');
    if (this.#repartitionTopics.has(name)) throw duplicate('repartition topic', name);
    if (partitions !== null && (!Number.isInteger(partitions) || partitions < 1)) {
      throw invalid(`Repartition topic ${name}: \`partitions\` must be a whole number above 0, not ${partitions}.`, { topic: name });
    }
    this.#repartitionTopics.set(name, Object.freeze({ name, partitions }));
    return this;
  }

  /**
   * The topics of these sources must have equal partition counts, since their records meet in one task.
   *
   * @example
   * builder.copartition(['orders', 'customers']);
   */
  copartition(sources: readonly string[]): this {
    this.#copartitioned.push(sources.slice());
    return this;
  }

  /**
   * The topology so far, frozen. The builder can be used on.
   *
   * @throws MILL_TOPOLOGY_STORE_NOT_CONNECTED when a store has no processor; MILL_TOPOLOGY_NOT_COPARTITIONED when repartition topics that meet
   * in a join were given different counts.
   * @example
   * console.log(builder.build().describe());
   */
  build(): Topology {
    this.#checkStoresConnected();
    const nodes = this.#buildNodes();
    const ids = this.#groupIds();
    const stores = new Map<string, StoreNode>();
    for (const [name, { spec, processors, sourceTopic }] of this.#stores) {
      stores.set(name, Object.freeze({ spec: Object.freeze({ ...spec }), processors: Object.freeze(processors.slice()), sourceTopic }));
    }
    const copartitionGroups = this.#copartitionGroups();
    checkCopartitioning(copartitionGroups, (topic) =>
      topic.internal ? (this.#repartitionTopics.get(topic.name)?.partitions ?? null) : null,
    );
    return new BuiltTopology({
      nodes,
      stores,
      globalStores: this.#buildGlobalStores(ids),
      repartitionTopics: new Map(this.#repartitionTopics),
      copartitionGroups,
      subTopologies: subTopologiesOf(nodes, (name) => this.#groupId(ids, name)),
    });
  }

  #addNode(name: string, draft: Draft): void {
    this.#nodes.set(name, draft);
    this.#order.push(name);
    this.#groups.add(name);
    for (const parent of draft.parents) this.#groups.unite(parent, name);
  }

  #claimNodeName(name: string): void {
    if (name === '') throw invalid('A node has an empty name.', {});
    if (this.#order.includes(name)) throw duplicate('node', name);
  }

  #claimStoreName(name: string): void {
    checkResourceName(name, 'store');
    if (this.#stores.has(name) || this.#globalStores.has(name)) throw duplicate('store', name);
  }

  #checkParents(name: string, parents: readonly string[]): void {
    if (parents.length === 0) throw invalid(`Node ${name} has no parent.`, { node: name });
    for (const parent of parents) {
      if (parent === name) throw invalid(`Node ${name} can't be its own parent.`, { node: name });
      const draft = this.#nodes.get(parent);
      if (draft === undefined) throw invalid(`Node ${name} names the parent ${parent}, which has not been added.`, { node: name, parent });
      if (draft.kind === 'sink') throw invalid(`Node ${name} can't have the sink ${parent} as its parent.`, { node: name, parent });
    }
  }

  #connect(processor: string, store: string): void {
    const draft = this.#nodes.get(processor);
    if (draft === undefined)
      throw invalid(`Store ${store} is to be connected to ${processor}, which has not been added.`, { store, node: processor });
    if (draft.kind !== 'processor')
      throw invalid(`Store ${store} can't be connected to the ${draft.kind} ${processor}.`, { store, node: processor });
    if (this.#globalStores.has(store)) {
      throw invalid(`Global store ${store} is open to every processor; leave it out of the stores of ${processor}.`, {
        store,
        node: processor,
      });
    }
    const entry = this.#stores.get(store);
    if (entry === undefined) {
      const known = [...this.#stores.keys()];
      throw new MillraceError(
        'MILL_TOPOLOGY_UNKNOWN_STORE',
        `Processor ${processor} names the store ${store}; the topology has ${known.length === 0 ? 'no store' : known.join(', ')}.`,
        { details: { store, node: processor } },
      );
    }
    if (draft.stores.includes(store)) return;
    const user = entry.processors[0];
    if (user !== undefined) this.#groups.unite(user, processor);
    entry.processors.push(processor);
    draft.stores.push(store);
  }

  #checkStoresConnected(): void {
    const idle = [...this.#stores].filter(([, { processors }]) => processors.length === 0).map(([name]) => name);
    if (idle.length === 0) return;
    throw new MillraceError(
      'MILL_TOPOLOGY_STORE_NOT_CONNECTED',
      `No processor is connected to ${idle.map((name) => `store ${name}`).join(', ')}.`,
      {
        details: { stores: idle },
      },
    );
  }

  #buildNodes(): Map<string, TopologyNode> {
    const children = new Map<string, string[]>();
    for (const [name, draft] of this.#nodes) {
      children.set(name, []);
      for (const parent of draft.parents) children.get(parent)?.push(name);
    }
    const nodes = new Map<string, TopologyNode>();
    for (const [name, draft] of this.#nodes) nodes.set(name, this.#buildNode(name, draft, children.get(name) ?? []));
    return nodes;
  }

  #buildNode(name: string, draft: Draft, children: readonly string[]): TopologyNode {
    switch (draft.kind) {
      case 'source': {
        const { spec } = draft;
        if ('pattern' in spec) return sourceNode(name, [], spec.pattern, spec, children);
        return sourceNode(
          name,
          spec.topics.map((topic) => this.#topicRef(topic)),
          null,
          spec,
          children,
        );
      }
      case 'processor':
        return processorNode(name, draft.supplier, draft.stores, draft.parents, children);
      case 'sink':
        return sinkNode(name, typeof draft.topic === 'string' ? this.#topicRef(draft.topic) : draft.topic, draft.options, draft.parents);
    }
  }

  #topicRef(name: string): TopicRef {
    return Object.freeze({ name, internal: this.#repartitionTopics.has(name) });
  }

  /** Numbers the groups by their first node. */
  #groupIds(): Map<string, number> {
    const ids = new Map<string, number>();
    for (const name of this.#order) {
      const root = this.#groups.root(name);
      if (!ids.has(root)) ids.set(root, ids.size);
    }
    return ids;
  }

  #groupId(ids: ReadonlyMap<string, number>, node: string): number {
    const id = ids.get(this.#groups.root(node));
    if (id === undefined) throw new MillraceError('MILL_INVARIANT', `Node ${node} belongs to no sub-topology.`);
    return id;
  }

  #buildGlobalStores(ids: ReadonlyMap<string, number>): Map<string, GlobalStoreNode> {
    const built = new Map<string, GlobalStoreNode>();
    for (const [name, { spec, options }] of this.#globalStores) {
      const { sourceName, processorName, supplier } = options;
      built.set(
        name,
        Object.freeze({
          id: this.#groupId(ids, sourceName),
          spec: Object.freeze({ ...spec }),
          topic: options.topic,
          source: sourceNode(sourceName, [this.#topicRef(options.topic)], null, options, [processorName]),
          processorName,
          processor: supplier ? processorNode(processorName, supplier, [name], [sourceName], []) : null,
        }),
      );
    }
    return built;
  }

  /** Groups that share a topic are one group. Sources with a pattern have no topics before run time and are left out. */
  #copartitionGroups(): TopicRef[][] {
    const union = new UnionFind();
    for (const sources of this.#copartitioned) {
      const topics = sources.flatMap((name) => this.#topicsOf(name));
      for (const topic of topics) union.unite(topics[0] ?? topic, topic);
    }
    const groups = new Map<string, Set<string>>();
    for (const topic of this.#copartitioned.flat().flatMap((name) => this.#topicsOf(name))) {
      const root = union.root(topic);
      groups.set(root, (groups.get(root) ?? new Set()).add(topic));
    }
    return [...groups.values()].map((group) => [...group].map((topic) => this.#topicRef(topic)));
  }

  #topicsOf(source: string): readonly string[] {
    const draft = this.#nodes.get(source);
    if (draft?.kind !== 'source')
      throw invalid(`${source} is to be co-partitioned, but is not a source of this topology.`, { node: source });
    return 'topics' in draft.spec ? draft.spec.topics : [];
  }
}

function invalid(message: string, details: Record<string, unknown>): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', message, { details });
}

function duplicate(what: string, name: string): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_DUPLICATE_NAME', `There are two of the ${what} name ${name}.`, { details: { name } });
}
