import { Kafka, logLevel } from 'kafkajs';
import { setTimeout as delay } from 'node:timers/promises';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Stack } from '../../scripts/stack/stack.js';
import type { ClusterFault } from './fault.js';

/** Long enough for a partition to work under another leader, short enough for several moves in a run. */
const awayMs = 4000;
const attempts = 20;

export async function strikeCluster(stack: Stack, fault: ClusterFault, applicationId: string, signal: AbortSignal): Promise<void> {
  if (fault.kind === 'restartBroker') await stack.restartBroker(fault.broker, fault.signal);
  else await moveLeaders(stack.bootstrapServers, applicationId, new Random(fault.seed), signal);
}

/** Takes the leader of every second partition out of its replicas, and gives it back behind the others: it leads no more. */
async function moveLeaders(brokers: readonly string[], applicationId: string, random: Random, signal: AbortSignal): Promise<void> {
  const admin = new Kafka({ clientId: 'chaos', brokers: [...brokers], logLevel: logLevel.NOTHING }).admin();
  await admin.connect();
  try {
    const names = (await admin.listTopics()).filter((name) => name.startsWith(applicationId) || name.startsWith('__'));
    const { topics } = await admin.fetchTopicMetadata({ topics: names });
    const moves = topics.flatMap(({ name, partitions }) =>
      partitions
        .filter(({ leader, replicas }) => replicas.length > 2 && leader > 0 && random.chance(0.5))
        .map(({ partitionId, leader, replicas }) => ({
          topic: name,
          partition: partitionId,
          others: replicas.filter((replica) => replica !== leader),
          leader,
        })),
    );
    const reassign = (replicasOf: (move: (typeof moves)[number]) => number[]): Promise<void> =>
      retried(async () => {
        if (moves.length === 0) return;
        const byTopic = [...new Set(moves.map(({ topic }) => topic))];
        await admin.alterPartitionReassignments({
          topics: byTopic.map((topic) => ({
            topic,
            partitionAssignment: moves
              .filter((move) => move.topic === topic)
              .map((move) => ({ partition: move.partition, replicas: replicasOf(move) })),
          })),
        });
      });
    await reassign(({ others }) => others);
    await delay(awayMs, undefined, { signal }).catch(() => undefined);
    await reassign(({ others, leader }) => [...others, leader]);
  } finally {
    await admin.disconnect();
  }
}

/** A controller that is just being elected refuses. */
async function retried(work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await work();
      return;
    } catch (error) {
      if (attempt === attempts) throw error;
      await delay(500);
    }
  }
}
