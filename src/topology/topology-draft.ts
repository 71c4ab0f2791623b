/** A topology while it is being declared: what `TopologyBuilder` collects and `freezeDraft` turns into a `Topology`. */
import type { OperatorSupplier } from '../processors/operator.js';
import type { Processor } from '../processors/processor.js';
import type { StoreSpec } from '../stores/store.js';
import type { RepartitionTopic, TopicNameExtractor } from './nodes.js';
import type { SinkOptions } from './sink-node.js';
import type { SourceOptions } from './source-node.js';
import { UnionFind } from './union-find.js';

/** A source reads named topics, or all topics that a pattern matches. */
export type SourceSpec = SourceOptions & ({ readonly topics: readonly string[] } | { readonly pattern: RegExp });

/** For `addGlobalStore`. */
export interface GlobalStoreOptions extends SourceOptions {
  /** Read whole by every instance. */
  readonly topic: string;
  /** Name of the node that reads it. */
  readonly sourceName: string;
  /** Name of the node that writes the store. */
  readonly processorName: string;
  /**
   * Makes the processor that writes the store out of the topic's records, one in each instance. It has the store, and neither children nor timers. Default: each record is a row
   * of the table, null deletes.
   */
  readonly processor?: (() => Processor<never, never>) | null;
}

/** For `addStateStore` of a `TopologyBuilder`. */
export interface StateStoreOptions {
  /** Processors that use the store; more can be connected later. */
  readonly processors?: readonly string[];
  /** A source topic that serves as the store's changelog. */
  readonly sourceTopic?: string | null;
}

/** A node as it was declared; its children are not known yet. */
export type NodeDraft =
  | { readonly kind: 'source'; readonly spec: SourceSpec; readonly parents: readonly string[] }
  | { readonly kind: 'processor'; readonly supplier: OperatorSupplier; readonly stores: string[]; readonly parents: readonly string[] }
  | {
      readonly kind: 'sink';
      readonly topic: string | TopicNameExtractor;
      readonly options: SinkOptions;
      readonly parents: readonly string[];
    };

/** A store as it was declared; `processors` grows. */
export interface StoreDraft {
  readonly spec: StoreSpec;
  readonly processors: string[];
  readonly sourceTopic: string | null;
}

export interface GlobalStoreDraft {
  readonly spec: StoreSpec;
  readonly options: GlobalStoreOptions;
}

export class TopologyDraft {
  readonly nodes = new Map<string, NodeDraft>();
  readonly stores = new Map<string, StoreDraft>();
  readonly globalStores = new Map<string, GlobalStoreDraft>();
  readonly repartitionTopics = new Map<string, RepartitionTopic>();
  /** Names of source nodes whose topics meet in a task. */
  readonly copartitioned: (readonly string[])[] = [];
  /** Names of processors that get only what their parents send them by name. */
  readonly sides = new Set<string>();
  /** Names of processors that never hold results back. */
  readonly emittingAtOnce = new Set<string>();
  /** Which nodes share a task: joined by edges and by stores. */
  readonly groups = new UnionFind();
  /** All node names in order, those of global stores included, since they take part in the numbering of sub-topologies. */
  readonly order = new Set<string>();
}
