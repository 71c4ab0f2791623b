import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import { formatTaskId, parseTaskId, type TaskId } from '../rebalance/task-id.js';
import type { TaskSpec } from '../rebalance/assignment-plan.js';
import { MillraceError } from '../errors.js';
import type { Topology, TopicRef } from '../topology/nodes.js';
import { copartitionGroupsOf } from '../topology/copartition-groups.js';
import { checkCopartitioning } from '../topology/copartitioning.js';
import { checkStatePartitions } from '../topology/state-partitions.js';
import { topicPatternMatches } from '../topology/topic-pattern.js';
import { changelogTopic, qualifiedName, TaskLayout } from '../topology/task-layout.js';
import { sourceTopicsOf } from './source-topics.js';
import type { TaskPlan } from './task-plan.js';

/**
 * The tasks of an app for the topics as they are now: made from the topology and fresh metadata, the same in every instance.
 */
export class TaskPlans {
  private constructor(
    private readonly applicationId: string,
    private readonly topology: Topology,
    private readonly layout: TaskLayout,
    private readonly topicIds: ReadonlyMap<string, string | null>,
    private readonly sourceOf: (topic: string, subTopology: number) => TaskPlan['inputs'][number] | undefined,
  ) {}

  /**
   * Reads the metadata of every topic of the topology.
   *
   * @throws MILL_TOPIC_MISSING, MILL_TOPOLOGY_NOT_COPARTITIONED; MILL_TOPIC_INCOMPATIBLE when state was made with another partition count
   */
  static async read(applicationId: string, topology: Topology, port: KafkaPort): Promise<TaskPlans> {
    const sources = sourceTopicsOf(topology);
    const metadata = await port.metadata(sources.hasPatterns ? 'all' : topicNames(applicationId, topology), { refresh: true });
    const counts = new Map<string, number>();
    const topicIds = new Map<string, string | null>();
    for (const [name, topic] of metadata.topics) {
      topicIds.set(name, topic.topicId);
      if (topic.errorCode === 0) counts.set(name, topic.partitions.length);
    }
    const external = [...metadata.topics.values()]
      .filter(({ isInternal, errorCode }) => !isInternal && errorCode === 0)
      .map(({ name }) => name);
    const missing = sources.topics.filter((topic) => !counts.has(qualifiedName(applicationId, topic)));
    if (missing.length > 0) throw missingTopics(missing.map((topic) => qualifiedName(applicationId, topic)));
    const countOf = (topic: TopicRef): number | null => counts.get(qualifiedName(applicationId, topic)) ?? null;
    const matching = (pattern: RegExp): string[] => external.filter((name) => topicPatternMatches(pattern, name));
    checkCopartitioning(copartitionGroupsOf(topology, matching), countOf);
    const layout = new TaskLayout(topology, applicationId, countOf, matching);
    checkStatePartitions(topology, applicationId, layout, (topic) => counts.get(topic) ?? null);
    return new TaskPlans(applicationId, topology, layout, topicIds, sourceLookup(applicationId, topology));
  }

  /** Every task with what it reads, for the group's leader. */
  get specs(): TaskSpec[] {
    return this.layout.tasks.map((task) => ({
      task,
      inputs: this.layout.inputPartitions(task),
      changelogs: this.layout.changelogPartitions(task).map(({ topic, partition }) => ({ topic, partition })),
    }));
  }

  taskCount(subTopology: number): number {
    return this.layout.tasks.filter((task) => task.subTopology === subTopology).length;
  }

  /** Whether both have the same tasks reading the same partitions. */
  equals(other: TaskPlans): boolean {
    const text = (plans: TaskPlans): string => JSON.stringify(plans.specs);
    return text(this) === text(other);
  }

  /** Full names of what the tasks read. */
  get sourceTopics(): string[] {
    return [...new Set(this.specs.flatMap(({ inputs }) => inputs.map(({ topic }) => topic)))];
  }

  /** Where the source that reads the topic goes on without a position; null: as the app does. */
  offsetReset(topic: string): TaskPlan['inputs'][number]['offsetReset'] {
    for (const { id } of this.topology.subTopologies) {
      const source = this.sourceOf(topic, id);
      if (source !== undefined) return source.offsetReset;
    }
    return null;
  }

  /** Input partitions of a task. */
  inputs(id: string): readonly TopicPartition[] {
    return this.layout.inputPartitions(parseTaskId(id));
  }

  /** Ids of the tasks that send their watermarks through a repartition topic. */
  senders(topic: string): readonly string[] {
    return this.layout.watermarkSenders(topic).map(formatTaskId);
  }

  plan(id: string): TaskPlan {
    const task: TaskId = parseTaskId(id);
    const { topology, applicationId } = this;
    const subTopology = topology.subTopologies.find((sub) => sub.id === task.subTopology);
    if (subTopology === undefined) throw new MillraceError('MILL_INVARIANT', `task ${id} is not of this topology`);
    const inputs = this.layout.inputPartitions(task).map(({ topic, partition }) => {
      const source = this.sourceOf(topic, task.subTopology);
      if (source === undefined) throw new MillraceError('MILL_INVARIANT', `no source of sub-topology ${task.subTopology} reads ${topic}`);
      return { ...source, topic, partition, senders: this.senders(topic) };
    });
    const changelogs = this.layout.changelogPartitions(task).map(({ store, topic, partition, isSourceTopic }) => ({
      store,
      topic,
      partition,
      isSourceTopic,
      topicId: this.topicIds.get(topic) ?? null,
    }));
    return {
      id,
      partition: task.partition,
      topology,
      subTopology,
      inputs,
      watermarkTargets: this.layout.watermarkTargets(task.subTopology),
      peers: this.layout.tasks.filter(({ subTopology: id }) => id === task.subTopology).length,
      stores: subTopology.stores.flatMap((name) => {
        const store = topology.stores.get(name);
        return store === undefined ? [] : [store.spec];
      }),
      changelogs,
      topicOf: (name, internal) => qualifiedName(applicationId, { name, internal }),
    };
  }
}

/** Full names of every topic that the topology names. */
function topicNames(applicationId: string, topology: Topology): string[] {
  const names = new Set<string>();
  for (const topic of sourceTopicsOf(topology).topics) names.add(qualifiedName(applicationId, topic));
  for (const store of topology.stores.values()) {
    const changelog = changelogTopic(applicationId, store);
    if (changelog !== null) names.add(changelog);
  }
  return [...names];
}

function sourceLookup(applicationId: string, topology: Topology) {
  return (topic: string, subTopology: number): TaskPlan['inputs'][number] | undefined => {
    const sub = topology.subTopologies.find(({ id }) => id === subTopology);
    for (const name of sub?.nodes ?? []) {
      const node = topology.nodes.get(name);
      if (node?.kind !== 'source') continue;
      if (
        node.topics.some((ref) => qualifiedName(applicationId, ref) === topic) ||
        (node.pattern !== null && topicPatternMatches(node.pattern, topic))
      ) {
        return { topic, partition: -1, sourceNode: name, offsetReset: node.offsetReset, senders: [] };
      }
    }
    return undefined;
  };
}

function missingTopics(topics: readonly string[]): MillraceError {
  return new MillraceError('MILL_TOPIC_MISSING', `source topic(s) ${topics.join(', ')} do not exist`, { details: { topics } });
}
