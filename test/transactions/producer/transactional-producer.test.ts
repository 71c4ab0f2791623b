import { describe, expect, it } from '@jest/globals';
import { MillraceError } from '../../../src/errors.js';
import type { CommittedOffset, GroupMemberIdentity } from '../../../src/kafka/port.js';
import { TransactionalProducer, type TransactionalProducerOptions } from '../../../src/transactions/producer/transactional-producer.js';
import { FakePort } from './fake-port.js';

const member: GroupMemberIdentity = { groupId: 'app', memberId: 'm', generation: 4, groupInstanceId: null };
const offsets: readonly CommittedOffset[] = [{ topic: 'in', partition: 0, offset: 9, leaderEpoch: -1, metadata: 'x' }];
const value = Buffer.alloc(100, 'v');

async function started(fake: FakePort, options: Partial<TransactionalProducerOptions> = {}): Promise<TransactionalProducer> {
  const producer = new TransactionalProducer({ port: fake.port, transactionalId: 'app-1-0', ...options });
  await producer.init();
  return producer;
}

function append(producer: TransactionalProducer, count: number, partition = 0, topic = 'out'): void {
  const builder = producer.builder(topic, partition);
  for (let i = 0; i < count; i++) builder.appendRaw(1000 + i, null, 0, 0, value, 0, value.length, null);
}

async function failure(promise: Promise<unknown>): Promise<MillraceError> {
  const error: unknown = await promise.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof MillraceError)) throw new Error(`not a MillraceError: ${String(error)}`);
  return error;
}

/** Lets everything that is ready to run do so. */
const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('an epoch', () => {
  it('is sent, its offsets committed with member id and generation, and ended', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 10, 0);
    append(producer, 5, 1);
    expect(producer.bufferedBytes).toBeGreaterThan(1500);
    const result = await producer.sealEpoch().commit(offsets, member);
    expect(result).toMatchObject({
      recordCount: 15,
      nextOffsets: new Map([
        ['out-0', 10],
        ['out-1', 15],
      ]),
    });
    expect(producer.bufferedBytes).toBe(0);
    expect(fake.methods).toEqual(['findCoordinator', 'initProducerId', 'produce', 'findCoordinator', 'txnOffsetCommit', 'endTxn']);
    expect(fake.requests.at(-2)?.request).toMatchObject({
      groupId: 'app',
      memberId: 'm',
      generation: 4,
      producerId: 5n,
      producerEpoch: 0,
      offsets,
    });
    expect(producer.metrics()).toMatchObject({ epochsCommitted: 1, recordsSent: 15, produceRequests: 1 });
    await producer.close();
  });

  it('carries producer id, epoch, sequence and the transactional bit in its batches', async () => {
    const fake = new FakePort();
    const producer = await started(fake, { batchBytes: 500 });
    append(producer, 10);
    producer.sendReady();
    append(producer, 3);
    await producer.sealEpoch().commit([], member);
    append(producer, 1);
    await producer.sealEpoch().commit([], member);
    const headers = fake.produced.map(({ partitions }) => Buffer.from(partitions[0]!.records[0]!));
    expect(
      headers.map((batch) => [batch.readBigInt64BE(43), batch.readInt16BE(51), batch.readInt32BE(53), batch.readInt16BE(21) & 16]),
    ).toEqual([
      [5n, 0, 0, 16],
      [5n, 0, 10, 16],
      [5n, 1, 0, 16],
    ]);
    await producer.close();
  });

  it('without output and offsets asks the cluster nothing', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    const before = fake.requests.length;
    const sealed = producer.sealEpoch();
    expect(sealed.isEmpty).toBe(true);
    await sealed.commit([], member);
    expect(fake.requests.length).toBe(before);
    producer.sealEpoch();
    producer.sealEpoch();
    await producer.close();
  });

  it('only buffers while the one before it is being committed', async () => {
    const fake = new FakePort();
    const producer = await started(fake, { batchBytes: 500 });
    append(producer, 10);
    let answer: (value: unknown) => void = () => undefined;
    fake.next('endTxn', () => new Promise((resolve) => (answer = resolve)));
    const committed = producer.sealEpoch().commit(offsets, member);
    append(producer, 20);
    producer.sendReady();
    await settle();
    expect(fake.count('produce')).toBe(1);
    expect(() => producer.sealEpoch()).toThrow(/MILL_STATE_INVALID/);
    answer({ errorCode: 0, next: { producerId: 5n, producerEpoch: 1 } });
    expect((await committed).recordCount).toBe(10);
    producer.sendReady();
    expect((await producer.sealEpoch().commit(offsets, member)).recordCount).toBe(20);
    await producer.close();
  });

  it('at least once flushes, then commits offsets with the member’s generation', async () => {
    const fake = new FakePort();
    const producer = await started(fake, { transactionalId: null });
    append(producer, 10);
    const { nextOffsets } = await producer.sealEpoch().commit(offsets, member);
    expect(nextOffsets.get('out-0')).toBe(10);
    expect(fake.methods).toEqual(['initProducerId', 'produce', 'findCoordinator', 'offsetCommit']);
    expect(fake.requests.at(-1)?.request).toMatchObject({ ...member, offsets });
    expect(Buffer.from(fake.produced[0]!.partitions[0]!.records[0]!).readInt16BE(21) & 16).toBe(0);
    await producer.close();
  });
});

describe('batches', () => {
  it('stay below the topic’s max.message.bytes, each in a request of its own for its partition', async () => {
    const fake = new FakePort();
    fake.configs.set('out', new Map([['max.message.bytes', '2000']]));
    const producer = await started(fake);
    await producer.prepareTopics(['out']);
    await producer.prepareTopics(['out']);
    expect(fake.configReads).toBe(1);
    append(producer, 60);
    expect((await producer.sealEpoch().commit([], member)).nextOffsets.get('out-0')).toBe(60);
    for (const { partitions } of fake.produced) {
      expect(partitions).toHaveLength(1);
      expect(partitions[0]!.records).toHaveLength(1);
      expect(partitions[0]!.records[0]!.length).toBeLessThanOrEqual(2000);
    }
    expect(fake.produced.length).toBeGreaterThan(3);
    await producer.close();
  });

  it('refused as too large name topic and partition', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 1, 3);
    fake.next('produce', () => ({ throttleMs: 0, partitions: [{ topic: 'out', partition: 3, errorCode: 10, baseOffset: -1 }] }));
    const error = await failure(producer.sealEpoch().commit([], member));
    expect(error).toMatchObject({ code: 'MILL_RECORD_TOO_LARGE', details: { topic: 'out', partition: 3 } });
    await producer.close();
  });
});

describe('a lost epoch', () => {
  it('shows in `failed` and to the listener at once, and `abort` starts afresh under a new identity', async () => {
    const fake = new FakePort();
    const reasons: MillraceError[] = [];
    const producer = await started(fake, { batchBytes: 100, onAbort: (reason) => reasons.push(reason) });
    fake.lose('produce');
    append(producer, 10);
    producer.sendReady();
    append(producer, 10);
    await settle();
    expect(reasons.map(({ code }) => code)).toEqual(['MILL_TRANSACTION_ABORTED']);
    expect(producer.failed).toBe(reasons[0]);
    producer.sendReady();
    expect((await failure(producer.sealEpoch().commit(offsets, member))).details).toMatchObject({ outcome: 'aborted', inDoubt: true });
    await producer.abort();
    expect(producer.failed).toBeNull();
    expect(producer.bufferedBytes).toBe(0);
    append(producer, 2);
    expect((await producer.sealEpoch().commit(offsets, member)).recordCount).toBe(2);
    expect(Buffer.from(fake.produced.at(-1)!.partitions[0]!.records[0]!).readInt16BE(51)).toBe(1);
    await producer.close();
  });

  it('tells that the member has to rejoin', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 1);
    fake.next('txnOffsetCommit', () => [{ topic: 'in', partition: 0, errorCode: 22 }]);
    expect((await failure(producer.sealEpoch().commit(offsets, member))).details).toMatchObject({ memberFenced: true, severity: 'abort' });
    await producer.abort();
    await producer.close();
  });

  it('by fencing needs `init`', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 1);
    fake.next('endTxn', () => ({ errorCode: 90, next: null }));
    expect((await failure(producer.sealEpoch().commit(offsets, member))).code).toBe('MILL_PRODUCER_FENCED');
    expect((await failure(producer.abort())).code).toBe('MILL_PRODUCER_FENCED');
    await producer.init();
    append(producer, 1);
    expect((await producer.sealEpoch().commit(offsets, member)).recordCount).toBe(1);
    await producer.close();
  });

  it('whose EndTxn answer was lost is committed all the same when the repetition says so', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 1);
    fake.lose('endTxn');
    expect((await producer.sealEpoch().commit(offsets, member)).recordCount).toBe(1);
    expect(fake.count('endTxn')).toBe(2);
    await producer.close();
  });
});

describe('abort', () => {
  it('before anything was sent asks the cluster nothing', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 10);
    await producer.abort();
    expect(producer.bufferedBytes).toBe(0);
    expect(fake.methods).toEqual(['findCoordinator', 'initProducerId']);
    await producer.close();
  });

  it('rejects the commit under way, and waits for an EndTxn under way to say how it ended', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 1);
    fake.next('txnOffsetCommit', () => new Promise(() => undefined));
    const first = failure(producer.sealEpoch().commit(offsets, member));
    await settle();
    await producer.abort();
    expect((await first).details).toMatchObject({ outcome: 'aborted' });

    append(producer, 1);
    let answer: (value: unknown) => void = () => undefined;
    fake.next('endTxn', () => new Promise((resolve) => (answer = resolve)));
    const second = producer.sealEpoch().commit(offsets, member);
    await settle();
    const aborted = producer.abort();
    answer({ errorCode: 0, next: { producerId: 5n, producerEpoch: 9 } });
    expect((await second).recordCount).toBe(1);
    await aborted;
    await producer.close();
  });
});

describe('close', () => {
  it('aborts an open transaction and refuses everything afterwards', async () => {
    const fake = new FakePort();
    const producer = await started(fake, { batchBytes: 100 });
    append(producer, 10);
    producer.sendReady();
    await settle();
    await producer.close();
    await producer.close();
    expect(fake.methods.slice(-2)).toEqual(['produce', 'initProducerId']);
    expect((await failure(producer.init())).code).toBe('MILL_STATE_INVALID');
  });

  it('does not wait for ever for a cluster that is gone', async () => {
    const fake = new FakePort();
    const timers: (() => void)[] = [];
    const clock = { now: () => 0, after: (_: number, fire: () => void) => (timers.push(fire), () => undefined) };
    const producer = await started(fake, { batchBytes: 100, clock });
    append(producer, 10);
    producer.sendReady();
    await settle();
    fake.next('initProducerId', () => new Promise(() => undefined));
    const closed = producer.close();
    await settle();
    for (const fire of timers) fire();
    await closed;
  });

  it('tells a fault in building a request as its own, and not as the broker’s', async () => {
    const fake = new FakePort();
    const producer = await started(fake);
    append(producer, 1);
    fake.next('produce', () => Buffer.alloc(1).readInt32BE(0));
    expect(await failure(producer.sealEpoch().commit(offsets, member))).toMatchObject({ code: 'MILL_INVARIANT' });
    await producer.close().catch(() => undefined);
  });
});
