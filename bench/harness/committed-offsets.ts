import { setTimeout as delay } from 'node:timers/promises';
import type { KafkaPort } from '../../src/kafka/port.js';

const pollMs = 10;

/** Resolves with the wall clock, ms, at which the group's committed offsets were first seen at the end of every partition of `topic`. */
export async function untilCommitted(port: KafkaPort, groupId: string, topic: string, partitions: number): Promise<number> {
  const indices = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }));
  const ends = await port.listOffsets(indices.map((one) => ({ ...one, at: 'latest' })));
  const coordinator = await port.findCoordinator('group', groupId);
  for (;;) {
    const { offsets } = await port.offsetFetch(coordinator, { groupId, partitions: indices, requireStable: false });
    const now = Date.now();
    const committed = new Map(offsets.map(({ partition, offset }) => [partition, offset]));
    if (ends.every(({ partition, offset }) => (committed.get(partition) ?? -1) >= offset)) return now;
    await delay(pollMs);
  }
}

/** Resolves when the group has no member. */
export async function untilEmpty(port: KafkaPort, groupId: string): Promise<void> {
  for (;;) {
    const group = await port.admin.describeGroup(groupId);
    if (group === null || group.members.length === 0) return;
    await delay(100);
  }
}
