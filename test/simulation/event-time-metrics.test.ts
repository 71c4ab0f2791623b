/** What a task says of its input and of its event time, in virtual time: while records come, when they stay away, and after it has moved. */
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { TaskMetricsSnapshot } from '../../src/app/app-metrics.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import type { Topology } from '../../src/topology/nodes.js';
import { SimulatedApp } from './simulated-app.js';
import { VirtualWorld } from './virtual-world.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const maxDrift = 1_000;
/** What a record takes to the task and into the metrics at most, ms. */
const soon = 250;

function topology(isAligned: boolean): Topology {
  const builder = new StreamsBuilder();
  const strategy = watermarks.monotonous(isAligned ? { alignment: { maxDrift } } : {});
  builder
    .stream('in', { ...text, watermarks: strategy })
    .mapValues((value) => value, { valueSerde: serdes.string })
    .to('out', text);
  return builder.build();
}

let world: VirtualWorld;
let kafka: InMemoryKafka;
let ids: Random;
beforeEach(() => {
  world = new VirtualWorld(new Random(1));
  kafka = inMemoryKafka({ seed: 1, clock: world.clockOf(world.outside), minSessionTimeoutMs: 100 });
  kafka.createTopic('in', 2);
  kafka.createTopic('out', 2);
  ids = new Random(2);
  world.install();
});
afterEach(() => world.uninstall());

async function running(name: string, isAligned = true): Promise<SimulatedApp> {
  const one = new SimulatedApp(name, {
    world,
    kafka,
    topology: () => topology(isAligned),
    config: { applicationId: 'simulated', commitInterval: 100, sessionTimeout: 6_000, heartbeatInterval: 300 },
    faults: () => ({ delayMs: [1, 1] }),
    newId: () => ids.uuid(),
    log: () => undefined,
  });
  one.start();
  expect(await world.run(60_000, () => one.isRunning)).toBe(true);
  return one;
}

const of = (one: SimulatedApp, task: string): TaskMetricsSnapshot => one.app!.metrics().tasks[task]!;
/** `age` below 0: ahead of the clock. */
const write = (partition: number, age: number): number => {
  const timestamp = Math.floor(world.wallClock) - age;
  kafka.produce('in', [{ partition, key: 'k', value: 'v', timestamp }]);
  return timestamp;
};

describe('a task', () => {
  it('says how old its last record was when it took it, and for how long it has had none', async () => {
    const one = await running('a');
    await world.run(5_000);
    expect(of(one, '0_0').currentEmitEventTimeLag).toBeNull();
    expect(of(one, '0_0').sourceIdleTime).toBeGreaterThanOrEqual(5_000);
    write(0, 40_000);
    await world.run(soon);
    expect(of(one, '0_0').sourceIdleTime).toBeLessThan(soon);
    await world.run(9_000);
    const { sourceIdleTime, currentEmitEventTimeLag, watermarkLag } = of(one, '0_0');
    expect(sourceIdleTime).toBeGreaterThanOrEqual(9_000);
    expect(sourceIdleTime).toBeLessThan(9_000 + soon);
    // As of the record, while the watermark falls back as time goes.
    expect(currentEmitEventTimeLag).toBeGreaterThanOrEqual(40_000);
    expect(currentEmitEventTimeLag).toBeLessThan(40_000 + soon);
    expect(watermarkLag).toBeGreaterThanOrEqual(49_000);
    write(0, -3_000);
    await world.run(soon);
    expect(of(one, '0_0').currentEmitEventTimeLag).toBeLessThan(-3_000 + soon);
  });

  it('says how far its partitions are ahead of the slowest that they are aligned with', async () => {
    const one = await running('a');
    expect(of(one, '0_0').watermarkAlignmentDrift).toBeNull();
    const slow = write(0, 5_000);
    const fast = write(1, 1_500);
    await world.run(1_000);
    expect(['0_0', '0_1'].map((task) => of(one, task).watermarkAlignmentDrift)).toEqual([0, fast - slow]);
    expect(fast - slow).toBeGreaterThan(maxDrift);
    const before = of(one, '0_1').recordsProcessed;
    const waiting = write(1, 0);
    await world.run(1_000);
    expect(of(one, '0_1').recordsProcessed).toBe(before);
    const caughtUp = write(0, 100);
    await world.run(2_000);
    expect(of(one, '0_1').recordsProcessed).toBe(before + 1);
    expect(['0_0', '0_1'].map((task) => of(one, task).watermarkAlignmentDrift)).toEqual([caughtUp - waiting, 0]);
  });

  it('says since when its watermark stands, also when the clock of the machine has been set', async () => {
    const one = await running('a');
    write(0, 0);
    await world.run(2_000);
    one.setClock(3_600_000);
    const [task] = world.as(one.process!, () => one.app!.explainWatermark()).tasks;
    const stoodFor = world.wallClock + 3_600_000 - task!.inputs[0]!.since;
    expect(stoodFor).toBeGreaterThan(2_000 - soon);
    expect(stoodFor).toBeLessThanOrEqual(2_000);
  });

  it('knows of no drift without alignment', async () => {
    const one = await running('a', false);
    write(0, 5_000);
    await world.run(1_000);
    expect(of(one, '0_0')).toMatchObject({ recordsProcessed: 1, watermarkAlignmentDrift: null });
  });

  it('says nothing of the kind once it has moved, and begins anew where it has come to', async () => {
    const a = await running('a');
    write(0, 5_000);
    write(1, 5_000);
    await world.run(10_000);
    const b = await running('b');
    expect(await world.run(60_000, () => a.app!.metrics().group?.ownedTasks.length === 1 && b.isRunning)).toBe(true);
    await world.run(500);
    const [moved] = b.app!.metrics().group!.ownedTasks;
    expect(of(a, moved!)).toMatchObject({
      active: false,
      recordsProcessed: 1,
      sourceIdleTime: null,
      currentEmitEventTimeLag: null,
      watermarkAlignmentDrift: null,
      watermarkLag: null,
    });
    const { sourceIdleTime, currentEmitEventTimeLag, watermarkAlignmentDrift } = of(b, moved!);
    expect(sourceIdleTime).toBeLessThan(10_000);
    expect(currentEmitEventTimeLag).toBeNull();
    // Its watermark came with it.
    expect(watermarkAlignmentDrift).toBe(0);
  });
});
