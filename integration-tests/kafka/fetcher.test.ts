import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { FetcherOptions } from '../../src/kafka/fetcher/fetcher-options.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { createTopic, eventually, openPort, produceTo, valuesOf } from './broker-fixture.js';

describe('the fetcher on a real broker', () => {
  let port: KafkaPort;
  let producing: KafkaPort;
  beforeAll(async () => {
    [port, producing] = [openPort(), openPort()];
    await Promise.all([port.connect(), producing.connect()]);
  });
  afterAll(() => Promise.all([port.close(), producing.close()]));

  function collecting(options: Partial<FetcherOptions> = {}): { fetcher: Fetcher; values: Map<string, string[]> } {
    const values = new Map<string, string[]>();
    const fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'earliest',
      logger: silentLogger,
      onData: (chunk: FetchedChunk) => {
        const key = `${chunk.topic}-${chunk.partition}`;
        values.set(key, [...(values.get(key) ?? []), ...valuesOf(chunk, chunk.fetchOffset, 'read_committed')]);
        fetcher.consumed(chunk.byteLength, chunk);
      },
      onError: (error) => values.set('error', [error.message]),
      ...options,
    });
    return { fetcher, values };
  }

  it('reads on from an offset and sees new records at once', async () => {
    const topic = await createTopic(producing, 'followed');
    await produceTo(producing, { topic, partition: 0 }, ['a', 'b', 'c']);
    const { fetcher, values } = collecting();
    fetcher.assign({ topic, partition: 0 }, 1);
    fetcher.start();
    await eventually(
      async () => values.get(`${topic}-0`),
      (got) => got?.length === 2,
    );
    const sentAt = performance.now();
    await produceTo(producing, { topic, partition: 0 }, ['d']);
    const got = await eventually(
      async () => values.get(`${topic}-0`),
      (all) => all?.length === 3,
    );
    expect(got).toEqual(['b', 'c', 'd']);
    expect(performance.now() - sentAt).toBeLessThan(400);
    await fetcher.stop();
  });

  it('serves a partition assigned during a long poll without waiting for that', async () => {
    const [idle, late] = [await createTopic(producing, 'idle'), await createTopic(producing, 'late')];
    await produceTo(producing, { topic: late, partition: 0 }, ['x']);
    const { fetcher, values } = collecting({ maxWaitMs: 5000 });
    fetcher.assign({ topic: idle, partition: 0 }, 0);
    fetcher.start();
    // Sent, and without an answer for 5 s.
    await eventually(
      async () => fetcher.metrics.requests,
      (requests) => requests > 0,
    );
    const assignedAt = performance.now();
    fetcher.assign({ topic: late, partition: 0 }, 0);
    await eventually(
      async () => values.get(`${late}-0`),
      (got) => got?.length === 1,
    );
    expect(performance.now() - assignedAt).toBeLessThan(500);
    await fetcher.stop();
  });

  it('goes back to the start of the log when its offset is gone', async () => {
    const topic = await createTopic(producing, 'cut');
    await produceTo(producing, { topic, partition: 0 }, ['a', 'b', 'c', 'd']);
    await producing.admin.deleteRecords([{ topic, partition: 0, offset: 3 }]);
    const { fetcher, values } = collecting();
    fetcher.assign({ topic, partition: 0 }, 1);
    fetcher.start();
    await eventually(
      async () => values.get(`${topic}-0`),
      (got) => got?.length === 1,
    );
    expect(values.get(`${topic}-0`)).toEqual(['d']);
    expect(fetcher.metrics.resets).toBe(1);
    await fetcher.stop();
  });

  it('reads many partitions in order and whole, with a small buffer', async () => {
    const topic = await createTopic(producing, 'many', 8);
    const expected = [...Array(2000).keys()].map((n) => `value-${n}`);
    for (let partition = 0; partition < 8; partition++) {
      for (let at = 0; at < expected.length; at += 500) await produceTo(producing, { topic, partition }, expected.slice(at, at + 500));
    }
    const { fetcher, values } = collecting({ maxBytesPerPartition: 10_000, maxBufferedBytes: () => 40_000 });
    for (let partition = 0; partition < 8; partition++) fetcher.assign({ topic, partition }, 0);
    fetcher.start();
    await eventually(
      async () => [...values.values()].reduce((sum, got) => sum + got.length, 0),
      (total) => total >= 16_000,
    );
    for (let partition = 0; partition < 8; partition++) expect(values.get(`${topic}-${partition}`)).toEqual(expected);
    await fetcher.stop();
  });

  it('waits for a topic that is created later', async () => {
    const topic = `later-${Date.now()}`;
    const warnings: string[] = [];
    const { fetcher, values } = collecting({ logger: { ...silentLogger, warn: (_, message) => warnings.push(message) } });
    fetcher.assign({ topic, partition: 0 }, 0);
    fetcher.start();
    await eventually(
      async () => warnings,
      (told) => told.some((message) => message.includes(`topic ${topic} can’t be read`)),
    );
    await producing.admin.createTopics([{ topic, partitions: 1, replicationFactor: -1, configs: {} }]);
    await produceTo(producing, { topic, partition: 0 }, ['first']);
    await eventually(
      async () => values.get(`${topic}-0`),
      (got) => got?.length === 1,
    );
    await fetcher.stop();
  });
});
