import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Stack } from '../../scripts/stack/stack.js';
import { startStack } from '../../scripts/stack/stack.js';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { createTopic, eventually, openPort, produceTo, valuesOf } from './broker-fixture.js';
import { Opened } from '../opened.js';

describe('three brokers, of which one dies', () => {
  let stack: Stack;
  let port: KafkaPort;
  const opened = new Opened();
  beforeAll(async () => {
    stack = opened.add(await startStack({ brokers: 3 }), (started) => started.stop());
    port = opened.add(openPort(stack.bootstrapServers), (made) => made.close());
    await port.connect();
  });
  afterAll(() => opened.close());

  it('its partitions are produced to and fetched from at their new leaders', async () => {
    const topic = await createTopic(port, 'failover', 3);
    const leaders = (await port.metadata([topic])).topics.get(topic)!.partitions.map(({ leader }) => leader);
    expect(new Set(leaders).size).toBe(3);
    const values = new Map<number, string[]>(leaders.map((_, partition) => [partition, []]));
    const errors: string[] = [];
    const fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'none',
      logger: silentLogger,
      onData: (chunk) => {
        values.get(chunk.partition)!.push(...valuesOf(chunk, chunk.fetchOffset, 'read_committed'));
        fetcher.consumed(chunk.byteLength, chunk);
      },
      onError: (error) => errors.push(error.message),
    });
    for (const partition of values.keys()) {
      await produceTo(port, { topic, partition }, ['before']);
      fetcher.assign({ topic, partition }, 0);
    }
    fetcher.start();
    await eventually(
      async () => [...values.values()].flat(),
      (got) => got.length === 3,
    );

    process.kill(stack.pids[leaders[0]! - 1]!, 'SIGKILL');
    for (const partition of values.keys()) {
      const produced = await eventually(
        async () => {
          const answer = await produceTo(port, { topic, partition }, ['after']).catch(() => null);
          if (answer?.errorCode !== 0) await port.metadata([topic], { refresh: true }).catch(() => null);
          return answer;
        },
        (answer) => answer?.errorCode === 0,
        60_000,
      );
      expect(produced?.errorCode).toBe(0);
    }
    await eventually(
      async () => [...values.values()],
      (got) => got.every((of) => of.includes('after')),
      60_000,
    );
    // A produce without idempotence may be carried out twice when its answer was lost; the order is what counts.
    for (const of of values.values()) expect([...new Set(of)]).toEqual(['before', 'after']);
    expect(errors).toEqual([]);
    await fetcher.stop();
  });
});
