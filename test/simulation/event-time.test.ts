/**
 * Event time across tasks under random faults: instances that crash, stand still, move and come back, partitions that go at very different paces. Whatever
 * happens, each window is closed once, with every record that belongs to it, as if the input had come sorted.
 */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { NetworkFaults } from '../../src/testing/in-memory-kafka/client-network.js';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { Random } from '../../src/testing/in-memory-kafka/random.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Topology } from '../../src/topology/nodes.js';
import { SimulatedApp } from './simulated-app.js';
import { VirtualWorld } from './virtual-world.js';

const size = 1_000;
const bound = 300;
const patienceMs = 300_000;
const endOfInput = 1_000_000;
const startableAgain: ReadonlySet<string> = new Set(['notRunning', 'error']);

function topology(idleness: number | undefined): Topology {
  const builder = new StreamsBuilder();
  const text = { keySerde: serdes.string, valueSerde: serdes.string };
  const { results, late } = builder
    .stream('readings', { ...text, watermarks: watermarks.boundedOutOfOrderness(bound, { idleness }) })
    .keyBy((value) => value.slice(0, 1), { name: 'by-room', ...text })
    .window(tumblingEventTime({ size }))
    .process((room, values, { window }) => [`${room} from ${window.start}: ${values.toSorted().join(' ')}`], {
      name: 'contents',
      sideOutputLate: true,
      valueSerde: serdes.string,
    });
  results.map((value, { key }) => [key, value], text).to('contents');
  late.to('late');
  return builder.build();
}

interface Run {
  /** Committed; under at-least-once a window may come again. */
  readonly results: readonly string[];
  readonly expected: readonly string[];
  readonly late: readonly string[];
  readonly crashes: number;
  /** What the instances say at the end. */
  readonly watermarks: readonly (number | null)[];
  readonly explained: string;
  readonly tasks: number;
}

const isAtEnd = (watermark: number | null): boolean => watermark === endOfInput - bound - 1;

type Guarantee = 'exactly_once' | 'at_least_once';

async function run(seed: number, processingGuarantee: Guarantee = 'exactly_once'): Promise<Run> {
  const random = new Random(seed);
  const world = new VirtualWorld(random.fork());
  const partitions = random.int(1, 4);
  const kafka = inMemoryKafka({ seed, clock: world.clockOf(world.outside), minSessionTimeoutMs: 100 });
  kafka.createTopic('readings', partitions);
  kafka.createTopic('contents', 2);
  kafka.createTopic('late', 1);
  const ids = random.fork();
  const rate = random.pick([0, 0.005, 0.02]);
  const faults: NetworkFaults = { delayMs: [0.1, random.pick([1, 40])], loseRequest: rate, loseResponse: rate };
  let isCalm = false;
  const idleness = random.pick([undefined, undefined, 60_000]);
  const config = {
    applicationId: 'simulated',
    processingGuarantee,
    commitInterval: random.pick([20, 100, 400]),
    sessionTimeout: random.pick([1_000, 6_000]),
    heartbeatInterval: 300,
    rebalanceTimeout: 3_000,
    transactionTimeout: random.pick([1_000, 10_000]),
  };
  const app = (_: unknown, index: number): SimulatedApp =>
    new SimulatedApp(`app-${index}`, {
      world,
      kafka,
      topology: () => topology(idleness),
      config,
      faults: () => (isCalm ? { delayMs: [0.2, 2] } : faults),
      newId: () => ids.uuid(),
      log: () => undefined,
    });
  const apps = Array.from({ length: random.int(1, 3) }, app) as [SimulatedApp, ...SimulatedApp[]];
  const expected = new Map<string, string[]>();
  const clocks = Array.from({ length: partitions }, () => 0);
  let count = 0;
  let crashes = 0;
  const feed = (partition: number): void => {
    const before = clocks[partition] as number;
    // Partition 0 goes at a fraction of the others' pace.
    const now = (clocks[partition] = before + random.int(0, partition === 0 ? 60 : 700));
    const timestamp = Math.max(0, now - random.int(0, bound));
    const value = `${random.pick(['a', 'b', 'c'])}${++count}`;
    const window = `${value.slice(0, 1)} from ${Math.floor(timestamp / size) * size}`;
    expected.set(window, [...(expected.get(window) ?? []), value]);
    kafka.produce('readings', [{ partition, key: 'k', value, timestamp }]);
  };
  const restart = (one: SimulatedApp): void => {
    one.crash();
    one.start();
  };
  world.install();
  try {
    for (const one of apps) one.start();
    for (let step = random.int(8, 25); step > 0; step--) {
      for (let i = random.int(0, 8); i > 0; i--) feed(random.int(0, partitions - 1));
      await world.run(random.pick([20, 200, 1_500, 4_000]) * random.next());
      const one = random.pick(apps);
      const action = random.pick(['crash', 'crash', 'moved', 'pause', 'close', 'start', 'nothing']);
      if (action === 'crash' || action === 'moved') {
        crashes++;
        one.crash();
        if (action === 'moved') one.newDisk();
        if (random.chance(0.7)) one.start();
      } else if (action === 'pause') one.pauseFor(random.pick([100, 1_500, 8_000]));
      else if (action === 'close') one.close();
      else if (action === 'start' && (one.app === null || startableAgain.has(one.app.state))) restart(one);
    }
    isCalm = true;
    kafka.heal();
    for (let partition = 0; partition < partitions; partition++)
      kafka.produce('readings', [{ partition, key: 'k', value: 'z', timestamp: endOfInput }]);
    const read = (topic: string): string[] => kafka.records(topic).map(({ value }) => String(value));
    const until = world.now + patienceMs;
    const told = (): (number | null)[] =>
      apps.flatMap((one) =>
        Object.values(one.app?.metrics().tasks ?? {}).flatMap((task) => (task.active ? [task.currentInputWatermark] : [])),
      );
    const windowsSeen = (): number => new Set(read('contents').map((line) => line.split(':')[0])).size;
    while (world.now < until && (windowsSeen() < expected.size || told().filter(isAtEnd).length < 2 * partitions)) {
      for (const one of apps) if (one.app === null || startableAgain.has(one.app.state)) restart(one);
      await world.run(500);
    }
    const watermarksAtEnd = told();
    const explained = apps.map((one) => one.app?.explainWatermark('contents').text ?? '').join('\n');
    await world.run(2_000);
    return {
      tasks: 2 * partitions,
      watermarks: watermarksAtEnd,
      explained,
      results: read('contents').sort(),
      expected: [...expected].map(([window, values]) => `${window}: ${values.sort().join(' ')}`).sort(),
      late: read('late'),
      crashes,
    };
  } finally {
    for (const one of apps) one.crash();
    world.uninstall();
  }
}

describe('event time across tasks, under random faults', () => {
  it('closes each window once, complete, whatever crashes, stands still or moves', async () => {
    const failed: string[] = [];
    let crashes = 0;
    for (let seed = 1; seed <= 40; seed++) {
      const { results, expected, late, watermarks: told, explained, ...rest } = await run(seed);
      crashes += rest.crashes;
      // Instances that stand still do not know yet that others run their tasks.
      const atEnd = told.filter(isAtEnd);
      if (atEnd.length !== rest.tasks) failed.push(`seed ${seed}: ${atEnd.length} of ${rest.tasks} tasks are at the end: ${explained}`);
      const missing = expected.filter((line) => !results.includes(line));
      const wrong = results.filter((line, i) => !expected.includes(line) || results.indexOf(line) !== i);
      if (missing.length + wrong.length + late.length > 0)
        failed.push(`seed ${seed}: missing ${missing[0]}; wrong ${wrong[0]}; late ${late[0]}`);
    }
    expect(failed).toEqual([]);
    expect(crashes).toBeGreaterThan(40);
  }, 120_000);

  it('closes no window early under at-least-once either: what comes too late has been there before', async () => {
    const failed: string[] = [];
    for (let seed = 1_001; seed <= 1_020; seed++) {
      const { results, expected, late } = await run(seed, 'at_least_once');
      for (const line of expected) {
        const [window = '', values = ''] = line.split(': ');
        const told = results
          .filter((result) => result.startsWith(`${window}:`))
          .map((result) => new Set(result.split(': ')[1]?.split(' ')));
        const isWhole = told.some((contents) => values.split(' ').every((value) => contents.has(value)));
        if (!isWhole)
          failed.push(`seed ${seed}: ${line} came as ${results.filter((result) => result.startsWith(`${window}:`)).join('; ')}`);
      }
      const known = new Set(expected.flatMap((line) => line.split(': ')[1]?.split(' ') ?? []));
      for (const value of late) if (!known.has(value)) failed.push(`seed ${seed}: ${value} is late`);
    }
    expect(failed).toEqual([]);
  }, 120_000);

  it('sends nothing when nothing happens', async () => {
    const world = new VirtualWorld(new Random(1));
    const kafka = inMemoryKafka({ seed: 1, clock: world.clockOf(world.outside), minSessionTimeoutMs: 100 });
    kafka.createTopic('readings', 2);
    for (const topic of ['contents', 'late']) kafka.createTopic(topic, 1);
    const app = new SimulatedApp('app', {
      world,
      kafka,
      topology: () => topology(5_000),
      config: { applicationId: 'quiet' },
      faults: () => ({ delayMs: [0.2, 2] }),
      newId: () => '00000000-0000-4000-8000-000000000001',
      log: () => undefined,
    });
    const sent = (): number => app.app?.metrics().producer?.recordsSent ?? -1;
    world.install();
    try {
      app.start();
      kafka.produce('readings', [{ partition: 0, key: 'k', value: 'a', timestamp: 5_000 }]);
      await world.run(20_000);
      const before = sent();
      expect(before).toBeGreaterThan(0);
      await world.run(60_000);
      expect(sent()).toBe(before);
    } finally {
      app.crash();
      world.uninstall();
    }
  });
});
