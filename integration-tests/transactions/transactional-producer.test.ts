import { randomUUID } from 'node:crypto';

import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import { KafkaTransportError, MillraceError } from '../../src/errors.js';
import type { CommittedOffset, GroupMemberIdentity, KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { fenceDeadOwners, transactionalIdOf } from '../../src/transactions/dead-owner.js';
import { TransactionalProducer, type TransactionalProducerOptions } from '../../src/transactions/producer/transactional-producer.js';
import { createTopic, eventually, openPort, readUpTo, unique } from '../kafka/broker-fixture.js';

/** The owner of offsets in a group without members. */
const lone = (groupId: string): GroupMemberIdentity => ({ groupId, memberId: '', generation: -1, groupInstanceId: null });

describe.each([
  ['protocol 1', false],
  ['protocol 2', true],
])('the transactional producer on a real broker, %s', (protocol, transactionV2) => {
  let port: KafkaPort;
  let topic: string;
  const producers: TransactionalProducer[] = [];

  beforeAll(async () => {
    port = openPort(undefined, { transactionV2 });
    await port.connect();
    expect(port.transactionV2).toBe(transactionV2);
    topic = await createTopic(port, 'produced', 4);
  });
  afterAll(async () => {
    for (const producer of producers) await producer.close();
    await port.close();
  });

  async function open(options: Partial<TransactionalProducerOptions> = {}): Promise<TransactionalProducer> {
    const producer = new TransactionalProducer({ port, transactionalId: unique('producer'), ...options });
    producers.push(producer);
    await producer.init();
    return producer;
  }

  function append(producer: TransactionalProducer, partition: number, values: readonly string[]): void {
    const builder = producer.builder(topic, partition);
    for (const value of values) {
      const bytes = Buffer.from(value);
      builder.appendRaw(Date.now(), null, 0, 0, bytes, 0, bytes.length, null);
    }
  }

  const offsets = (offset: number): CommittedOffset[] => [{ topic, partition: 0, offset, leaderEpoch: -1, metadata: 'm' }];

  async function committedOffset(groupId: string): Promise<number> {
    const read = async () =>
      port.offsetFetch(await port.findCoordinator('group', groupId), {
        groupId,
        partitions: [{ topic, partition: 0 }],
        requireStable: true,
      });
    const answer = await eventually(read, (given) => given.offsets[0]?.errorCode === 0);
    return answer.offsets[0]!.offset;
  }

  async function endOf(partition: number): Promise<number> {
    const read = () =>
      port.listOffsets([
        { topic, partition, at: 'latest' },
        { topic, partition, at: 'latest', isolation: 'read_committed' },
      ]);
    const [high] = await eventually(read, (answers) => answers[0]!.offset === answers[1]!.offset);
    return high!.offset;
  }

  async function committed(partition: number): Promise<string[]> {
    const end = await endOf(partition);
    return end === 0 ? [] : readUpTo(port, { topic, partition }, end, 'read_committed');
  }

  /** The same port, but for one answer to `method` that is lost after the request was carried out. */
  function losing(method: 'endTxn' | 'produce' | 'txnOffsetCommit'): KafkaPort {
    const wrapped = Object.create(port) as KafkaPort;
    let isDue = true;
    wrapped[method] = async (broker: number, request: never): Promise<never> => {
      const answer = await port[method](broker, request);
      if (!isDue) return answer as never;
      isDue = false;
      throw new KafkaTransportError('the connection broke after the request was carried out');
    };
    return wrapped;
  }

  async function failureOf(promise: Promise<unknown>): Promise<MillraceError> {
    const reason: unknown = await promise.then(
      () => null,
      (error: unknown) => error,
    );
    if (!(reason instanceof MillraceError)) throw new Error(`not a MillraceError: ${String(reason)}`);
    return reason;
  }

  it('makes records and offsets visible together, and nothing of an aborted epoch', async () => {
    const producer = await open({ batchBytes: 1 });
    const groupId = unique('group');
    append(producer, 0, ['a', 'b']);
    append(producer, 1, ['c']);
    const first = await producer.sealEpoch().commit(offsets(5), lone(groupId));
    expect(first.recordCount).toBe(3);
    expect(await committedOffset(groupId)).toBe(5);

    append(producer, 0, ['lost']);
    producer.sendReady();
    await eventually(
      () => port.listOffsets([{ topic, partition: 0, at: 'latest' }]),
      ([high]) => high!.offset >= 4,
    );
    await producer.abort();

    append(producer, 0, ['d']);
    const { nextOffsets } = await producer.sealEpoch().commit(offsets(6), lone(groupId));
    expect(await committed(0)).toEqual(['a', 'b', 'd']);
    expect(await committed(1)).toEqual(['c']);
    expect(await committedOffset(groupId)).toBe(6);
    // The commit marker stands behind the last record.
    expect(nextOffsets.get(`${topic}-0`)).toBe((await endOf(0)) - 1);
  });

  it('sends many batches of several partitions in order', async () => {
    const producer = await open({ batchBytes: 200_000 });
    const filler = 'x'.repeat(1000);
    const expected: string[] = [];
    const before = await committed(2);
    for (let slice = 0; slice < 30; slice++) {
      const values = Array.from({ length: 100 }, (_, i) => `${slice}-${i}-${filler}`);
      expected.push(...values);
      append(producer, 2, values);
      append(producer, 3, values);
      producer.sendReady();
    }
    const { recordCount } = await producer.sealEpoch().commit(offsets(1), lone(unique('group')));
    expect(recordCount).toBe(6000);
    expect((await committed(2)).slice(before.length)).toEqual(expected);
    expect(producer.failed).toBeNull();
  });

  it('fences an earlier owner of its id, which can begin anew', async () => {
    const transactionalId = unique('owner');
    const zombie = await open({ transactionalId });
    append(zombie, 0, ['of the zombie']);
    await zombie.sealEpoch().commit(offsets(1), lone(unique('group')));
    append(zombie, 0, ['of the zombie, too late']);
    const owner = await open({ transactionalId });
    expect((await failureOf(zombie.sealEpoch().commit(offsets(2), lone(unique('group'))))).code).toBe('MILL_PRODUCER_FENCED');
    append(owner, 0, ['of the owner']);
    await owner.sealEpoch().commit(offsets(3), lone(unique('group')));
    const values = await committed(0);
    expect(values).toContain('of the owner');
    expect(values).not.toContain('of the zombie, too late');
    await zombie.init();
    append(zombie, 0, ['of the zombie, anew']);
    await zombie.sealEpoch().commit(offsets(4), lone(unique('group')));
    expect(await committed(0)).toContain('of the zombie, anew');
  });

  it('refuses to commit for a member that the group does not know', async () => {
    const producer = await open();
    append(producer, 0, ['of nobody']);
    const ghost = { groupId: unique('group'), memberId: 'ghost', generation: 3, groupInstanceId: null };
    const error = await failureOf(producer.sealEpoch().commit(offsets(1), ghost));
    expect(error).toMatchObject({ code: 'MILL_TRANSACTION_ABORTED', details: { memberFenced: true, outcome: 'aborted' } });
    await producer.abort();
    expect(await committed(0)).not.toContain('of nobody');
  });

  it('commits once when the answer to EndTxn is lost', async () => {
    const groupId = unique('group');
    const producer = await open({ port: losing('endTxn') });
    append(producer, 1, ['ended without an answer']);
    expect((await producer.sealEpoch().commit(offsets(8), lone(groupId))).recordCount).toBe(1);
    append(producer, 1, ['after it']);
    await producer.sealEpoch().commit(offsets(9), lone(groupId));
    expect((await committed(1)).slice(-2)).toEqual(['ended without an answer', 'after it']);
    expect(await committedOffset(groupId)).toBe(9);
  });

  it.each(['produce', 'txnOffsetCommit'] as const)(
    'aborts the epoch when the answer to %s is lost, and goes on under a new identity',
    async (method) => {
      const groupId = unique('group');
      const producer = await open({ port: losing(method) });
      append(producer, 1, [`in doubt by ${method}`]);
      const error = await failureOf(producer.sealEpoch().commit(offsets(8), lone(groupId)));
      expect(error).toMatchObject({ code: 'MILL_TRANSACTION_ABORTED', details: { inDoubt: true, outcome: 'aborted' } });
      await producer.abort();
      append(producer, 1, [`again after ${method}`]);
      await producer.sealEpoch().commit(offsets(9), lone(groupId));
      const values = await committed(1);
      expect(values).not.toContain(`in doubt by ${method}`);
      expect(values.at(-1)).toBe(`again after ${method}`);
      expect(await committedOffset(groupId)).toBe(9);
    },
  );

  it('names the topic that does not exist, after a bounded time', async () => {
    const producer = await open({ missingTopicTimeoutMs: 300 });
    const bytes = Buffer.from('x');
    producer.builder(unique('nowhere'), 0).appendRaw(1, null, 0, 0, bytes, 0, 1, null);
    expect((await failureOf(producer.sealEpoch().commit([], lone(unique('group'))))).code).toBe('MILL_TOPIC_MISSING');
  });

  it('keeps batches below the topic’s max.message.bytes', async () => {
    const small = await createTopic(port, 'small', 1, { 'max.message.bytes': '2000' });
    const producer = await open();
    await producer.prepareTopics([small]);
    const bytes = Buffer.alloc(100, 'v');
    for (let i = 0; i < 100; i++) producer.builder(small, 0).appendRaw(1, null, 0, 0, bytes, 0, bytes.length, null);
    expect((await producer.sealEpoch().commit([], lone(unique('group')))).nextOffsets.get(`${small}-0`)).toBe(100);
  });

  it('goes on by itself after a pause beyond the transaction timeout', async () => {
    const transactionalId = unique('sleeper');
    const producer = await open({ transactionalId, transactionTimeoutMs: 1000, batchBytes: 1 });
    append(producer, 1, ['before the pause']);
    producer.sendReady();
    await eventually(
      async () => await port.listOpenTransactions(transactionalId),
      (ids) => ids?.length === 1,
    );
    await eventually(
      async () => await port.listOpenTransactions(transactionalId),
      (ids) => ids?.length === 0,
      30_000,
    );
    const error = await failureOf(producer.sealEpoch().commit(offsets(1), lone(unique('group'))));
    expect(error).toMatchObject({ code: 'MILL_TRANSACTION_ABORTED', details: { severity: 'abort', outcome: 'aborted' } });
    await producer.abort();
    append(producer, 1, ['after the pause']);
    await producer.sealEpoch().commit(offsets(2), lone(unique('group')));
    const values = await committed(1);
    expect(values.at(-1)).toBe('after the pause');
    expect(values).not.toContain('before the pause');
  });

  it('frees what the open transaction of a dead member holds back, and only that', async () => {
    const applicationId = unique('app');
    const [dead, live] = [transactionalIdOf(applicationId, randomUUID(), 0), transactionalIdOf(applicationId, randomUUID(), 0)];
    const neighbour = transactionalIdOf(`${applicationId}-b`, randomUUID(), 0);
    for (const transactionalId of [dead, live, neighbour]) {
      const producer = await open({ transactionalId, batchBytes: 1, transactionTimeoutMs: 60_000 });
      append(producer, 3, ['held back']);
      producer.sendReady();
      await eventually(
        async () => await port.listOpenTransactions(transactionalId),
        (ids) => ids?.length === 1,
      );
    }
    const startedAt = performance.now();
    const options = {
      port,
      applicationId,
      candidates: [dead],
      liveTransactionalIds: () => new Set([live]),
      isStillCurrent: () => true,
      logger: silentLogger,
    };
    expect(await fenceDeadOwners(options)).toEqual([dead]);
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect([...(await port.listOpenTransactions(applicationId))!].sort()).toEqual([live, neighbour].sort());
    for (const producer of producers.slice(-2)) await producer.abort();
  });

  it('commits a small epoch in some milliseconds', async () => {
    const producer = await open();
    const groupId = unique('group');
    const latencies: number[] = [];
    for (let epoch = 0; epoch < 120; epoch++) {
      for (let partition = 0; partition < 4; partition++) append(producer, partition, Array<string>(25).fill('record'));
      await producer.sealEpoch().commit(offsets(epoch), lone(groupId));
      latencies.push(producer.metrics().lastCommitMs);
      // As under light load: the markers of one transaction are written before the next begins.
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    const sorted = latencies.slice(20).sort((a, b) => a - b);
    const [p50, p99] = [sorted[50]!, sorted[98]!];
    console.info(`commit latency, ${protocol}: p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`);
    expect(p50).toBeLessThan(100);
  });
});

describe('the idempotent producer on a real broker', () => {
  let port: KafkaPort;
  let topic: string;
  beforeAll(async () => {
    port = openPort();
    await port.connect();
    topic = await createTopic(port, 'at-least-once');
  });
  afterAll(() => port.close());

  it('writes a batch once although its answer was lost, and commits offsets outside of a transaction', async () => {
    const wrapped = Object.create(port) as KafkaPort;
    let lost = 0;
    wrapped.produce = async (broker, request) => {
      const answer = await port.produce(broker, request);
      if (lost++ > 0) return answer;
      throw new KafkaTransportError('the connection broke after the request was carried out');
    };
    const producer = new TransactionalProducer({ port: wrapped, transactionalId: null });
    await producer.init();
    const groupId = unique('group');
    for (const value of ['a', 'b', 'c']) {
      const bytes = Buffer.from(value);
      producer.builder(topic, 0).appendRaw(Date.now(), null, 0, 0, bytes, 0, bytes.length, null);
    }
    const { nextOffsets } = await producer
      .sealEpoch()
      .commit([{ topic, partition: 0, offset: 3, leaderEpoch: -1, metadata: null }], lone(groupId));
    expect(nextOffsets.get(`${topic}-0`)).toBe(3);
    expect(await readUpTo(port, { topic, partition: 0 }, 3, 'read_uncommitted')).toEqual(['a', 'b', 'c']);
    const coordinator = await port.findCoordinator('group', groupId);
    const { offsets } = await port.offsetFetch(coordinator, { groupId, partitions: null, requireStable: true });
    expect(offsets).toMatchObject([{ topic, partition: 0, offset: 3 }]);
    await producer.close();
  });
});
