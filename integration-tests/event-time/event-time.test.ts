/** Event time on a real broker: watermarks through repartition topics, timers and window state, over kills, restarts and moves. */
import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { ApiKeys } from '../faults/api-keys.js';
import { epochMoments } from '../faults/epoch-moments.js';
import { killAt } from '../faults/kill-at.js';
import { chaosSeed, Random } from '../faults/random.js';
import { until } from '../faults/until.js';
import { bound, windowSize } from './event-topology.js';
import { EventRun, type EventRunOptions, type Reading } from './event-run.js';

const runs: EventRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

async function begin(name: string, options?: EventRunOptions): Promise<EventRun> {
  const run = await EventRun.create(name, options);
  runs.push(run);
  return run;
}

/** One reading in each partition that takes event time to just below `time + 1`. */
function passing(time: number, partitions: readonly number[] = [0, 1, 2]): Reading[] {
  return partitions.map((partition) => ({ device: `clock-${partition}`, value: 0, timestamp: time + bound + 1, partition }));
}

describe('event time across instances', () => {
  const seed = chaosSeed();

  it(`closes no window before the slowest partition has passed it, whoever is killed meanwhile (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const run = await begin('slow-partition');
    const instances = [run.instance(), run.instance()];
    for (const instance of instances) instance.start();
    for (const instance of instances) await instance.untilState('running');
    const times = [0, 0, 0];
    let slowest = 0;
    for (let round = 0; round < 14; round++) {
      const readings: Reading[] = [];
      for (let i = 0; i < 30; i++) {
        const partition = random.between(0, 2);
        // Partition 2 goes at a sixth of the pace of the others.
        const now = (times[partition] = (times[partition] ?? 0) + random.between(0, partition === 2 ? 1_000 : 6_000));
        const timestamp = Math.max(0, now - random.between(0, bound));
        readings.push({ device: `device-${random.between(0, 4)}`, value: random.between(1, 9), timestamp, partition });
      }
      await run.feed(readings);
      slowest = Math.min(...times) - bound - 1;
      if (round % 4 === 1) {
        const victim = random.pick(instances);
        await delay(random.between(0, 300));
        await victim.kill();
        victim.start();
      }
      // Whatever is there by now is final: windows that every partition has passed.
      const closed = new Set(run.expected(slowest).means);
      for (const line of await run.lines('means')) expect(closed).toContain(line);
      await delay(random.between(0, 200));
    }
    for (const instance of instances) await instance.untilState('running');
    const end = Math.max(...times) + 10 * windowSize;
    await run.feed(passing(end));
    const { means, reminders, late } = await run.settled(end);
    expect(means).toEqual(run.expected(end).means);
    expect(reminders).toEqual(run.expected(end).reminders);
    expect(late).toEqual([]);
  });

  it('is not held back by a partition without records once that is idle', async () => {
    const run = await begin('idle-partition', { idleness: 1_000 });
    const instances = [run.instance(), run.instance()];
    for (const instance of instances) instance.start();
    for (const instance of instances) await instance.untilState('running');
    const processed = (total: string): Promise<void> =>
      until(
        `the total is ${total}`,
        async () => (await run.totals()).get('a') === total,
        60_000,
        () => run.story(),
      );
    await run.feed([
      { device: 'a', value: 1, timestamp: 10_000, partition: 0 },
      { device: 'a', value: 2, timestamp: 20_000, partition: 1 },
    ]);
    // Whoever has been quiet for a second may be passed: what is to be in a window comes before it is passed.
    await processed('3/2');
    await run.feed(passing(2 * windowSize, [0, 1]));
    expect((await run.settled(2 * windowSize)).means).toEqual(['a 0: 3/2/1.5']);
    // It takes part again with its next record, which is not late.
    await run.feed([{ device: 'a', value: 5, timestamp: 2 * windowSize + 10, partition: 2 }]);
    await processed('8/3');
    await run.feed(passing(5 * windowSize));
    const end = await run.settled(5 * windowSize);
    expect(end.means).toEqual(run.expected(5 * windowSize).means);
    expect(end.late).toEqual([]);
  });
});

describe('the minute mean and the total, killed at each step of the epoch', () => {
  it('go on with the state that belongs to the position: 42/2 and 24 make 66/3, and 1000 and 200 make 1200', async () => {
    const run = await begin('minute-mean');
    const { instance, proxy } = await run.proxied();
    instance.start();
    await instance.untilState('running');
    const devices: string[] = [];
    for (const [where, [direction, api, verdict]] of Object.entries(epochMoments)) {
      const device = `device-${devices.length}`;
      const counted = `counter-${devices.length}`;
      devices.push(device);
      const reading = (value: number, timestamp: number, of = device): Reading => ({
        device: of,
        value,
        timestamp,
        partition: devices.length % 3,
      });
      await run.feed([reading(20, 12_000), reading(22, 40_000), ...Array.from({ length: 100 }, (_, i) => reading(10, i, counted))]);
      await until(
        'two readings and a hundred offsets are committed',
        async () => (await run.totals()).get(device) === '42/2' && (await run.totals()).get(counted) === '1000/100',
        60_000,
        () => run.story(),
      );
      const killed = killAt(
        instance,
        proxy,
        direction,
        verdict,
        ({ apiKey, clientId }) => apiKey === ApiKeys[api] && clientId.endsWith('-main'),
      );
      await run.feed([reading(24, 20_000), ...Array.from({ length: 20 }, (_, i) => reading(10, 100 + i, counted))]);
      await until(
        `killed ${where}`,
        () => killed(),
        30_000,
        () => run.story(),
      );
      await instance.kill();
      proxy.passAll();
      instance.start();
      await instance.untilState('running');
      await until(
        `what was lost ${where} is processed again`,
        async () => (await run.totals()).get(device) === '66/3' && (await run.totals()).get(counted) === '1200/120',
        60_000,
        () => run.story(),
      );
    }
    // Each total was written once: nothing was counted twice and taken back.
    expect(new Set(await run.lines('totals')).size).toBe((await run.lines('totals')).length);
    await run.feed(passing(windowSize));
    const { means, late } = await run.settled(windowSize);
    expect(means.filter((line) => line.startsWith('device'))).toEqual(devices.map((device) => `${device} 0: 66/3/22`));
    expect(means).toEqual(run.expected(windowSize).means);
    expect(late).toEqual([]);
  });
});

describe('timers', () => {
  it('fire once, over a restart and a move to another instance', async () => {
    const run = await begin('timers');
    const [first, second] = [run.instance(), run.instance()];
    const step = async (from: number): Promise<void> =>
      run.feed(
        Array.from({ length: 12 }, (_, i) => ({ device: `device-${i % 4}`, value: i, timestamp: from + i * 1_000, partition: i % 3 })),
      );
    first.start();
    await first.untilState('running');
    await step(0);
    await until('the first readings are processed', async () => (await run.lines('totals')).length === 12);
    await first.close();

    first.start();
    await first.untilState('running');
    await run.feed(passing(35_000));
    expect((await run.settled(35_000)).reminders).toEqual(run.expected(35_000).reminders);
    await step(50_000);
    await until('the next readings are processed', async () => (await run.lines('totals')).length === 27);

    second.start();
    await second.untilState('running');
    await first.kill();
    await run.feed(passing(200_000));
    const { reminders, late } = await run.settled(200_000);
    expect(reminders).toEqual(run.expected(200_000).reminders);
    expect(late).toEqual([]);
  });
});

describe('joins in event time and windows in two stages', () => {
  const seed = chaosSeed();

  it(`give what a model gives, record for record, while two instances are killed in turn (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const run = await begin('joins', { joins: true });
    const instances = [run.instance(), run.instance()];
    for (const instance of instances) instance.start();
    for (const instance of instances) await instance.untilState('running');
    const partitions = [0, 1, 2];
    const times = [0, 0, 0, 0, 0, 0];
    let number = 0;
    /** Records of three devices, each with a number of its own, out of order within the bound. `first` is the clock of its first partition. */
    const records = (count: number, first: number): Reading[] =>
      Array.from({ length: count }, () => {
        const partition = random.pick(partitions);
        const now = (times[first + partition] = (times[first + partition] ?? 0) + random.between(0, 9_000));
        const value = ++number;
        // No two of a device at one time: which of two versions is the last one would be open.
        const timestamp = Math.floor(Math.max(0, now - random.between(0, bound - 3_000)) / 1_000) * 1_000 + (value % 1_000);
        return { device: `device-${random.between(0, 2)}`, value, timestamp, partition };
      });
    for (let round = 0; round < 6; round++) {
      await run.feed(records(40, 0));
      await run.feedVersions(records(15, 3));
      if (round % 2 === 1) {
        const victim = instances[(round >> 1) % 2];
        await delay(random.between(0, 300));
        await victim?.kill();
        victim?.start();
      }
      await delay(random.between(0, 300));
    }
    for (const instance of instances) await instance.untilState('running');
    const end = Math.max(...times) + 10 * windowSize;
    await run.feed(passing(end));
    await run.feedVersions(passing(end));
    await until(
      'all joins and windows are there',
      async () => {
        const { expected, found } = await run.joined(end);
        return (['hops', 'temporal', 'pairs'] as const).every((output) => found[output].length >= expected[output].length);
      },
      60_000,
      () => run.story(),
    );
    for (const instance of instances) await instance.close();
    const { expected, found } = await run.joined(end);
    expect(found).toEqual(expected);
    for (const output of ['hops', 'temporal', 'pairs'] as const) expect(expected[output].length).toBeGreaterThan(20);
  });
});
