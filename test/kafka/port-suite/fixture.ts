/** What the port test suite runs on, and what its tests share. */
import { afterAll, beforeAll, expect } from '@jest/globals';

import { eventually, leaderOf } from '../../../integration-tests/kafka/broker-fixture.js';
import type { KafkaPort, ProducerIdentity, TopicPartition } from '../../../src/kafka/port.js';
import { RecordBatchBuilder } from '../../../src/kafka/record-batch/record-batch-builder.js';

export {
  createTopic,
  eventually,
  fetchFrom,
  leaderOf,
  readUpTo,
  roundTrip,
  unique,
  valuesOf,
} from '../../../integration-tests/kafka/broker-fixture.js';

/** An implementation of the port and a cluster behind it. */
export interface PortSubject {
  /** A connected port. */
  open(options?: { readonly transactionV2?: boolean }): Promise<KafkaPort>;
  /** Settings of one streams group. */
  alterGroup(groupId: string, settings: Readonly<Record<string, string>>): Promise<void>;
  /** The shortest session that the cluster's groups allow, ms. */
  readonly shortestSessionMs: number;
}

/** Opens ports before the tests of a `describe` and closes them after. */
export function portsOf(subject: PortSubject, count: number, options?: { readonly transactionV2?: boolean }): KafkaPort[] {
  const ports: KafkaPort[] = [];
  beforeAll(async () => {
    ports.push(...(await Promise.all(Array.from({ length: count }, () => subject.open(options)))));
  });
  afterAll(async () => {
    await Promise.all(ports.map((port) => port.close()));
  });
  return ports;
}

export interface BatchOptions {
  readonly producerId?: bigint;
  readonly producerEpoch?: number;
  readonly baseSequence?: number;
  readonly transactional?: boolean;
  readonly timestamp?: number;
  readonly key?: string;
}

export function batchOf(values: readonly string[], options: BatchOptions = {}): Buffer {
  const builder = new RecordBatchBuilder({ maxBatchBytes: 4_000_000 });
  const key = options.key === undefined ? null : Buffer.from(options.key);
  for (const value of values) {
    const bytes = Buffer.from(value);
    builder.appendRaw(options.timestamp ?? 1_700_000_000_000, key, 0, key?.length ?? 0, bytes, 0, bytes.length, null);
  }
  const taken = builder.take()!;
  const { producerId, producerEpoch = 0, transactional = false } = options;
  taken.stamp(producerId === undefined ? null : { producerId, producerEpoch, transactional }, options.baseSequence ?? 0);
  return Buffer.from(taken.batches[0]!.buffer);
}

/** Sends one batch as it is and tells the answer's error code and base offset. */
export async function send(
  port: KafkaPort,
  to: TopicPartition,
  records: readonly Buffer[],
  transactionalId: string | null = null,
): Promise<{ readonly errorCode: number; readonly baseOffset: number }> {
  const request = { transactionalId, acks: -1, timeoutMs: 10_000, partitions: [{ ...to, records }] } as const;
  const { partitions } = await port.produce(await leaderOf(port, to), request);
  const { errorCode, baseOffset } = partitions[0]!;
  return { errorCode, baseOffset };
}

/** Sends a batch inside a transaction, waiting while the one before it is still being completed. */
export const sendIn = (port: KafkaPort, identity: ProducerIdentity, to: TopicPartition, values: readonly string[], baseSequence: number) =>
  eventually(
    () => send(port, to, [batchOf(values, { ...identity, baseSequence, transactional: true })], identity.transactionalId),
    ({ errorCode }) => errorCode !== 51,
  );

export interface BegunTransaction {
  readonly coordinator: number;
  readonly identity: ProducerIdentity;
}

/** A fresh identity; waits while the coordinator loads (14, 15, 16) or completes an earlier transaction (51). */
export async function begin(port: KafkaPort, transactionalId: string, transactionTimeoutMs = 60_000): Promise<BegunTransaction> {
  const coordinator = await port.findCoordinator('transaction', transactionalId);
  const answer = await eventually(
    () => port.initProducerId(coordinator, { transactionalId, transactionTimeoutMs }),
    ({ errorCode }) => ![14, 15, 16, 51].includes(errorCode),
  );
  expect(answer.errorCode).toBe(0);
  return { coordinator, identity: { transactionalId, producerId: answer.producerId, producerEpoch: answer.producerEpoch } };
}

export const outsideGroup = { memberId: '', generation: -1, groupInstanceId: null };

export const endOnce51IsOver = (port: KafkaPort, { coordinator, identity }: BegunTransaction, commit: boolean) =>
  eventually(
    () => port.endTxn(coordinator, { ...identity, commit }),
    ({ errorCode }) => errorCode !== 51,
  );

/** Makes the partition part of the transaction, where the protocol asks for that. */
export async function enlist(port: KafkaPort, { coordinator, identity }: BegunTransaction, partition: TopicPartition): Promise<void> {
  if (port.transactionV2) return;
  const results = await eventually(
    () => port.addPartitionsToTxn(coordinator, { ...identity, partitions: [partition] }),
    ([result]) => result!.errorCode !== 51,
  );
  expect(results).toEqual([{ ...partition, errorCode: 0 }]);
}
