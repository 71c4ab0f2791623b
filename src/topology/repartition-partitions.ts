/**
 * How many partitions each repartition topic gets. Source of the rule: Kafka Streams' `RepartitionTopics`, so that an app that moves here finds its
 * internal topics as it would have made them.
 */
import { MillraceError } from '../errors.js';
import { copartitionGroupsOf } from './copartition-groups.js';
import { checkCopartitioning } from './copartitioning.js';
import type { Topology, TopicRef } from './nodes.js';
import type { PartitionCountOf, TopicsMatching } from './partition-counts.js';
import { noTopicMatches } from './partition-counts.js';
import { sourceTopicRefs } from './source-topic-refs.js';

/**
 * Counts by topic name (without the application id). A topic with a count of its own keeps it; another gets the largest count of the source topics
 * of the sub-topologies that write to it; in a co-partition group it adopts the count of the group's other topics.
 *
 * @param partitionCountOf asked for topics that are not repartition topics
 * @throws MILL_TOPIC_MISSING when a source topic has no count; MILL_TOPOLOGY_NOT_COPARTITIONED when a group can't agree; MILL_TOPOLOGY_INVALID when
 * nothing upstream has a count (repartition topics that feed each other, a pattern that matches no topic).
 */
export function resolveRepartitionPartitions(
  topology: Topology,
  partitionCountOf: PartitionCountOf,
  topicsMatching: TopicsMatching = noTopicMatches,
): Map<string, number> {
  const counts = new Map<string, number>();
  const fixed = new Set<string>();
  for (const { name, partitions } of topology.repartitionTopics.values()) {
    if (partitions === null) continue;
    counts.set(name, partitions);
    fixed.add(name);
  }
  followTheFlow(topology, counts, partitionCountOf, topicsMatching);
  for (const group of copartitionGroupsOf(topology, topicsMatching)) adoptCount(group, counts, fixed, partitionCountOf);
  return counts;
}

function followTheFlow(
  topology: Topology,
  counts: Map<string, number>,
  partitionCountOf: PartitionCountOf,
  topicsMatching: TopicsMatching,
): void {
  for (let open = unresolved(topology, counts); open.length > 0;) {
    for (const name of open) {
      const count = largestUpstream(topology, name, counts, partitionCountOf, topicsMatching);
      if (count !== null) counts.set(name, count);
    }
    const left = unresolved(topology, counts);
    if (left.length === open.length) throw underivable(left);
    open = left;
  }
}

function underivable(topics: readonly string[]): MillraceError {
  const message = `The partition count of ${topics.join(', ')} can't be derived: nothing upstream has one.`;
  return new MillraceError('MILL_TOPOLOGY_INVALID', message, { details: { topics } });
}

function unresolved(topology: Topology, counts: ReadonlyMap<string, number>): string[] {
  return [...topology.repartitionTopics.keys()].filter((name) => !counts.has(name));
}

function largestUpstream(
  topology: Topology,
  name: string,
  counts: ReadonlyMap<string, number>,
  partitionCountOf: PartitionCountOf,
  topicsMatching: TopicsMatching,
): number | null {
  let largest: number | null = null;
  for (const sub of topology.subTopologies) {
    if (!sub.sinkTopics.some((topic) => topic.name === name)) continue;
    for (const topic of sourceTopicRefs(sub, topicsMatching)) {
      const count = topic.internal ? (counts.get(topic.name) ?? null) : externalCount(topic, partitionCountOf);
      if (count !== null && (largest === null || count > largest)) largest = count;
    }
  }
  return largest;
}

function externalCount(topic: TopicRef, partitionCountOf: PartitionCountOf): number {
  const count = partitionCountOf(topic);
  if (count !== null) return count;
  throw new MillraceError('MILL_TOPIC_MISSING', `Source topic ${topic.name} does not exist.`, { details: { topic: topic.name } });
}

/** Topics whose count is free take that of the fixed ones, or the largest among themselves; fixed ones must agree. */
function adoptCount(
  group: readonly TopicRef[],
  counts: Map<string, number>,
  fixed: ReadonlySet<string>,
  partitionCountOf: PartitionCountOf,
): void {
  const isFree = (topic: TopicRef): boolean => topic.internal && !fixed.has(topic.name);
  const countOf = (topic: TopicRef): number => (topic.internal ? (counts.get(topic.name) ?? 1) : externalCount(topic, partitionCountOf));
  const bound = group.filter((topic) => !isFree(topic));
  checkCopartitioning([bound], countOf);
  const free = group.filter(isFree);
  const first = bound[0];
  const count = first === undefined ? Math.max(...free.map(countOf)) : countOf(first);
  for (const topic of free) counts.set(topic.name, count);
}
