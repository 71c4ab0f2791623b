import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { KafkaPort } from '../../src/kafka/port.js';
import { createTopic, eventually, fetchFrom, leaderOf, openPort, produceTo, roundTrip, unique, valuesOf } from './broker-fixture.js';

describe('topics and records on a real broker', () => {
  let port: KafkaPort;
  beforeAll(async () => {
    port = openPort();
    await port.connect();
  });
  afterAll(() => port.close());

  it('knows the versions and features of the cluster', () => {
    expect(port.supports(1)).toBeGreaterThanOrEqual(12);
    expect(port.supports(9999)).toBe(-1);
    expect(port.transactionV2).toBe(true);
  });

  it('creates topics, says when one is there already, describes and deletes them', async () => {
    const topic = await createTopic(port, 'made', 3, { 'cleanup.policy': 'compact' });
    const metadata = (await port.metadata([topic])).topics.get(topic)!;
    expect(metadata.partitions.map(({ partition }) => partition)).toEqual([0, 1, 2]);
    expect(metadata.topicId).toMatch(/^[\w-]{22}$/);

    const again = await port.admin.createTopics([{ topic, partitions: 3, replicationFactor: -1, configs: {} }]);
    expect(again[0]!.errorCode).toBe(36);

    const configs = await port.admin.describeTopicConfigs([topic, unique('absent')]);
    expect([...configs.keys()]).toEqual([topic]);
    expect(configs.get(topic)!.get('cleanup.policy')).toBe('compact');

    await port.admin.deleteTopics([topic, unique('absent')]);
    await eventually(
      async () => (await port.metadata([topic], { refresh: true })).topics.get(topic)?.errorCode,
      (errorCode) => errorCode === 3,
    );
  });

  it('lists all topics, and says of an unknown one that it is unknown', async () => {
    const topic = await createTopic(port, 'listed');
    const all = await port.metadata('all');
    expect(all.topics.has(topic)).toBe(true);
    expect(all.brokers.length).toBeGreaterThanOrEqual(1);
    const absent = unique('absent');
    expect((await port.metadata([absent])).topics.get(absent)?.errorCode).toBe(3);
  });

  it('fetches what was produced, byte for byte', async () => {
    const topic = await createTopic(port, 'round-trip');
    expect(await produceTo(port, { topic, partition: 0 }, ['a', 'b', 'c'])).toMatchObject({
      errorCode: 0,
      baseOffset: 0,
      errorMessage: null,
    });
    expect(await produceTo(port, { topic, partition: 0 }, ['d'])).toMatchObject({ errorCode: 0, baseOffset: 3 });
    const fetched = await fetchFrom(port, { topic, partition: 0 }, 1);
    expect(fetched).toMatchObject({ errorCode: 0, highWatermark: 4, lastStableOffset: 4, logStartOffset: 0 });
    expect(valuesOf(fetched, 1, 'read_committed')).toEqual(['b', 'c', 'd']);
  });

  it('answers errors of partitions as codes', async () => {
    const topic = await createTopic(port, 'codes');
    expect((await fetchFrom(port, { topic, partition: 0 }, 99)).errorCode).toBe(1);
    const leader = await leaderOf(port, { topic, partition: 0 });
    const partitions = [{ topic: unique('absent'), partition: 0, offset: 0, maxBytes: 1000 }];
    const absent = await port.fetch(leader, { isolation: 'read_committed', maxWaitMs: 0, minBytes: 0, maxBytes: 1000, partitions });
    expect(absent.partitions[0]!.errorCode).toBe(3);
  });

  it('lists offsets by position and by time, in the order asked', async () => {
    const topic = await createTopic(port, 'offsets', 2);
    await produceTo(port, { topic, partition: 1 }, ['a', 'b']);
    const answers = await port.listOffsets([
      { topic, partition: 1, at: 'latest' },
      { topic, partition: 0, at: 'latest' },
      { topic, partition: 1, at: 'earliest' },
      { topic, partition: 1, at: 1_600_000_000_000 },
      { topic, partition: 1, at: 1_800_000_000_000, isolation: 'read_committed' },
      { topic, partition: 7, at: 'latest' },
    ]);
    expect(answers.map(({ offset, errorCode }) => [offset, errorCode])).toEqual([
      [2, 0],
      [0, 0],
      [0, 0],
      [0, 0],
      [-1, 0],
      [-1, 3],
    ]);
  });

  it('deletes records', async () => {
    const topic = await createTopic(port, 'deleted-records');
    await produceTo(port, { topic, partition: 0 }, ['a', 'b', 'c']);
    await port.admin.deleteRecords([{ topic, partition: 0, offset: 2 }]);
    const [earliest] = await port.listOffsets([{ topic, partition: 0, at: 'earliest' }]);
    expect(earliest!.offset).toBe(2);
  });

  it('does not let a long poll delay another fetch', async () => {
    const [idle, busy] = [await createTopic(port, 'idle'), await createTopic(port, 'busy')];
    await produceTo(port, { topic: busy, partition: 0 }, ['x']);
    const leader = await leaderOf(port, { topic: idle, partition: 0 });
    const started = performance.now();
    const base = { isolation: 'read_committed', minBytes: 1, maxBytes: 1000 } as const;
    const parked = port.fetch(leader, { ...base, maxWaitMs: 1500, partitions: [{ topic: idle, partition: 0, offset: 0, maxBytes: 1000 }] });
    const quick = await fetchFrom(port, { topic: busy, partition: 0 }, 0);
    expect(quick.records.length).toBeGreaterThan(0);
    expect(performance.now() - started).toBeLessThan(1000);
    await parked;
    expect(performance.now() - started).toBeGreaterThan(1400);
  });

  it('rejects what is on its way when it is closed', async () => {
    const other = openPort();
    await other.connect();
    const topic = await createTopic(other, 'closing');
    const leader = await leaderOf(other, { topic, partition: 0 });
    const partitions = [{ topic, partition: 0, offset: 0, maxBytes: 1000 }];
    const pending = other.fetch(leader, { isolation: 'read_committed', maxWaitMs: 20_000, minBytes: 1, maxBytes: 1000, partitions });
    const outcome = expect(pending).rejects.toMatchObject({ code: 'MILL_TRANSPORT' });
    await roundTrip(other);
    await other.close();
    await outcome;
    await expect(other.metadata([topic], { refresh: true })).rejects.toMatchObject({ code: 'MILL_TRANSPORT' });
  });
});

describe('a cluster that is not there', () => {
  it('is reported as unreachable at connect', async () => {
    const port = openPort(['127.0.0.1:1', 'localhost:2']);
    await expect(port.connect()).rejects.toMatchObject({ code: 'MILL_BROKER_UNREACHABLE' });
    await port.close();
  });
});
