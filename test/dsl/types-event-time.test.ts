/** Types of keyed streams, asynchronous operators, processors and stores, as a user gets them without writing a type argument. The assertions are made by the compiler. */
import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { KStream } from '../../src/dsl/kstream.js';
import type { KTable } from '../../src/dsl/ktable.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { AsyncProcessor } from '../../src/processors/async/async-processor.js';
import type { KeyedProcessor } from '../../src/processors/event-time/keyed-processor.js';
import type { FixedKeyProcessor, Processor } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { stores } from '../../src/stores/stores.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import type { Windowed } from '../../src/time/windowed.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

interface Reading {
  readonly device: string;
  readonly celsius: number;
}

const builder = new StreamsBuilder();
const sensors = { keySerde: serdes.int32, valueSerde: serdes.json<Reading>(), watermarks: watermarks.monotonous() };
const readings = builder.stream('readings', sensors);
const factors = builder.stream('factors', { keySerde: serdes.int32, valueSerde: serdes.double, watermarks: watermarks.monotonous() });
const texts = builder.stream('texts', { keySerde: serdes.string, valueSerde: serdes.string, watermarks: watermarks.monotonous() });
const minutes = () => readings.keyBy().window(tumblingEventTime({ size: 60_000 }));
const always = tumblingEventTime({ size: 1 });
const textWindows = () => texts.keyBy().window(tumblingEventTime({ size: 1 }));
const mean = {
  initial: () => ({ sum: 0, count: 0 }),
  add: (acc: { sum: number; count: number }, value: Reading) => ({ sum: acc.sum + value.celsius, count: acc.count + 1 }),
  result: (acc: { sum: number; count: number }) => acc.sum / acc.count,
};

describe('types of windows in event time', () => {
  it('have windowed keys, and the values of the function', () => {
    expectTypeOf(minutes().aggregate(mean, { valueSerde: serdes.double })).toEqualTypeOf<KStream<Windowed<number>, number>>();
    expectTypeOf(minutes().reduce((one, other) => (one.celsius > other.celsius ? one : other))).toEqualTypeOf<
      KStream<Windowed<number>, Reading>
    >();
    const lists = minutes().process((key, values, info) => {
      expectTypeOf(key).toEqualTypeOf<number>();
      expectTypeOf(values).toEqualTypeOf<readonly Reading[]>();
      expectTypeOf(info.window.start).toEqualTypeOf<number>();
      return values.map(({ device }) => device);
    });
    expectTypeOf(lists).toEqualTypeOf<KStream<Windowed<number>, string>>();
  });

  it('give what `apply` makes, and late records as they came', () => {
    const { results, late } = minutes().aggregate(mean, { sideOutputLate: true, apply: (key, result) => `${key} ${result}` });
    expectTypeOf(results).toEqualTypeOf<KStream<Windowed<number>, string>>();
    expectTypeOf(late).toEqualTypeOf<KStream<number, Reading>>();
  });

  it('may have a gap by value, and keys of a mapper', () => {
    const byDevice = readings.keyBy((reading) => reading.device, { keySerde: serdes.string });
    const sessions = byDevice.window(sessionEventTime<Reading>({ gap: (reading) => reading.celsius }));
    expectTypeOf(sessions.reduce((one) => one)).toEqualTypeOf<KStream<Windowed<string>, Reading>>();
  });
});

describe('types of interval joins', () => {
  it('are what the joiner gives; late records are those of their side', () => {
    const { results, lateLeft, lateRight } = readings.keyBy().intervalJoin(
      factors.keyBy(),
      { lower: -1, upper: 1 },
      (reading, factor, key) => {
        expectTypeOf(key).toEqualTypeOf<number>();
        return [reading.celsius * factor, reading.device] as const;
      },
      { sideOutputLate: true },
    );
    expectTypeOf(results).toEqualTypeOf<KStream<number, readonly [number, string]>>();
    expectTypeOf(lateLeft).toEqualTypeOf<KStream<number, Reading>>();
    expectTypeOf(lateRight).toEqualTypeOf<KStream<number, number>>();
  });
});

describe('types of asynchronous operators', () => {
  it('are what the promises give', () => {
    expectTypeOf(readings.mapValuesAsync(async (reading) => reading.device)).toEqualTypeOf<KStream<number, string>>();
    expectTypeOf(readings.mapAsync(async (reading, key) => [reading.device, key] as const)).toEqualTypeOf<KStream<string, number>>();
    expectTypeOf(readings.flatMapValuesAsync(async (reading) => [reading.celsius])).toEqualTypeOf<KStream<number, number>>();
    expectTypeOf(readings.flatMapAsync(async (reading, key) => [[reading.device, key] as const])).toEqualTypeOf<KStream<string, number>>();
  });

  it('can be gone on with', () => {
    const counted = readings.mapAsync(async (reading, key) => [reading.device, key] as const).groupByKey({ keySerde: serdes.string });
    expectTypeOf(counted.count()).toEqualTypeOf<KTable<string, number>>();
  });
});

declare const shout: () => Processor<number, Reading, string, boolean>;
declare const revalue: () => FixedKeyProcessor<number, Reading, Date>;
declare const keyed: () => KeyedProcessor<number, Reading, string, bigint>;
declare const asking: () => AsyncProcessor<number, Reading, string, string, Buffer>;
declare const ofTexts: () => FixedKeyProcessor<string, string, string>;

describe('types of processors', () => {
  it('are what they forward', () => {
    // Declared, never called: only the types matter.
    const streams = {
      processed: () => readings.process(shout),
      revalued: () => readings.processValues(revalue),
      keyed: () => readings.keyBy().process(keyed),
      asked: () => readings.processAsync(asking),
    };
    expectTypeOf(streams.processed).returns.toEqualTypeOf<KStream<string, boolean>>();
    expectTypeOf(streams.revalued).returns.toEqualTypeOf<KStream<number, Date>>();
    expectTypeOf(streams.keyed).returns.toEqualTypeOf<KStream<string, bigint>>();
    expectTypeOf(streams.asked).returns.toEqualTypeOf<KStream<string, Buffer>>();
  });
});

describe('the compiler refuses', () => {
  // Declared, never called: only the types matter.
  const wrong: readonly (() => unknown)[] = [
    // @ts-expect-error a serde that does not fit what the windows give
    () => minutes().reduce((one) => one, { valueSerde: serdes.string }),
    // @ts-expect-error a serde of another accumulator
    () => minutes().aggregate(mean, { accumulatorSerde: serdes.string }),
    // @ts-expect-error a serde of another result
    () => minutes().aggregate(mean, { valueSerde: serdes.string }),
    // @ts-expect-error a serde of another result than `apply` gives
    () => minutes().aggregate(mean, { valueSerde: serdes.double, apply: (key) => `${key}` }),
    // @ts-expect-error a serde of another result, with late records
    () => minutes().aggregate(mean, { valueSerde: serdes.string, sideOutputLate: true }),
    // @ts-expect-error a serde of other results than the function gives
    () => minutes().process(() => ['text'], { valueSerde: serdes.double }),
    // @ts-expect-error an aggregate of other values
    () => textWindows().aggregate(mean),
    // @ts-expect-error a reducer that gives another type
    () => minutes().reduce(() => 'text'),
    // @ts-expect-error a window function that gives no list
    () => minutes().process(() => 5),
    // @ts-expect-error streams with keys of other types
    () => readings.keyBy().intervalJoin(texts.keyBy(), { lower: 0, upper: 1 }, () => 1),
    // @ts-expect-error a stream without a key of its own
    () => readings.keyBy().intervalJoin(factors, { lower: 0, upper: 1 }, () => 1),
    // @ts-expect-error a joiner of other values
    () => readings.keyBy().intervalJoin(factors.keyBy(), { lower: 0, upper: 1 }, (one: string) => one),
    // @ts-expect-error a serde that does not fit what the promise gives
    () => readings.mapValuesAsync(async (reading) => reading.device, { valueSerde: serdes.int32 }),
    // @ts-expect-error in a left window join the other side may be missing
    () => readings.keyBy().windowJoin(factors.keyBy(), always, (_, factor) => factor.toFixed(1), { kind: 'left' }),
    // @ts-expect-error a version may be missing
    () => readings.keyBy().leftTemporalJoin(factors.keyBy(), (_one, factor) => factor.toFixed(1)),
    // @ts-expect-error a mapper that gives no pair
    () => readings.mapAsync(async (reading) => reading.device),
    // @ts-expect-error an order that there is not
    () => readings.mapValuesAsync(async (reading) => reading.device, { order: 'byKey' }),
    // @ts-expect-error a serde of other records in wait
    () => readings.mapValuesAsync(async (reading) => reading.device, { inputKeySerde: serdes.string }),
    // @ts-expect-error a processor of other records
    () => texts.process(shout),
    // @ts-expect-error a processor of other values
    () => readings.processValues(ofTexts),
    // @ts-expect-error a keyed processor of other records
    () => texts.keyBy().process(keyed),
    // @ts-expect-error an asynchronous processor of other records
    () => texts.processAsync(asking),
    // @ts-expect-error a serde that does not fit what the processor forwards
    () => readings.process(shout, { valueSerde: serdes.string }),
    // @ts-expect-error a window store without a retention
    () => stores.window({ name: 'w', windowSize: 5 }),
    // @ts-expect-error a store of rows has no window
    () => stores.keyValue({ name: 's', windowSize: 5 }),
    // @ts-expect-error tables have no event time
    () => 'keyBy' satisfies keyof KTable<number, Reading>,
  ];

  it('each of these lines', () => {
    expect(wrong).toHaveLength(26);
  });
});
