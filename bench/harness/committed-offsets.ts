import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaPort, TopicPartition } from '../../src/kafka/port.js';

const pollMs = 10;

/** Resolves with the wall clock, ms, at which the group's committed offsets were first seen at the end of every partition of `topic`. */
export async function untilCommitted(port: KafkaPort, groupId: string, topic: string): Promise<number> {
  return untilAtEnd(port, groupId, [topic], 0);
}

/**
 * The same for several topics, and after them for the application's own, whose ends are final by then. Behind the last record of those stands the
 * marker of its transaction, which the committed offset need not have passed.
 */
export async function untilAllCommitted(
  port: KafkaPort,
  groupId: string,
  topics: readonly string[],
  internal: readonly string[],
): Promise<number> {
  const at = await untilAtEnd(port, groupId, topics, 0);
  return internal.length === 0 ? at : untilAtEnd(port, groupId, internal, 1);
}

/** Resolves when the group has no member. */
export async function untilEmpty(port: KafkaPort, groupId: string): Promise<void> {
  for (;;) {
    const group = await port.admin.describeGroup(groupId);
    if (group === null || group.members.length === 0) return;
    await delay(100);
  }
}

async function untilAtEnd(port: KafkaPort, groupId: string, topics: readonly string[], markers: number): Promise<number> {
  const ends = await port.listOffsets((await partitionsOf(port, topics)).map((one) => ({ ...one, at: 'latest' })));
  const coordinator = await port.findCoordinator('group', groupId);
  for (;;) {
    const { offsets } = await port.offsetFetch(coordinator, { groupId, partitions: ends, requireStable: false });
    const now = Date.now();
    const committed = new Map(offsets.map(({ topic, partition, offset }) => [`${topic}-${partition}`, offset]));
    if (ends.every(({ topic, partition, offset }) => (committed.get(`${topic}-${partition}`) ?? 0) >= offset - markers)) return now;
    await delay(pollMs);
  }
}

async function partitionsOf(port: KafkaPort, topics: readonly string[]): Promise<TopicPartition[]> {
  const { topics: found } = await port.metadata(topics, { refresh: true });
  return topics.flatMap((topic) => (found.get(topic)?.partitions ?? []).map(({ partition }) => ({ topic, partition })));
}
