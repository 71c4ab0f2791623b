/**
 * Epochs beside a backlog between tasks, in virtual time: what waits for a slow task lies in the repartition topic, and no epoch of either side waits for it to be worked off. In Flink
 * barriers queue behind the records between two operators, unless checkpoints are unaligned.
 */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import type { Topology } from '../../src/topology/nodes.js';
import { SimulatedApp } from './simulated-app.js';
import { VirtualWorld } from './virtual-world.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
const commitInterval = 100;
/** Of each request and each answer, ms. */
const way = 3;
/** What the task behind the repartition topic takes for a record, ms: 50 a second, while 400 a second come in. */
const slowMs = 20;

function topology(): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .selectKey((value) => value, { keySerde: serdes.string })
    .repartition({ name: 'between', ...strings })
    .mapValues((value) => new Promise<string>((resolve) => setTimeout(() => resolve(value), slowMs)), { valueSerde: serdes.string })
    .to('out', strings);
  return builder.build();
}

interface Epochs {
  readonly count: number;
  /** Longest from barrier to commit, ms. */
  readonly longest: number;
}

describe('an epoch', () => {
  it('takes no longer with a backlog between tasks', async () => {
    const random = new Random(5);
    const world = new VirtualWorld(random.fork());
    const kafka = inMemoryKafka({ seed: 5, clock: world.clockOf(world.outside), minSessionTimeoutMs: 100 });
    for (const topic of ['in', 'out']) kafka.createTopic(topic);
    const ids = random.fork();
    const apps = ['a', 'b'].map(
      (name) =>
        new SimulatedApp(name, {
          world,
          kafka,
          topology,
          config: { applicationId: 'simulated', commitInterval, sessionTimeout: 6_000, heartbeatInterval: 300 },
          faults: () => ({ delayMs: [way, way] }),
          newId: () => ids.uuid(),
          log: () => undefined,
        }),
    );
    const between = 'simulated-between-repartition';
    let written = 0;
    const write = (count: number): void =>
      kafka.produce(
        'in',
        Array.from({ length: count }, () => ({ key: 'k', value: `${written++}` })),
      );
    const backlog = (): number => kafka.records(between).length - kafka.records('out').length;
    const instanceOf = (task: string): SimulatedApp => apps.find(({ app }) => app?.metrics().tasks[task]?.active === true)!;

    /** Feeds for so long, and watches the epochs of the instance that runs a task. */
    const feed = async (ms: number): Promise<Record<'upstream' | 'downstream', Epochs>> => {
      const watched = { upstream: instanceOf('0_0'), downstream: instanceOf('1_0') };
      const seen = { upstream: { count: 0, longest: 0 }, downstream: { count: 0, longest: 0 } };
      const last = { upstream: NaN, downstream: NaN };
      for (const end = world.now + ms; world.now < end;) {
        write(4);
        await world.run(10);
        for (const side of ['upstream', 'downstream'] as const) {
          const { epochs = 0, lastEpochDuration } = watched[side].app?.metrics().epochs ?? {};
          if (!Number.isNaN(last[side]) && epochs > last[side]) {
            seen[side].count += epochs - last[side];
            seen[side].longest = Math.max(seen[side].longest, lastEpochDuration ?? 0);
          }
          last[side] = epochs;
        }
      }
      return seen;
    };

    world.install();
    try {
      for (const one of apps) one.start();
      expect(
        await world.run(60_000, () => apps.every(({ isRunning, app }) => isRunning && app?.metrics().group?.ownedTasks.length === 1)),
      ).toBe(true);
      expect(instanceOf('0_0')).not.toBe(instanceOf('1_0'));
      // Looks its topics up.
      await feed(500);
      const first = await feed(2_000);
      expect(backlog()).toBeLessThan(1_000);
      write(10_000);
      await world.run(1_000);
      const later = await feed(2_000);
      expect(backlog()).toBeGreaterThan(10_000);
      for (const side of ['upstream', 'downstream'] as const) {
        expect(first[side].count).toBeGreaterThan(10);
        expect(later[side].count).toBeGreaterThanOrEqual(first[side].count - 1);
        // Whoever is slow finishes the record in work before its barrier, backlog or not.
        expect(later[side].longest).toBeLessThanOrEqual(first[side].longest + (side === 'downstream' ? slowMs : 1));
      }
    } finally {
      world.uninstall();
    }
  });
});
