/**
 * Co-partitioning: records that meet in one task come from topics with equal partition counts, or equal keys would lie in different tasks and a
 * join would silently miss them. Source of the rule: Kafka Streams' `CopartitionedTopicsEnforcer`.
 */
import { MillraceError } from '../errors.js';
import type { TopicRef } from './nodes.js';
import type { PartitionCountOf } from './partition-counts.js';

/**
 * @param partitionCountOf topics for which it says null are left out
 * @throws MILL_TOPOLOGY_NOT_COPARTITIONED with two topics of a group that differ, and their counts.
 */
export function checkCopartitioning(groups: readonly (readonly TopicRef[])[], partitionCountOf: PartitionCountOf): void {
  for (const group of groups) {
    let first: { readonly topic: TopicRef; readonly count: number } | null = null;
    for (const topic of group) {
      const count = partitionCountOf(topic);
      if (count === null) continue;
      first ??= { topic, count };
      if (count !== first.count) throw unequal(first.topic, first.count, topic, count);
    }
  }
}

function unequal(a: TopicRef, countA: number, b: TopicRef, countB: number): MillraceError {
  return new MillraceError(
    'MILL_TOPOLOGY_NOT_COPARTITIONED',
    `Topics ${a.name} (${partitions(countA)}) and ${b.name} (${partitions(countB)}) are read by one task, so they need equal partition counts.`,
    { details: { topics: { [a.name]: countA, [b.name]: countB } } },
  );
}

function partitions(count: number): string {
  return count === 1 ? '1 partition' : `${count} partitions`;
}
