/** Which topics a topology reads and writes under the driver, and how many partitions each has. */
import { MillraceError } from '../errors.js';
import { nearest } from '../errors/checked-options.js';
import type { Topology, TopicRef } from '../topology/nodes.js';
import { copartitionGroupsOf } from '../topology/copartition-groups.js';
import { checkCopartitioning } from '../topology/copartitioning.js';
import { resolveRepartitionPartitions } from '../topology/repartition-partitions.js';
import { changelogTopic, qualifiedName, TaskLayout } from '../topology/task-layout.js';
import { topicPatternMatches } from '../topology/topic-pattern.js';

export class DriverTopics {
  readonly layout: TaskLayout;
  private readonly repartitions: ReadonlyMap<string, number>;

  /**
   * @param configured partition counts by topic name
   * @throws MILL_TOPOLOGY_NOT_COPARTITIONED, MILL_CONFIG_INVALID
   */
  constructor(
    private readonly topology: Topology,
    private readonly applicationId: string,
    private readonly configured: Readonly<Record<string, number>>,
    deadLetterTopic: string | null = null,
  ) {
    for (const [topic, count] of Object.entries(configured)) {
      if (!mayMeet(topology, topic) && topic !== deadLetterTopic) throw unknownTopic(topology, topic);
      if (!Number.isInteger(count) || count < 1)
        throw new MillraceError('MILL_CONFIG_INVALID', `partitions: topic ${topic} can’t have ${count} partitions.`);
    }
    const matching = (pattern: RegExp): string[] => Object.keys(configured).filter((name) => topicPatternMatches(pattern, name));
    this.repartitions = resolveRepartitionPartitions(topology, (topic) => this.external(topic.name), matching);
    const countOf = (topic: TopicRef): number => (topic.internal ? (this.repartitions.get(topic.name) ?? 1) : this.external(topic.name));
    checkCopartitioning(copartitionGroupsOf(topology, matching), countOf);
    this.layout = new TaskLayout(topology, applicationId, countOf, matching);
  }

  /** Partitions of a topic by its full name. */
  partitions(topic: string): number {
    for (const [name, count] of this.repartitions) if (topic === `${this.applicationId}-${name}`) return count;
    return this.external(topic);
  }

  /** The source node of a sub-topology that reads a topic, by the topic's full name. */
  sourceOf(topic: string, subTopology: number): string {
    for (const name of this.topology.subTopologies.find(({ id }) => id === subTopology)?.nodes ?? []) {
      const node = this.topology.nodes.get(name);
      if (node?.kind !== 'source') continue;
      if (node.topics.some((ref) => qualifiedName(this.applicationId, ref) === topic)) return name;
      if (node.pattern !== null && topicPatternMatches(node.pattern, topic)) return name;
    }
    throw new MillraceError('MILL_INVARIANT', `No source of sub-topology ${subTopology} reads ${topic}.`);
  }

  /** @throws MILL_TOPIC_MISSING when nothing in the topology reads the topic */
  checkInput(topic: string): void {
    const read = new Set<string>([...this.topology.globalStores.values()].map((store) => store.topic));
    for (const task of this.layout.tasks) for (const input of this.layout.inputPartitions(task)) read.add(input.topic);
    if (read.has(topic)) return;
    throw new MillraceError('MILL_TOPIC_MISSING', `The topology does not read ${topic}; it reads ${[...read].sort().join(', ')}.`, {
      details: { topic },
    });
  }

  /** @throws MILL_TOPIC_MISSING when nothing in the topology can write the topic */
  checkOutput(topic: string, written: boolean, deadLetterTopic: string | null): void {
    if (written || topic === deadLetterTopic) return;
    const names = new Set<string>();
    for (const node of this.topology.nodes.values()) {
      if (node.kind !== 'sink') continue;
      if (typeof node.topic === 'function') return;
      names.add(qualifiedName(this.applicationId, node.topic));
    }
    for (const store of this.topology.stores.values()) names.add(changelogTopic(this.applicationId, store) ?? '');
    names.delete('');
    if (names.has(topic)) return;
    throw new MillraceError('MILL_TOPIC_MISSING', `The topology does not write ${topic}; it writes ${[...names].sort().join(', ')}.`, {
      details: { topic },
    });
  }

  private external(topic: string): number {
    return this.configured[topic] ?? 1;
  }
}

/** Whether the topology reads or writes a topic of the users' of that name, as far as can be known before the first record. */
function mayMeet(topology: Topology, topic: string): boolean {
  if (namedTopics(topology).has(topic)) return true;
  for (const node of topology.nodes.values()) {
    if (node.kind === 'sink' && typeof node.topic === 'function') return true;
    if (node.kind === 'source' && node.pattern !== null && topicPatternMatches(node.pattern, topic)) return true;
  }
  return false;
}

function namedTopics(topology: Topology): ReadonlySet<string> {
  const names = new Set<string>([...topology.globalStores.values()].map(({ topic }) => topic));
  const add = ({ name, internal }: TopicRef): unknown => !internal && names.add(name);
  for (const node of topology.nodes.values()) {
    if (node.kind === 'source') node.topics.forEach(add);
    else if (node.kind === 'sink' && typeof node.topic !== 'function') add(node.topic);
  }
  return names;
}

function unknownTopic(topology: Topology, topic: string): MillraceError {
  const known = [...namedTopics(topology)].sort();
  const near = nearest(topic, known);
  const help = near === null ? `it has ${known.join(', ')}.` : `did you mean ${near}?`;
  return new MillraceError('MILL_CONFIG_INVALID', `partitions: the topology has no topic ${topic}; ${help}`, {
    details: { topic },
  });
}
