/**
 * Builds a topology node by node: the low-level API under the DSL (Kafka Streams' `Topology`).
 *
 * Parents are added before their children, so the order of the nodes is topological and numbers the sub-topologies as Kafka Streams does.
 * What can be known without a broker is checked here: names, parents, stores, topics read twice, explicit partition counts.
 */
import { MillraceError } from '../errors.js';
import { shown, requireArgument, requireOptions, text } from '../errors/checked-options.js';
import { checkedSupplier } from '../processors/checked-supplier.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { processorOperator } from '../processors/processor-operator.js';
import type { Processor } from '../processors/processor.js';
import type { StoreSpec } from '../stores/store.js';
import { builderShapes } from './builder-options.js';
import { freezeDraft } from './freeze-draft.js';
import type { Topology, TopicNameExtractor } from './nodes.js';
import { checkResourceName } from './resource-name.js';
import type { SinkOptions } from './sink-node.js';
import { SourceTopics } from './source-topics.js';
import type { GlobalStoreOptions, NodeDraft, SourceSpec, StateStoreOptions } from './topology-draft.js';
import { TopologyDraft } from './topology-draft.js';
import { requirePattern, requireTopic, requireTopicList, requireTopicOrFunction } from './topic-arguments.js';
import { duplicateName, invalidTopology } from './topology-errors.js';

/**
 * @example
 * const topology = new TopologyBuilder()
 *   .addSource('words', { topics: ['words'], valueSerde: serdes.string })
 *   .addProcessor('upper', () => new Upper(), ['words'])
 *   .addSink('out', 'upper-words', ['upper'], { valueSerde: serdes.string })
 *   .build();
 */
export class TopologyBuilder {
  readonly #draft = new TopologyDraft();
  readonly #sourceTopics = new SourceTopics();

  /**
   * A node that reads topics.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME when the name is taken, or another source reads one of the topics; MILL_TOPOLOGY_INVALID for an option that there is not, as in the
   * other calls, and without topics.
   * @example
   * builder.addSource('orders', { topics: ['orders'], keySerde: serdes.string, offsetReset: 'earliest' });
   */
  addSource(name: string, spec: SourceSpec): this {
    requireOptions('addSource', spec, builderShapes.source);
    this.#claimNodeName(name);
    if ('pattern' in spec) {
      requirePattern(`Source ${name}: the pattern`, spec.pattern);
      this.#sourceTopics.claimPattern(spec.pattern, name);
    } else {
      requireTopicList(`Source ${name}: the option topics`, spec.topics);
      for (const topic of spec.topics) this.#sourceTopics.claim(topic, name);
    }
    this.#addNode(name, { kind: 'source', spec, parents: [] });
    return this;
  }

  /**
   * A node that hands records to a processor.
   *
   * @param supplier makes a new processor at each call: every task has its own (two more are made, and left unused, to check that)
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME, MILL_TOPOLOGY_INVALID (no parent, unknown parent, parent is a sink, the supplier gives the same object twice),
   * MILL_TOPOLOGY_UNKNOWN_STORE.
   * @example
   * builder.addProcessor('totals', () => new Totals(), ['orders'], ['totals-store']);
   */
  addProcessor<KIn, VIn, KOut, VOut>(
    name: string,
    supplier: () => Processor<KIn, VIn, KOut, VOut>,
    parents: readonly string[],
    stores: readonly string[] = [],
  ): this {
    return this.addOperator(name, processorOperator(checkedSupplier(name, supplier)), parents, stores);
  }

  /**
   * A node that runs an operator of the engine: what the DSL is made of.
   *
   * @internal
   * @throws as `addProcessor`
   */
  addOperator(name: string, supplier: OperatorSupplier, parents: readonly string[], stores: readonly string[] = []): this {
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
    requireOptions('addSink', options, builderShapes.sink);
    this.#claimNodeName(name);
    this.#checkParents(name, parents);
    requireTopicOrFunction(`Sink ${name}: the topic`, topic);
    this.#addNode(name, { kind: 'sink', topic, options, parents });
    return this;
  }

  /**
   * A store of its own in each task, for the processors that are connected to it.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME when there is another store of that name.
   * @example
   * builder.addStateStore(stores.keyValue({ name: 'totals-store' }), { processors: ['totals'] });
   */
  addStateStore(spec: StoreSpec, options: StateStoreOptions = {}): this {
    requireOptions('addStateStore', options, builderShapes.stateStore);
    if ((options.sourceTopic ?? null) !== null) requireTopic('addStateStore: the option sourceTopic', options.sourceTopic);
    this.#claimStoreName(spec.name);
    this.#draft.stores.set(spec.name, { spec, processors: [], sourceTopic: options.sourceTopic ?? null });
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
   * A store that holds all partitions of `topic` in every instance. Every processor may read it; none is connected to it. With a `processor` that one writes it.
   *
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME; MILL_TOPOLOGY_INVALID when `spec.logged` is true (the topic is the changelog), when there is no `processor` and the store is of another
   * kind than a table's, or the processor's supplier gives the same object twice.
   * @example
   * builder.addGlobalStore(stores.keyValue({ name: 'airports', logged: false }), {
   *   topic: 'airports', sourceName: 'airports-source', processorName: 'airports-rows', processor: () => new AirportRows(),
   * });
   */
  addGlobalStore(spec: StoreSpec, options: GlobalStoreOptions): this {
    requireOptions('addGlobalStore', options, builderShapes.globalStore);
    requireTopic('addGlobalStore: the option topic', options.topic);
    if (spec.logged)
      throw invalidTopology(`Global store ${spec.name} must have \`logged: false\`: its topic ${options.topic} is its changelog.`, {
        store: spec.name,
      });
    if (options.processor) checkedSupplier(options.processorName, options.processor);
    else if (spec.kind !== 'timestampedKeyValue' && spec.kind !== 'keyValue')
      throw invalidTopology(`Global store ${spec.name} is of kind ${spec.kind} and needs a \`processor\` that writes it.`, {
        store: spec.name,
      });
    this.#claimNodeName(options.sourceName);
    this.#claimNodeName(options.processorName);
    if (options.sourceName === options.processorName) throw duplicateName('node', options.sourceName);
    this.#claimStoreName(spec.name);
    this.#sourceTopics.claim(options.topic, options.sourceName);
    this.#draft.globalStores.set(spec.name, { spec, options });
    this.#draft.order.add(options.sourceName).add(options.processorName);
    this.#draft.groups.unite(options.sourceName, options.processorName);
    return this;
  }

  /**
   * Makes `name` an internal topic: created by the app and called `<applicationId>-<name>`.
   *
   * @param partitions null: as many as the largest topic upstream of it.
   * @param options `carriesWatermarks`: event time passes through it (default: it does not).
   * @throws MILL_TOPOLOGY_DUPLICATE_NAME when it was added before.
   * @example
   * builder.addRepartitionTopic('by-customer-repartition', 12).addSink('out', 'by-customer-repartition', ['rekey']);
   */
  addRepartitionTopic(name: string, partitions: number | null = null, options: { readonly carriesWatermarks?: boolean } = {}): this {
    requireOptions('addRepartitionTopic', options, builderShapes.repartitionTopic);
    checkResourceName(name, 'repartition topic');
    if (this.#draft.repartitionTopics.has(name)) throw duplicateName('repartition topic', name);
    if (partitions !== null && (!Number.isInteger(partitions) || partitions < 1)) {
      throw invalidTopology(`Repartition topic ${name}: \`partitions\` must be a whole number above 0, not ${shown(partitions)}.`, {
        topic: name,
      });
    }
    this.#draft.repartitionTopics.set(
      name,
      Object.freeze({ name, partitions, ...(options.carriesWatermarks === true ? { carriesWatermarks: true } : {}) }),
    );
    return this;
  }

  /**
   * The topics of these sources must have equal partition counts, since their records meet in one task.
   *
   * @example
   * builder.copartition(['orders', 'customers']);
   */
  copartition(sources: readonly string[]): this {
    this.#draft.copartitioned.push(sources.slice());
    return this;
  }

  /**
   * Lets a processor pass its results on at once, whatever it or the app says of commits. For processors whose stores are looked into by operators that also take
   * their results: those would otherwise see rows whose changes they have not been told.
   *
   * @example
   * builder.emitAtOnce('totals');
   */
  emitAtOnce(processor: string): this {
    this.#draft.emittingAtOnce.add(processor);
    return this;
  }

  /**
   * Makes a processor a side output: it gets only what its parents send it by name, and nothing of what they send to all children.
   *
   * @example
   * builder.addProcessor('late', () => new Late(), ['totals']).sideOutput('late');
   */
  sideOutput(processor: string): this {
    this.#draft.sides.add(processor);
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
    return freezeDraft(this.#draft);
  }

  #addNode(name: string, draft: NodeDraft): void {
    this.#draft.nodes.set(name, draft);
    this.#draft.order.add(name);
    this.#draft.groups.add(name);
    for (const parent of draft.parents) this.#draft.groups.unite(parent, name);
  }

  #claimNodeName(name: string): void {
    requireArgument('The name of a node', name, text);
    if (name === '') throw invalidTopology('A node has an empty name.', {});
    if (this.#draft.order.has(name)) throw duplicateName('node', name);
  }

  #claimStoreName(name: string): void {
    checkResourceName(name, 'store');
    if (this.#draft.stores.has(name) || this.#draft.globalStores.has(name)) throw duplicateName('store', name);
  }

  #checkParents(name: string, parents: readonly string[]): void {
    if (parents.length === 0) throw invalidTopology(`Node ${name} has no parent.`, { node: name });
    for (const parent of parents) {
      if (parent === name) throw invalidTopology(`Node ${name} can't be its own parent.`, { node: name });
      const draft = this.#draft.nodes.get(parent);
      if (draft === undefined)
        throw invalidTopology(`Node ${name} names the parent ${parent}, which has not been added.`, { node: name, parent });
      if (draft.kind === 'sink') throw invalidTopology(`Node ${name} can't have the sink ${parent} as its parent.`, { node: name, parent });
    }
  }

  #connect(processor: string, store: string): void {
    const draft = this.#draft.nodes.get(processor);
    if (draft === undefined)
      throw invalidTopology(`Store ${store} is to be connected to ${processor}, which has not been added.`, { store, node: processor });
    if (draft.kind !== 'processor')
      throw invalidTopology(`Store ${store} can't be connected to the ${draft.kind} ${processor}.`, { store, node: processor });
    if (this.#draft.globalStores.has(store)) {
      throw invalidTopology(`Global store ${store} is open to every processor; leave it out of the stores of ${processor}.`, {
        store,
        node: processor,
      });
    }
    const entry = this.#draft.stores.get(store);
    if (entry === undefined) {
      const known = [...this.#draft.stores.keys()];
      throw new MillraceError(
        'MILL_TOPOLOGY_UNKNOWN_STORE',
        `Processor ${processor} names the store ${store}; the topology has ${known.length === 0 ? 'no store' : known.join(', ')}.`,
        { details: { store, node: processor } },
      );
    }
    if (draft.stores.includes(store)) return;
    const user = entry.processors[0];
    if (user !== undefined) this.#draft.groups.unite(user, processor);
    entry.processors.push(processor);
    draft.stores.push(store);
  }
}
