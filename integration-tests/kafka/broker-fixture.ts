/** Ports to the shared broker, fresh topics and small record batches for the tests of this folder. */
import { randomUUID } from 'node:crypto';

import type { FetchedPartition, KafkaPort, ProducedPartition, TopicPartition } from '../../src/kafka/port.js';
import type { KafkajsPortOptions } from '../../src/kafka/kafkajs/kafkajs-port.js';
import { wholeBatches } from '../../src/kafka/fetcher/whole-batches.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import type { BatchIdentity } from '../../src/kafka/record-batch/encoded-batches.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { silentLogger } from '../../src/observability/logger.js';

export const unique = (name: string): string => `${name}-${randomUUID().slice(0, 8)}`;

export function openPort(brokers = (process.env['KAFKA_BROKERS'] ?? '').split(','), options: KafkajsPortOptions = {}): KafkaPort {
  return createKafkajsPort({ brokers, clientId: 'millrace-test' }, silentLogger, options);
}

export async function createTopic(port: KafkaPort, name: string, partitions = 1, configs: Record<string, string> = {}): Promise<string> {
  const topic = unique(name);
  const [created] = await port.admin.createTopics([{ topic, partitions, replicationFactor: -1, configs }]);
  if (created?.errorCode !== 0) throw new Error(`topic ${topic}: ${created?.errorCode} ${created?.errorMessage}`);
  return topic;
}

export function batchesOf(values: readonly string[], identity: BatchIdentity | null = null, baseSequence = 0): Buffer[] {
  const builder = new RecordBatchBuilder({ maxBatchBytes: 1_000_000 });
  for (const value of values) {
    const bytes = Buffer.from(value);
    builder.appendRaw(1_700_000_000_000, null, 0, 0, bytes, 0, bytes.length, null);
  }
  const taken = builder.take()!;
  taken.stamp(identity, baseSequence);
  return taken.batches.map((batch) => batch.buffer);
}

export async function leaderOf(port: KafkaPort, { topic, partition }: TopicPartition): Promise<number> {
  const { topics } = await port.metadata([topic]);
  return topics.get(topic)!.partitions[partition]!.leader;
}

export async function produceTo(
  port: KafkaPort,
  to: TopicPartition,
  values: readonly string[],
  transaction: { readonly transactionalId: string; readonly identity: BatchIdentity; readonly baseSequence: number } | null = null,
): Promise<ProducedPartition> {
  const records = batchesOf(values, transaction?.identity ?? null, transaction?.baseSequence ?? 0);
  const request = {
    transactionalId: transaction?.transactionalId ?? null,
    acks: -1,
    timeoutMs: 10_000,
    partitions: [{ ...to, records }],
  } as const;
  const { partitions } = await port.produce(await leaderOf(port, to), request);
  return partitions[0]!;
}

export async function fetchFrom(
  port: KafkaPort,
  from: TopicPartition,
  offset: number,
  isolation: 'read_committed' | 'read_uncommitted' = 'read_committed',
): Promise<FetchedPartition> {
  const request = { isolation, maxWaitMs: 200, minBytes: 1, maxBytes: 10_000_000, partitions: [{ ...from, offset, maxBytes: 1_000_000 }] };
  const { partitions } = await port.fetch(await leaderOf(port, from), request);
  return partitions[0]!;
}

export function valuesOf(
  fetched: FetchedPartition | Omit<FetchedPartition, 'errorCode'>,
  fetchOffset: number,
  isolation: 'read_committed' | 'read_uncommitted',
): string[] {
  const cursor = new RecordCursor();
  const { topic, partition, abortedTransactions } = fetched;
  cursor.open(fetched.records, { topic, partition, fetchOffset, isolation, abortedTransactions });
  const values: string[] = [];
  while (cursor.next()) values.push(cursor.buffer.toString('utf8', cursor.valueStart, cursor.valueEnd));
  return values;
}

/** All values up to `end`, which has to be reached; a fetch may bring less than there is. */
export async function readUpTo(
  port: KafkaPort,
  from: TopicPartition,
  end: number,
  isolation: 'read_committed' | 'read_uncommitted',
): Promise<string[]> {
  const values: string[] = [];
  let position = 0;
  await eventually(
    async () => {
      const fetched = await fetchFrom(port, from, position, isolation);
      values.push(...valuesOf(fetched, position, isolation));
      position = wholeBatches(fetched.records, position).nextOffset;
      return position;
    },
    () => position >= end,
  );
  return values;
}

/**
 * An answer on another connection of the port. A request that was sent before and stays parked at the broker is there by then, as far as anybody can tell from
 * outside; what a test expects must be true also when it is not.
 */
export async function roundTrip(port: KafkaPort): Promise<void> {
  await port.metadata([], { refresh: true });
}

/** Repeats `attempt` until `done` says so of what it gave; for what a broker carries out a little later. */
export async function eventually<T>(attempt: () => Promise<T>, done: (result: T) => boolean, timeoutMs = 15_000): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  for (;;) {
    const result = await attempt();
    if (done(result)) return result;
    if (Date.now() > deadline)
      throw new Error(
        `not so within ${timeoutMs} ms; last: ${JSON.stringify(result, (_, v: unknown) => (typeof v === 'bigint' ? `${v}` : v))}`,
      );
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
