/** The cases of `seed-examples.json` that a library can run: each by the part of Millrace that it is about. Those about running things are in `seed-operations.ts`. */
import { instanceOf, rangeFor } from '../../src/rebalance/key-groups.js';
import { KeyedStates } from '../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../src/processors/state/memory-keyed-state-backend.js';
import { valueState } from '../../src/processors/state/state-descriptor.js';
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { catchUpSeconds } from '../../src/observability/catch-up.js';
import { latestRevision, type Revised } from '../../src/processors/latest-revision.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { WatermarkCombiner } from '../../src/time/watermarks/watermark-combiner.js';
import { tumblingEventTime, tumblingProcessingTime } from '../../src/time/windowing/tumbling-windows.js';
import { isList, isObject, list, number, object, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { CrashRun } from './crash-run.js';
import { operationChecks } from './seed-operations.js';
import { differs } from './shown.js';
import { WindowRun } from './window-run.js';

interface Mean {
  readonly sum: number;
  readonly count: number;
}

const mean: AggregateFunction<number, Mean, Mean & { readonly mean: number }> = {
  initial: () => ({ sum: 0, count: 0 }),
  add: ({ sum, count }, value) => ({ sum: sum + value, count: count + 1 }),
  result: ({ sum, count }) => ({ sum, count, mean: sum / count }),
  merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
};

const checks: Readonly<Record<string, (value: JsonObject) => string[] | Promise<string[]>>> = {
  'minute-mean': (value) => {
    const input = list(value, 'input') as readonly number[];
    const run = new WindowRun(tumblingEventTime({ size: 60_000 }), mean);
    input.slice(0, 2).forEach((reading, i) => run.process(reading, 12_000 + i));
    const kept = run.accumulators();
    run.restart();
    input.slice(2).forEach((reading, i) => run.process(reading, 20_000 + i));
    run.advance(59_999);
    return [...differs('restored', [value.restoreAfterTwo ?? null], kept), ...differs('result', [value.expect ?? null], run.fired)];
  },
  'key-group-rescale': (value) => {
    const max = number(value, 'maxParallelism');
    const ranges = (instances: number) => {
      const of = (i: number): Json => [rangeFor(max, instances, i).start, rangeFor(max, instances, i).end];
      return Array.from({ length: instances }, (_, i) => of(i));
    };
    return [
      ...differs('p3', value.p3, ranges(3)),
      ...differs('p4', value.p4, ranges(4)),
      ...differs('key group 6', value.keyGroup6, { p3: instanceOf(6, 3, max), p4: instanceOf(6, 4, max) }),
    ];
  },
  'bounded-out-of-orderness': (value) => {
    const generator = watermarks.boundedOutOfOrderness(number(value, 'deltaMs')).createGenerator();
    let watermark = NaN;
    const output = { emit: (emitted: number) => void (watermark = emitted), markIdle: () => undefined, markActive: () => undefined };
    generator.onEvent(clock(text(value, 'maxSeen')), null, output);
    generator.onPeriodicEmit(output);
    return differs('watermark', clock(text(value, 'watermarkExact')), watermark);
  },
  'min-watermark': (value) => {
    const inputs = (list(value, 'inputs') as readonly [string, string][]).map(([name, time]) => [name, clock(time)] as const);
    const { A, B, combined } = object(value, 'second');
    return [
      ...differs('combined', clock(text(value, 'combined')), combine(inputs)),
      ...differs('second', combined, combine(Object.entries({ A, B }) as [string, number][])),
    ];
  },
  'event-vs-processing-time': (value) => {
    const run = new WindowRun(tumblingEventTime({ size: 60_000 }), mean);
    for (const [reading, time] of [
      [20, 12_000],
      [22, 40_000],
      [24, 30_000],
    ] as const)
      run.process(reading, time);
    run.advance(59_999);
    const [window] = tumblingProcessingTime({ size: 60_000 }).assign(24, 30_000, 60_500);
    return [
      ...differs('mean', value.eventTimeWindowMean, run.fired[0]?.mean),
      ...differs('processing time', [60_000, 120_000], [window?.start, window?.end]),
    ];
  },
  'lateness-0-and-3': (value) =>
    (
      [
        ['lateness0', 0],
        ['lateness3', 3],
      ] as const
    ).flatMap(([field, lateness]) => {
      const run = new WindowRun(tumblingEventTime({ size: 5 }), mean, lateness);
      for (const time of list(value, 'events') as readonly number[]) run.process(1, time);
      run.advance(number(value, 'watermark'));
      run.process(1, number(value, 'late'));
      const expected = object(value, field);
      const counts = run.fired.map(({ count }) => count);
      const last = expected.lateUpdate ?? expected.final;
      return [
        ...differs(`${field}, first`, expected.firstResult, counts[0]),
        ...differs(`${field}, last`, last, counts.at(-1)),
        ...differs(`${field}, side output`, expected.sideOutput ?? [], run.late),
      ];
    }),
  'out-of-order-3-5-2-4-6': (value) => {
    const [start, end] = list(object(value, 'fired'), 'window') as [number, number];
    const run = new WindowRun(tumblingEventTime({ size: number(value, 'tumbling') }), contents);
    for (const event of list(value, 'events')) {
      if (isObject(event)) run.advance(number(event, 'watermark'));
      else run.process(event as number, event as number);
    }
    const first = run.fired.map((values) => values)[0];
    const open = run.accumulators();
    return [
      ...differs('window', [start, end], [0, number(value, 'tumbling')]),
      ...differs('contents', object(value, 'fired').contains, first),
      ...differs('t4', [[5, 4, 6]], open),
    ];
  },
  'restore-C42': (value) => {
    const run = new CrashRun();
    const { countedOffsets, sum, next } = object(value, 'checkpoint');
    const [, last] = countedOffsets as [number, number];
    const then = object(value, 'thenProcessed');
    const [from, to] = then.offsets as [number, number];
    const { resumeAt, finalAfterReplay } = object(value, 'correctRestore');
    return run.within(async () => {
      run.start();
      run.feed(Array.from({ length: last }, () => (sum as number) / last));
      await run.untilCommitted(sum as number, last);
      run.feed(Array.from({ length: to - from + 1 }, () => (then.adds as number) / (to - from + 1)));
      await run.untilSeen(to);
      const before = run.committed;
      run.crash();
      run.start();
      await run.untilCommitted(finalAfterReplay as number, to);
      // Offsets of the seeds begin at 1.
      return [
        ...differs('next', next, last + 1),
        ...differs('committed at the crash', [`${sum as number}/${last}`], before.slice(-1)),
        ...differs('resumed at', resumeAt, (run.seen[to] ?? NaN) + 1),
        ...differs('other totals', [], run.committed.filter((total) => !['1000/100', '1200/120'].includes(total)).slice(0, 3)),
      ];
    });
  },
  'state-exactly-once-effect-twice': (value) => {
    const run = new CrashRun();
    return run.within(async () => {
      run.start();
      run.feed([7]);
      await run.untilCommitted(7, number(value, 'checkpointOffset'));
      run.feed([8]);
      await run.untilSeen(2);
      run.crash();
      run.start();
      await run.untilCommitted(15, number(value, 'managedCount'));
      return [
        ...differs('effects for event 8', value.externalEffectForEvent8, run.seen.filter((offset) => offset === 1).length),
        ...differs('restored offset', value.restoredOffset, run.seen[2]),
        ...differs('final offset', value.finalOffset, (run.seen.at(-1) ?? NaN) + 1),
      ];
    });
  },
  'barrier-cut': async (value) => {
    const [before, after] = cut(value);
    const text = { keySerde: serdes.string, valueSerde: serdes.string };
    const builder = new StreamsBuilder();
    builder
      .stream('channels', text)
      .groupByKey()
      .aggregate(
        () => '',
        (names: string, name) => `${names}${name} `,
        { materialized: { storeName: 'contents', ...text } },
      );
    const driver = new TopologyTestDriver(builder.build(), { partitions: { channels: 2 }, autoCommit: false, applicationId: 'app' });
    const channels = driver.inputTopic('channels', text);
    for (const [partition, name] of before) await channels.pipe('k', name, { timestamp: 1, partition });
    await driver.commit();
    for (const [partition, name] of after) await channels.pipe('k', name, { timestamp: 1, partition });
    const snapshot = driver.outputTopic('app-contents-changelog', text).readAll();
    const names = snapshot.flatMap(({ value: contents }) => (contents ?? '').trim().split(' '));
    await driver.close();
    return [
      ...differs('snapshot', value.snapshotContains, names.sort()),
      ...differs('excluded', value.excludes, after.map(([, name]) => name).sort()),
    ];
  },
  'count-10-to-11': async (value) => {
    const text = { keySerde: serdes.string, valueSerde: serdes.string };
    const retracted: [string, [string, number]][] = [];
    const builder = new StreamsBuilder();
    const counts = builder.stream('measurements', text).groupByKey().count();
    counts.toStream().to('counts', { ...text, valueSerde: serdes.count });
    counts
      .groupBy((count, device) => [device, count], { keySerde: serdes.string, valueSerde: serdes.count })
      .aggregate(
        () => 0,
        (rows, count, device) => {
          retracted.push(['+U', [device, count]]);
          return rows + 1;
        },
        (rows, count, device) => {
          retracted.push(['-U', [device, count]]);
          return rows - 1;
        },
        { materialized: { valueSerde: serdes.double } },
      );
    const driver = new TopologyTestDriver(builder.build(), { emit: 'onUpdate' });
    const measurements = driver.inputTopic('measurements', text);
    for (let i = 0; i < 10; i++) await measurements.pipe('device-A', 'm');
    const out = driver.outputTopic('counts', { ...text, valueSerde: serdes.count });
    out.readAll();
    retracted.length = 0;
    await measurements.pipe('device-A', 'm');
    const upserts = out.readAll().map(({ key, value: count }) => ['+U', [key, count]]);
    await driver.close();
    return [
      ...differs('retract', value.retract, retracted),
      ...differs('upsert', value.upsert, upserts),
      ...differs('materialised', value.materialised, Object.fromEntries(upserts.map(([, row]) => row as [string, number]))),
    ];
  },
  'mean-of-means': (value) => {
    const parts = (list(value, 'parts') as readonly JsonObject[]).map((part) => ({
      sum: number(part, 'mean') * number(part, 'count'),
      count: number(part, 'count'),
    }));
    const merged = parts.reduce((a, b) => mean.merge?.(a, b) ?? a);
    return differs('mean', value.correct, mean.result(merged).mean);
  },
  'backpressure-rate': (value) => {
    const [arriving, processed] = [number(value, 'inPerSec'), number(value, 'outPerSec')];
    // The room of a buffer is worked off by what comes in and not out.
    return [
      ...differs('growth', value.growthPerSec, arriving - processed),
      ...differs('full after', value.fillsInSeconds, catchUpSeconds(number(value, 'buffer'), processed, arriving)),
    ];
  },
  'catch-up': (value) => {
    const [backlog, arriving] = [number(value, 'backlog'), number(value, 'lambdaPerSec')];
    return [
      ...differs('seconds', value.seconds, catchUpSeconds(backlog, arriving, number(value, 'muPerSec'))),
      ...differs('as fast as it comes', 'never', catchUpSeconds(backlog, arriving, arriving) === Infinity ? 'never' : 'some time'),
    ];
  },
  'revision-guard': async (value) => {
    const revisions = { keySerde: serdes.string, valueSerde: serdes.json<Revised>() };
    const builder = new StreamsBuilder();
    const stored = { materialized: { storeName: 'stored', ...revisions } };
    builder.stream('writes', revisions).groupByKey().reduce(latestRevision, stored);
    const driver = new TopologyTestDriver(builder.build());
    const writes = driver.inputTopic('writes', revisions);
    for (const write of list(value, 'writes')) await writes.pipe('device-A', write as unknown as Revised);
    const found = (await driver.view<string, Json>('stored')).get('device-A');
    await driver.close();
    return differs('stored', value.stored, await found);
  },
  ...operationChecks,
  'ttl-example': (value) => {
    let now = 0;
    const states = new KeyedStates(new MemoryKeyedStateBackend(), () => now);
    const ttl = number(value, 'ttlMs');
    const login = states.state(
      valueState<number>('last-login', { ttl: { ttl, update: 'onCreateAndWrite', visibility: 'neverReturnExpired' } }),
    );
    login.update(7);
    now = ttl - 1;
    const before = login.value();
    now = ttl;
    return [...differs('before', 7, before), ...differs('after', null, login.value())];
  },
};

const contents: AggregateFunction<number, readonly number[], readonly number[]> = {
  initial: () => [],
  add: (values, value) => [...values, value],
  result: (values) => values,
};

export function seedExample({ value }: CaseEntry): ConformanceCase | null {
  if (typeof value.seed !== 'string' || typeof value.name !== 'string' || isList(value.steps)) return null;
  const check = checks[value.name];
  return check === undefined ? null : { name: value.name, run: async () => check(value) };
}

/** What stands before and after the barrier, with the channel as partition. */
function cut(value: JsonObject): [before: [number, string][], after: [number, string][]] {
  const before: [number, string][] = [];
  const after: [number, string][] = [];
  for (const [partition, channel] of ['channelA', 'channelB'].entries()) {
    const names = list(value, channel) as readonly string[];
    const barrier = names.findIndex((name) => name.startsWith('|'));
    names.forEach((name, i) => {
      if (i !== barrier) (i < barrier ? before : after).push([partition, name]);
    });
  }
  return [before, after];
}

/** `12:01:08.000` as milliseconds of the day. */
function clock(time: string): number {
  return Date.parse(`1970-01-01T${time}Z`);
}

function combine(inputs: readonly (readonly [string, number])[]): number {
  const ignored = { emit: () => undefined, markIdle: () => undefined, markActive: () => undefined };
  const combiner = new WatermarkCombiner<string>(ignored, 'ignore');
  for (const [name] of inputs) combiner.add(name);
  for (const [name, watermark] of inputs) combiner.advance(name, watermark);
  return combiner.watermark;
}
