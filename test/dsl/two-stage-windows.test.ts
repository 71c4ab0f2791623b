/** Windows in two stages are held to those of one: the last result of each window and its time, what was dropped, and when windows close. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { KGroupedStream } from '../../src/dsl/kgrouped-stream.js';
import type { KeyedStream } from '../../src/dsl/keyed-stream.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type { TwoStageOptions, WindowEmitOption } from '../../src/dsl/options.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { MillraceError } from '../../src/errors.js';
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import { countEvictor } from '../../src/processors/windowing/evictor.js';
import { countTrigger } from '../../src/processors/windowing/triggers/count-trigger.js';
import { eventTimeTrigger } from '../../src/processors/windowing/triggers/time-triggers.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TestDriverConfig } from '../../src/testing/test-driver-config.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { hopping, tumbling, unlimited, type TimeWindows } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import type { Windowed } from '../../src/time/windowed.js';
import { globalWindows } from '../../src/time/windowing/global-windows.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime, tumblingProcessingTime } from '../../src/time/windowing/tumbling-windows.js';
import type { WindowAssigner } from '../../src/time/windowing/window-assigner.js';

interface Mean {
  sum: number;
  count: number;
}
/** Changes what it is given, as `merge` may. */
const mean: AggregateFunction<number, Mean, number> = {
  initial: () => ({ sum: 0, count: 0 }),
  add: (mean, value) => {
    mean.sum += value;
    mean.count++;
    return mean;
  },
  merge: (a, b) => {
    a.sum += b.sum;
    a.count += b.count;
    return a;
  },
  result: ({ sum, count }) => sum / count,
};
const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
type Way = boolean | TwoStageOptions;
type Reading = readonly [site: string, value: number, timestamp: number];
type Batches = readonly (readonly Reading[])[];

interface Run {
  /** The last result of each key and window, with its timestamp. */
  readonly rows: Readonly<Record<string, string>>;
  readonly results: number;
  readonly dropped: Readonly<Record<string, number>>;
  readonly parts: number;
}

type Declare = (stream: KStream<string, number>) => KStream<Windowed<string>, number>;

/** Records lie in `partitions` by a key of their own; a batch is a commit. */
async function run(declare: Declare, batches: Batches, partitions: number, bound: number | null = null): Promise<Run> {
  const builder = new StreamsBuilder();
  const source = bound === null ? numbers : { ...numbers, watermarks: watermarks.boundedOutOfOrderness(bound) };
  declare(builder.stream('in', source))
    .map((value, { key, window }) => [`${key} ${window.start}-${window.end}`, value], numbers)
    .to('out', numbers);
  const config: TestDriverConfig = { partitions: { in: partitions }, emit: 'onUpdate' };
  await using driver = new TopologyTestDriver(builder.build(), config);
  const input = driver.inputTopic('in', numbers);
  for (const [batch, readings] of batches.entries())
    await input.pipeAll(readings.map(([site, value, timestamp], i) => ({ key: `${site}|${batch}-${i}`, value, timestamp })));
  await driver.endInput();
  const rows: Record<string, string> = {};
  const out = driver.outputTopic('out', numbers).readAll();
  for (const { key, value, timestamp } of out) rows[String(key)] = `${String(value)}@${timestamp}`;
  let parts = 0;
  try {
    parts = driver.outputTopic('test-w-parts-repartition', { keySerde: serdes.string, valueSerde: serdes.bytes }).readAll().length;
  } catch (error) {
    if (!(error instanceof MillraceError)) throw error;
  }
  return { rows, results: out.length, dropped: Object.fromEntries(driver.droppedByReason), parts };
}

const site = (_value: number, key: string): string => key.split('|')[0] ?? '';
const kept = { storeName: 'w' };

const grouped =
  (declare: (stream: KGroupedStream<string, number>) => ReturnType<ReturnType<KGroupedStream<string, number>['count']>['toStream']>) =>
  (stream: KStream<string, number>): KStream<Windowed<string>, number> =>
    declare(stream.groupBy(site, numbers)) as unknown as KStream<Windowed<string>, number>;

/** The forms of `windowedBy`. */
const forms: Record<string, (windows: TimeWindows, twoStage: Way, emit: WindowEmitOption) => Declare> = {
  count: (windows, twoStage, emit) =>
    grouped((by) => by.windowedBy(windows).count({ twoStage, emit, materialized: kept }).toStream() as never),
  reduce: (windows, twoStage, emit) =>
    grouped(
      (by) =>
        by
          .windowedBy(windows)
          .reduce((a, b) => Math.max(a, b), { twoStage, emit, materialized: kept })
          .toStream() as never,
    ),
  aggregate: (windows, twoStage, emit) =>
    grouped(
      (by) =>
        by
          .windowedBy(windows)
          .aggregate<Mean>(mean.initial, mean.add, {
            twoStage,
            merger: (a, b) => mean.merge?.(a, b) as Mean,
            emit,
            materialized: { ...kept, valueSerde: serdes.json<Mean>() },
          })
          .toStream()
          .mapValues(mean.result, numbers) as never,
    ),
  'aggregate with promises': (windows, twoStage, emit) =>
    grouped(
      (by) =>
        by
          .windowedBy(windows)
          .aggregate<Mean>(
            async () => mean.initial(),
            async (part, value) => mean.add(part, value),
            {
              twoStage,
              merger: async (a, b) => mean.merge?.(a, b) as Mean,
              emit,
              materialized: { ...kept, valueSerde: serdes.json<Mean>() },
            },
          )
          .toStream()
          .mapValues(mean.result, numbers) as never,
    ),
};

const keyed =
  (assigner: WindowAssigner, allowedLateness: number, what: 'aggregate' | 'reduce') =>
  (twoStage: Way): Declare =>
  (stream) => {
    const windows = stream.keyBy(site, { ...numbers }).window(assigner, { allowedLateness });
    if (what === 'reduce') return windows.reduce((a, b) => Math.max(a, b), { name: 'k', twoStage, valueSerde: serdes.double });
    return windows.aggregate(mean, { name: 'k', twoStage, valueSerde: serdes.double });
  };

const batchesOf = (time: fc.Arbitrary<number>): fc.Arbitrary<Batches> => {
  const reading = fc.tuple(fc.constantFrom('a', 'b', 'c', 'd'), fc.integer({ min: -9, max: 9 }), time);
  return fc.array(fc.array(reading, { maxLength: 12 }), { maxLength: 5 });
};
const ways = fc.constantFrom<TwoStageOptions | true>(true, { maxKeys: 1 }, { maxKeys: 3 });
const time = fc.integer({ min: 0, max: 60 });
const runs = { numRuns: 25 };

describe('windows of stream time in two stages', () => {
  const windows = fc
    .record({ advance: fc.constantFrom(4, 5, 6, 10), more: fc.constantFrom(0, 2, 5, 6), grace: fc.constantFrom(0, 3, 20) })
    .map(({ advance, more, grace }) => hopping({ size: advance + more, advance, grace }));
  const emits = fc.constantFrom<WindowEmitOption>('onUpdate', 'onCommit', 'onWindowClose');

  it.each(Object.entries(forms))(
    '%s: gives the rows of one stage and drops what one stage drops, in any order of time',
    async (_, form) => {
      await fc.assert(
        fc.asyncProperty(batchesOf(time), windows, emits, ways, async (batches, cut, emit, way) => {
          const one = await run(form(cut, false, emit), batches, 1);
          const two = await run(form(cut, way, emit), batches, 1);
          expect({ rows: two.rows, dropped: two.dropped }).toEqual({ rows: one.rows, dropped: one.dropped });
        }),
        runs,
      );
    },
  );

  it.each(Object.entries(forms))('%s: the same over several partitions, whose records lie within the grace', async (_, form) => {
    const how = fc.oneof(ways, fc.constantFrom<TwoStageOptions>({ spread: 2 }, { spread: 5, maxKeys: 2 }));
    await fc.assert(
      fc.asyncProperty(batchesOf(time), emits, how, async (batches, emit, way) => {
        const cut = hopping({ size: 15, advance: 6, grace: 100 });
        const one = await run(form(cut, false, emit), [batches.flat()], 3);
        const two = await run(form(cut, way, emit), batches, 3);
        expect({ rows: two.rows, dropped: two.dropped }).toEqual({ rows: one.rows, dropped: {} });
      }),
      runs,
    );
  });

  it('unlimited windows: those before the start are in none', async () => {
    const cut = unlimited({ start: 10 });
    const batches: Batches = [
      [
        ['a', 1, 5],
        ['a', 2, 10],
        ['a', 3, 1_000],
      ],
    ];
    const { rows } = await run(forms.count!(cut, true, 'onUpdate'), batches, 1);
    expect(rows).toEqual({ [`a 10-${Number.MAX_SAFE_INTEGER}`]: '2@1000' });
  });

  it('sends one part a key, slice and commit, where one stage sends every record', async () => {
    const batch = (from: number): Reading[] => Array.from({ length: 300 }, (_, i) => ['a', 1, from + Math.floor(i / 10)] as const);
    const { parts, rows } = await run(
      forms.count!(hopping({ size: 30, advance: 10, grace: 100 }), true, 'onCommit'),
      [batch(0), batch(30)],
      1,
    );
    expect(parts).toBe(6);
    expect(rows['a 0-30']).toBe('300@29');
    expect(rows['a 10-40']).toBe('300@39');
  });

  it('counts what it drops record by record, when another task has moved the time on', async () => {
    const batches: Batches = [[['a', 1, 1_000]], Array.from({ length: 7 }, (_, i) => ['a', 1, i] as const)];
    const cut = tumbling({ size: 10 });
    const one = await run(forms.count!(cut, false, 'onUpdate'), batches, 8);
    const two = await run(forms.count!(cut, true, 'onUpdate'), batches, 8);
    expect([one.dropped, two.dropped]).toEqual([{ late: 7 }, { late: 7 }]);
  });

  it('takes records without a value as one stage does in count, and drops them in reduce', async () => {
    const builder = new StreamsBuilder();
    const by = builder
      .stream('in', numbers)
      .groupBy((_value, key) => key, numbers)
      .windowedBy(tumbling({ size: 10 }));
    by.count({ twoStage: true, materialized: { storeName: 'counts' } })
      .toStream()
      .map((value, { key }) => [key, value], numbers)
      .to('counts', { ...numbers, valueSerde: serdes.double });
    by.reduce((a, b) => a + b, { twoStage: true, materialized: { storeName: 'sums' } })
      .toStream()
      .map((value, { key }) => [key, value], numbers)
      .to('sums', numbers);
    await using driver = new TopologyTestDriver(builder.build());
    await driver
      .inputTopic('in', numbers)
      .pipeAll([1, null, 2].map((value, timestamp) => ({ key: 'a', value: value as number, timestamp })));
    expect(
      driver
        .outputTopic('counts', { ...numbers, valueSerde: serdes.double })
        .readAll()
        .at(-1),
    ).toMatchObject({ value: 3, timestamp: 2 });
    expect(driver.outputTopic('sums', numbers).readAll().at(-1)).toMatchObject({ value: 3, timestamp: 2 });
    expect(Object.fromEntries(driver.droppedByReason)).toEqual({ 'null-value': 1 });
  });
});

describe('windows of a watermark in two stages', () => {
  const assigners: readonly (readonly [string, WindowAssigner])[] = [
    ['tumbling', tumblingEventTime({ size: 10 })],
    ['tumbling with an offset', tumblingEventTime({ size: 10, offset: -3 })],
    ['hopping', slidingEventTime({ size: 10, slide: 5 })],
    ['hopping with an offset', slidingEventTime({ size: 14, slide: 4, offset: 3 })],
    ['hopping by a part that does not divide the size', slidingEventTime({ size: 10, slide: 4 })],
  ];

  it.each(assigners)('%s: gives the rows of one stage and drops what one stage drops, in any order of time', async (_, assigner) => {
    const setting = fc.record({
      bound: fc.constantFrom(0, 5, 30),
      lateness: fc.constantFrom(0, 7),
      what: fc.constantFrom('aggregate' as const, 'reduce' as const),
    });
    await fc.assert(
      fc.asyncProperty(batchesOf(fc.integer({ min: -30, max: 60 })), setting, ways, async (batches, { bound, lateness, what }, way) => {
        const shifted = batches.map((batch) => batch.map(([key, value, at]) => [key, value, at + 30] as const));
        const form = keyed(assigner, lateness, what);
        const one = await run(form(false), shifted, 1, bound);
        const two = await run(form(way), shifted, 1, bound);
        expect({ rows: two.rows, dropped: two.dropped }).toEqual({ rows: one.rows, dropped: one.dropped });
      }),
      runs,
    );
  });

  it.each(assigners)('%s: over several partitions no window closes without its parts', async (_, assigner) => {
    const how = fc.oneof(ways, fc.constantFrom<TwoStageOptions>({ spread: 2 }, { spread: 5, maxKeys: 2 }));
    await fc.assert(
      fc.asyncProperty(batchesOf(time), how, async (batches, way) => {
        const form = keyed(assigner, 0, 'aggregate');
        const one = await run(form(false), [batches.flat()], 3, 100);
        const two = await run(form(way), batches, 3, 100);
        expect(two).toMatchObject({ rows: one.rows, results: one.results, dropped: {} });
      }),
      runs,
    );
  });

  it('each window fires once, at the watermark that fires it in one stage', async () => {
    const builder = new StreamsBuilder();
    keyed(
      slidingEventTime({ size: 20, slide: 10 }),
      0,
      'aggregate',
    )(true)(builder.stream('in', { ...numbers, watermarks: watermarks.monotonous() }))
      .map((value, { key, window }) => [`${key} ${window.start}`, value], numbers)
      .to('out', numbers);
    await using driver = new TopologyTestDriver(builder.build());
    const input = driver.inputTopic('in', numbers);
    const out = driver.outputTopic('out', numbers);
    await input.pipeAll([1, 2, 6].map((value) => ({ key: 'a|', value, timestamp: 10 + value })));
    expect(out.readAll()).toEqual([]);
    await input.pipe('a|', 100, { timestamp: 20 });
    expect(out.readAll()).toMatchObject([{ key: 'a 0', value: 3, timestamp: 19 }]);
    await input.pipe('a|', 0, { timestamp: 30 });
    expect(out.readAll()).toMatchObject([{ key: 'a 10', value: 109 / 4, timestamp: 29 }]);
  });
});

describe('what windows in two stages refuse', () => {
  const stream = new StreamsBuilder().stream('in', { ...numbers, watermarks: watermarks.monotonous() });
  const by = stream.groupBy(site, numbers);
  const keyedBy = stream.keyBy(site, numbers);
  const { merge: _, ...unmerged } = mean;
  const twoStage = { twoStage: true } as never;
  const counted = (windows: TimeWindows, options: object) => () => by.windowedBy(windows).count(options);
  const windowed =
    (assigner: WindowAssigner, options: object = {}, windowOptions: Parameters<KeyedStream<string, number>['window']>[1] = {}) =>
    () =>
      keyedBy.window(assigner as never, windowOptions).aggregate(mean, { twoStage: true, ...options } as never);
  const minute = tumblingEventTime({ size: 60_000 });

  it.each<[string, () => unknown, RegExp]>([
    [
      'sessions',
      () => by.windowedBy(sessions({ gap: 10 })).count(twoStage),
      /count: twoStage is for tumbling and hopping windows in event time: sessions begin and end with records/,
    ],
    [
      'sessions aggregated',
      () =>
        by.windowedBy(sessions({ gap: 10 })).aggregate(
          () => 0,
          (a) => a,
          (a) => a,
          twoStage,
        ),
      /sessions begin and end/,
    ],
    ['sliding windows', () => by.windowedBy(sliding({ timeDifference: 10 })).count(twoStage), /sliding windows begin and end with records/],
    [
      'no merger',
      () =>
        by.windowedBy(tumbling({ size: 10 })).aggregate(
          () => 0,
          (a) => a,
          twoStage,
        ),
      /aggregate: twoStage needs `merger`/,
    ],
    ['a stream of late records', counted(tumbling({ size: 10 }), { twoStage: true, late: () => undefined }), /leave `late` out/],
    ['dead letters for late records', counted(tumbling({ size: 10 }), { twoStage: true, late: 'deadLetter' }), /leave `late` out/],
    [
      'a grouping without a repartition',
      () =>
        stream
          .groupByKey()
          .windowedBy(tumbling({ size: 10 }))
          .count(twoStage),
      /count: twoStage has nothing to save here/,
    ],
    ['a misspelt option', counted(tumbling({ size: 10 }), { twoStage: { spred: 2 } }), /no option spred; did you mean spread/],
    [
      'sessions of a keyed stream',
      windowed(sessionEventTime({ gap: 10 })),
      /aggregate: twoStage is for tumbling and hopping windows in event time: sessionEventTime\(10\) can't be cut into slices/,
    ],
    ['global windows', windowed(globalWindows(), {}, { trigger: countTrigger(2) }), /globalWindows can't be cut/],
    ['processing time', windowed(tumblingProcessingTime({ size: 10 })), /tumblingProcessingTime\(10\) can't be cut/],
    ['windows with gaps', windowed(slidingEventTime({ size: 10, slide: 20 })), /slidingEventTime\(10, 20\) can't be cut/],
    ['a trigger', windowed(minute, {}, { trigger: countTrigger(2) }), /the trigger count.* wants each record/],
    ['an evictor', windowed(minute, {}, { evictor: countEvictor(2) }), /the evictor count\(2\) wants each record/],
    ['a side output', windowed(minute, { sideOutputLate: true }), /leave `sideOutputLate` out/],
    ['no merge', () => keyedBy.window(minute).aggregate(unmerged, twoStage), /twoStage needs `merge`/],
    [
      'a stream by its own key',
      () =>
        stream
          .keyBy()
          .window(minute)
          .reduce((a) => a, twoStage),
      /reduce: twoStage has nothing to save here/,
    ],
    ['all records of a window', () => keyedBy.window(minute).process(() => [], twoStage), /process has no option twoStage/],
  ])('%s', (_what, declare, message) => {
    expect(declare).toThrow(MillraceError);
    expect(declare).toThrow(message);
  });

  it('but takes the default trigger by its name', () => {
    expect(windowed(minute, {}, { trigger: eventTimeTrigger() })).not.toThrow();
  });

  it.each<[unknown, RegExp]>([
    [{ width: 0, offset: 0 }, /slices.* mine needs `width`: a whole number of ms above 0, not 0/],
    [{ width: NaN, offset: 0 }, /not NaN/],
    [{ width: -10, offset: 0 }, /not -10/],
    [{ width: 2.5, offset: 0 }, /not 2.5/],
    [{ width: '10', offset: 0 }, /needs `width`/],
    [{}, /needs `width`.*not undefined/],
    [{ width: 10 }, /needs `offset`: a whole number of ms, not undefined/],
    [{ width: 10, offset: NaN }, /needs `offset`/],
    [{ width: 100, offset: 0 }, /windows of 10 ms do not consist of whole slices/],
    [{ width: 4, offset: 0 }, /do not consist of whole slices/],
    ['x', /must be an object/],
    [[10, 0], /must be an object/],
  ])('slices of a custom assigner that put records into windows that are not theirs: %j', (slices, message) => {
    const assigner = { ...tumblingEventTime({ size: 10 }), name: 'mine', slices } as WindowAssigner;
    expect(windowed(assigner)).toThrow(message);
    expect(windowed(assigner)).toThrow(expect.objectContaining({ code: 'MILL_TOPOLOGY_INVALID' }));
  });
});
