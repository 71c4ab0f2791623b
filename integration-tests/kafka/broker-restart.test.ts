import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Stack } from '../../scripts/stack/stack.js';
import { startStack } from '../../scripts/stack/stack.js';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { createTopic, eventually, openPort, produceTo, roundTrip, valuesOf } from './broker-fixture.js';
import { Opened } from '../opened.js';

describe('a broker that is killed and comes back', () => {
  let stack: Stack;
  let port: KafkaPort;
  const opened = new Opened();
  beforeAll(async () => {
    stack = opened.add(await startStack({ own: true }), (started) => started.stop());
    port = opened.add(openPort(stack.bootstrapServers), (made) => made.close());
    await port.connect();
  });
  afterAll(() => opened.close());

  it.each(['SIGKILL', 'SIGTERM'] as const)('after %s: requests under way reject, the same port and fetcher go on', async (signal) => {
    const topic = await createTopic(port, 'restarted');
    await produceTo(port, { topic, partition: 0 }, ['before']);
    const values: string[] = [];
    const errors: string[] = [];
    const fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'none',
      logger: silentLogger,
      onData: (chunk) => {
        values.push(...valuesOf(chunk, chunk.fetchOffset, 'read_committed'));
        fetcher.consumed(chunk.byteLength, chunk);
      },
      onError: (error) => errors.push(error.message),
    });
    fetcher.assign({ topic, partition: 0 }, 0);
    fetcher.start();
    await eventually(
      async () => values,
      (got) => got.length === 1,
    );

    const partitions = [{ topic, partition: 0, offset: 1, maxBytes: 1000 }];
    const leader = (await port.metadata([topic])).topics.get(topic)!.partitions[0]!.leader;
    const parked = port.fetch(leader, { isolation: 'read_committed', maxWaitMs: 30_000, minBytes: 1, maxBytes: 1000, partitions });
    const outcome = expect(parked).rejects.toMatchObject({ code: 'MILL_TRANSPORT' });
    await roundTrip(port);
    await stack.restartBroker(1, signal);
    await outcome;

    const produced = await eventually(
      () => produceTo(port, { topic, partition: 0 }, ['after']).catch(() => null),
      (answer) => answer?.errorCode === 0,
    );
    expect(produced?.errorCode).toBe(0);
    await eventually(
      async () => values,
      (got) => got.includes('after'),
    );
    expect([...new Set(values)]).toEqual(['before', 'after']);
    expect(errors).toEqual([]);
    expect(fetcher.metrics.failures).toBeGreaterThan(0);
    await fetcher.stop();

    const coordinator = await port.findCoordinator('group', `g-${signal}`, { refresh: true });
    expect(coordinator).toBe(leader);
  });
});
