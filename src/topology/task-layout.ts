/**
 * Which tasks a topology has, and what each reads and keeps. Pure: the same topology and partition counts give the same layout in every instance,
 * which is what lets a leader assign tasks and another member run them.
 */
import type { StoreNode, SubTopology, Topology, TopicRef } from './nodes.js';
import type { PartitionCountOf, TopicsMatching } from './partition-counts.js';
import { eventTimeSources, watermarkWriters } from './event-time.js';
import { noTopicMatches } from './partition-counts.js';
import { sourceTopicRefs } from './source-topic-refs.js';

/** Sub-topology × partition. */
export interface TaskId {
  readonly subTopology: number;
  readonly partition: number;
}

/** A partition that a task reads, under the topic's full name. */
export interface InputPartition {
  readonly topic: string;
  readonly partition: number;
}

/** Where a store of a task keeps its history. */
export interface ChangelogPartition {
  readonly store: string;
  readonly topic: string;
  readonly partition: number;
  /** True when the topic is one of the task's source topics: read to restore, never written. */
  readonly isSourceTopic: boolean;
}

/** A repartition topic under its full name. */
export interface RepartitionTarget {
  readonly topic: string;
  readonly partitions: number;
}

/** The name of a topic on the broker: internal ones begin with the application id. */
export function qualifiedName(applicationId: string, topic: TopicRef): string {
  return topic.internal ? `${applicationId}-${topic.name}` : topic.name;
}

/** `<applicationId>-<store>-changelog`, or the source topic that serves as the changelog. null: the store has none. */
export function changelogTopic(applicationId: string, store: StoreNode): string | null {
  if (store.sourceTopic !== null) return store.sourceTopic;
  return store.spec.logged ? `${applicationId}-${store.spec.name}-changelog` : null;
}

export class TaskLayout {
  readonly #topology: Topology;
  readonly #applicationId: string;
  readonly #partitionCountOf: PartitionCountOf;
  readonly #topics = new Map<number, readonly { readonly topic: string; readonly partitions: number }[]>();
  /** Every task, by sub-topology, then partition: as many for a sub-topology as the largest of its source topics has partitions. */
  readonly tasks: readonly TaskId[];

  /**
   * @param partitionCountOf repartition topics included (see `resolveRepartitionPartitions`); null counts as no partition
   * @param topicsMatching what sources with a pattern read
   */
  constructor(
    topology: Topology,
    applicationId: string,
    partitionCountOf: PartitionCountOf,
    topicsMatching: TopicsMatching = noTopicMatches,
  ) {
    this.#topology = topology;
    this.#applicationId = applicationId;
    this.#partitionCountOf = partitionCountOf;
    const tasks: TaskId[] = [];
    for (const sub of topology.subTopologies) {
      const topics = sourceTopicRefs(sub, topicsMatching).map((topic) => ({
        topic: qualifiedName(applicationId, topic),
        partitions: partitionCountOf(topic) ?? 0,
      }));
      this.#topics.set(sub.id, topics);
      const count = Math.max(0, ...topics.map(({ partitions }) => partitions));
      for (let partition = 0; partition < count; partition += 1) tasks.push(Object.freeze({ subTopology: sub.id, partition }));
    }
    this.tasks = Object.freeze(tasks);
  }

  /** What a task reads: its partition of each source topic that has one. */
  inputPartitions(task: TaskId): readonly InputPartition[] {
    const topics = this.#topics.get(task.subTopology) ?? [];
    return topics.filter(({ partitions }) => task.partition < partitions).map(({ topic }) => ({ topic, partition: task.partition }));
  }

  /** The tasks whose watermarks come through a repartition topic (its full name); none for other topics and for those that carry none. */
  watermarkSenders(topic: string): readonly TaskId[] {
    for (const name of this.#topology.repartitionTopics.keys()) {
      if (qualifiedName(this.#applicationId, { name, internal: true }) !== topic) continue;
      return watermarkWriters(this.#topology, name).flatMap((sub) => {
        const count = this.#watermarkedPartitions(sub);
        return this.tasks.filter(({ subTopology, partition }) => subTopology === sub.id && partition < count);
      });
    }
    return [];
  }

  /** Tasks from here on read no partition that says anything about event time: nobody may wait for their watermarks. */
  #watermarkedPartitions(sub: SubTopology): number {
    const counts = eventTimeSources(this.#topology, sub).flatMap(({ pattern, topics }) =>
      pattern === null
        ? topics.map((topic) => this.#partitionCountOf(topic) ?? 0)
        : (this.#topics.get(sub.id) ?? []).map(({ partitions }) => partitions),
    );
    return Math.max(0, ...counts);
  }

  /** The repartition topics through which the tasks of a sub-topology send their watermarks. */
  watermarkTargets(subTopology: number): readonly RepartitionTarget[] {
    const targets: RepartitionTarget[] = [];
    for (const name of this.#topology.repartitionTopics.keys()) {
      if (!watermarkWriters(this.#topology, name).some(({ id }) => id === subTopology)) continue;
      const ref = { name, internal: true };
      targets.push({ topic: qualifiedName(this.#applicationId, ref), partitions: this.#partitionCountOf(ref) ?? 0 });
    }
    return targets;
  }

  /** The changelog partitions of a task's stores; stores without a changelog are left out. */
  changelogPartitions(task: TaskId): readonly ChangelogPartition[] {
    const sub = this.#topology.subTopologies.find(({ id }) => id === task.subTopology);
    const partitions: ChangelogPartition[] = [];
    for (const name of sub?.stores ?? []) {
      const store = this.#topology.stores.get(name);
      const topic = store === undefined ? null : changelogTopic(this.#applicationId, store);
      if (store !== undefined && topic !== null) {
        partitions.push({ store: name, topic, partition: task.partition, isSourceTopic: store.sourceTopic !== null });
      }
    }
    return partitions;
  }
}
