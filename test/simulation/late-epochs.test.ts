/** What holds up epochs and the event loop, as the metrics say it, in virtual time: commits that take longer than their interval, and a process that stands still. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { AppMetrics } from '../../src/app/app-metrics.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { SimulatedApp } from './simulated-app.js';
import { VirtualWorld } from './virtual-world.js';

const commitInterval = 100;

let world: VirtualWorld;
let kafka: InMemoryKafka;
beforeEach(() => {
  world = new VirtualWorld(new Random(1));
  kafka = inMemoryKafka({ seed: 1, clock: world.clockOf(world.outside), minSessionTimeoutMs: 100 });
  kafka.createTopic('in');
  kafka.createTopic('out');
  world.install();
});
afterEach(() => world.uninstall());

/** @param way of each request and each answer, ms */
async function running(way: number): Promise<SimulatedApp> {
  const one = new SimulatedApp('a', {
    world,
    kafka,
    topology: () => {
      const builder = new StreamsBuilder();
      const text = { keySerde: serdes.string, valueSerde: serdes.string };
      builder.stream('in', text).to('out', text);
      return builder.build();
    },
    config: { applicationId: 'simulated', commitInterval, sessionTimeout: 30_000, heartbeatInterval: 300 },
    faults: () => ({ delayMs: [way, way] }),
    newId: () => 'a',
    log: () => undefined,
  });
  one.start();
  expect(await world.run(60_000, () => one.isRunning)).toBe(true);
  return one;
}

async function feed(one: SimulatedApp, ms: number): Promise<AppMetrics> {
  for (const end = world.now + ms; world.now < end;) {
    kafka.produce('in', [{ key: 'k', value: 'v' }]);
    await world.run(10);
  }
  return one.app!.metrics();
}

describe('the start of an epoch', () => {
  it('is on time while commits are fast', async () => {
    const { epochs } = await feed(await running(1), 5_000);
    expect(epochs?.epochs).toBeGreaterThan(30);
    expect(epochs?.epochStartDelayMs.p99).toBeLessThan(10);
  });

  it('is late by what the commit before it takes longer than the interval', async () => {
    const one = await running(40);
    const { epochs } = await feed(one, 10_000);
    const { p50 } = epochs!.epochStartDelayMs;
    expect(p50).toBeGreaterThan(50);
    expect(Math.abs(p50 - (epochs!.commitLatencyMs.p50 - commitInterval))).toBeLessThan(20);
    expect(one.app!.metrics().thread?.mailboxLatencyMs.max).toBeLessThan(10);
  });
});

describe('the event loop', () => {
  it('is late by what the process stood still', async () => {
    const one = await running(1);
    expect((await feed(one, 5_000)).thread?.mailboxLatencyMs.max).toBeLessThan(10);
    one.pauseFor(3_000);
    const late = (await feed(one, 5_000)).thread?.mailboxLatencyMs;
    expect(late?.max).toBeGreaterThan(2_500);
    expect(late?.max).toBeLessThanOrEqual(3_000);
    expect(late?.p50).toBeLessThan(10);
    await world.run(61_000);
    expect(one.app!.metrics().thread?.mailboxLatencyMs.max).toBeLessThan(10);
  });
});
