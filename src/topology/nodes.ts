/** The frozen node kinds that a topology is made of. No I/O, no run-time state. */
import type { Serde } from '../serdes/serde.js';
import type { OperatorSupplier } from '../processors/operator.js';
import type { StoreSpec } from '../stores/store.js';
import type { OffsetReset } from '../time/offset-reset.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';
import type { WatermarkStrategy } from '../time/watermarks/watermark-strategy.js';
import type { Headers } from '../bytes/headers.js';

/** A node of any kind. */
export type TopologyNode = SourceNode | ProcessorNode | SinkNode;

/** A topic by its name. `internal` topics are created by the app and prefixed with the application id at run time. */
export interface TopicRef {
  readonly name: string;
  readonly internal: boolean;
}

/** Reads topics. */
export interface SourceNode {
  readonly kind: 'source';
  readonly name: string;
  /** Empty when `pattern` is set. */
  readonly topics: readonly TopicRef[];
  readonly pattern: RegExp | null;
  /** null: the app's default serde. */
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
  readonly timestampExtractor: TimestampExtractor | null;
  /** null: the app's `autoOffsetReset`. */
  readonly offsetReset: OffsetReset | null;
  /** null: the source says nothing about event time. */
  readonly watermarks: WatermarkStrategy<never> | null;
  readonly children: readonly string[];
}

/** A step: an operator of the DSL, or a processor of your own. */
export interface ProcessorNode {
  readonly kind: 'processor';
  readonly name: string;
  /** It never holds results back until a commit, whatever it or the app says: its store is looked into by a join that also takes its results. */
  readonly emitsAtOnce?: boolean;
  /** It gets only what a parent sends it by name: a side output. */
  readonly isSide?: boolean;
  /** Makes the operator, once a task. Opaque. */
  readonly supplier: OperatorSupplier;
  /** Names of the stores that it uses. */
  readonly stores: readonly string[];
  readonly parents: readonly string[];
  readonly children: readonly string[];
}

/** Writes to a topic, or to the one that a function names for each record. */
export interface SinkNode {
  readonly kind: 'sink';
  readonly name: string;
  readonly topic: TopicRef | TopicNameExtractor;
  readonly keySerde: Serde<unknown> | null;
  readonly valueSerde: Serde<unknown> | null;
  readonly partitioner: Partitioner | null;
  readonly parents: readonly string[];
}

/** Names the topic that a record goes to. It must exist. */
export type TopicNameExtractor = (
  key: unknown,
  value: unknown,
  record: { readonly topic: string | null; readonly partition: number; readonly offset: number; readonly timestamp: number },
) => string;

/** Partition for a record, or several, or null for the default (murmur2 of the key bytes). */
export interface Partitioner {
  /**
   * A number from 0 to `partitions` less 1, or null for the default. An array of them sends a copy of the record to each (Kafka Streams' multicast); with an empty one the record
   * is dropped and counted (`no-partition`).
   *
   * @param keyBytes the serialised key; null for a null key
   */
  partition(topic: string, key: unknown, value: unknown, partitions: number, keyBytes: Buffer | null): number | readonly number[] | null;
}

/** A store and how it is wired. */
export interface StoreNode {
  readonly spec: StoreSpec;
  readonly processors: readonly string[];
  /** The source topic that serves as the changelog (optimised source tables), else null. */
  readonly sourceTopic: string | null;
}

/** A replicated table: all partitions of a topic in one store of every instance. */
export interface GlobalStoreNode {
  /** Its place in the numbering of the sub-topologies: an id that no task has, as in Kafka Streams. */
  readonly id: number;
  readonly spec: StoreSpec;
  readonly topic: string;
  readonly source: SourceNode;
  /** Name of the node that writes the store, also when there is no `processor`. */
  readonly processorName: string;
  /** Turns records into store writes; null = the record as it is. */
  readonly processor: ProcessorNode | null;
}

/** An internal repartition topic. */
export interface RepartitionTopic {
  /** Without the application id: `<name>-repartition`. */
  readonly name: string;
  /** null: as many as the largest of its upstream topics. */
  readonly partitions: number | null;
  /** The tasks that write it tell those that read it how far event time is: somebody downstream works in it. Absent: they don't. */
  readonly carriesWatermarks?: boolean;
}

/** Nodes that records reach without a topic between them. One task for each of its partitions. */
export interface SubTopology {
  /** The first half of its task ids. */
  readonly id: number;
  readonly nodes: readonly string[];
  /** Source topics, internal ones included. */
  readonly sourceTopics: readonly TopicRef[];
  readonly sourcePatterns: readonly RegExp[];
  readonly sinkTopics: readonly TopicRef[];
  readonly stores: readonly string[];
}

/**
 * How results of tables are told. `streaming`: as they change. `batch`: once a key, at the end of a bounded run; an app of such a topology is run with `runUntilEnd`.
 */
export type ExecutionMode = 'streaming' | 'batch';

/** What `build()` gives and `StreamsApp` runs: frozen data. */
export interface Topology {
  /** What it was built for. */
  readonly mode: ExecutionMode;
  readonly nodes: ReadonlyMap<string, TopologyNode>;
  readonly stores: ReadonlyMap<string, StoreNode>;
  readonly globalStores: ReadonlyMap<string, GlobalStoreNode>;
  readonly repartitionTopics: ReadonlyMap<string, RepartitionTopic>;
  /** Groups of source topics that must have equal partition counts, as far as they are known by name: `copartitionGroupsOf` adds what patterns match. */
  readonly copartitionGroups: readonly (readonly TopicRef[])[];
  /** Groups of source nodes whose records meet, by name. */
  readonly copartitionedSources: readonly (readonly string[])[];
  readonly subTopologies: readonly SubTopology[];
  /** In the form of Kafka Streams' `TopologyDescription`. */
  describe(): string;
  /** The same as plain data, for tools. */
  toJSON(): object;
}

export type { Headers };
