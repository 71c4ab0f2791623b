/** One operator in the test's hand, as with Flink's operator test harnesses. */
import { describe, expect, it } from '@jest/globals';
import type { KStream } from '../../src/dsl/kstream.js';
import type { FiredTimer, KeyedProcessor, KeyedProcessorContext } from '../../src/processors/event-time/keyed-processor.js';
import type {
  KeyedBroadcastAccess,
  KeyedBroadcastProcessor,
  KeyedBroadcastProcessorContext,
} from '../../src/processors/broadcast/broadcast-processor.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import { mapState, valueState } from '../../src/processors/state/state-descriptor.js';
import type { ValueState } from '../../src/processors/state/keyed-state.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { stores } from '../../src/stores/stores.js';
import type { HarnessOutputs, HarnessRecord } from '../../src/testing/operator-harness.js';
import { TestHarness, type TestHarnessOptions } from '../../src/testing/test-harness.js';
import type { Windowed } from '../../src/time/windowed.js';
import { tumbling } from '../../src/time/time-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };

const sumAndCount = {
  initial: () => [0, 0] as [number, number],
  add: ([sum, count]: [number, number], value: number): [number, number] => [sum + value, count + 1],
  result: ([sum, count]: [number, number]) => `${sum}/${count}/${sum / count}`,
};

const minuteMean = (readings: KStream<string, number>) =>
  readings
    .keyBy()
    .window(tumblingEventTime({ size: 60_000 }), { allowedLateness: 10_000 })
    .aggregate(sumAndCount, { name: 'mean', sideOutputLate: true });

const shown = ({ key, value, timestamp }: HarnessRecord) => [(key as Windowed<string>).key, value, timestamp];

const total = valueState<number>('total', { serde: serdes.double, ttl: { ttl: 1_000 } });

/** Sums; says the sum a second of event time after each value, and `old` a second of the clock after. */
class Reminder implements KeyedProcessor<string, number, string, string> {
  declare private context: KeyedProcessorContext<string, string, string>;
  declare private total: ValueState<number>;

  init(context: KeyedProcessorContext<string, string, string>): void {
    this.context = context;
    this.total = context.state(total);
  }

  process({ value, timestamp }: Record<string, number>): void {
    this.total.update((this.total.value() ?? 0) + value);
    this.context.timers.registerEventTimer(timestamp + 1_000);
    this.context.timers.registerProcessingTimer(this.context.wallClock() + 2_000);
  }

  onTimer({ key, kind }: FiredTimer<string>): void | Promise<void> {
    return this.context.forward({ key, value: kind === 'event' ? String(this.total.value()) : 'old' });
  }
}

const reminder = (values: KStream<string, number>) => values.keyBy().process(() => new Reminder(), { name: 'reminder', states: [total] });

const open = (options: Partial<TestHarnessOptions<string, number>> = {}) => new TestHarness(reminder, { ...numbers, ...options });

describe('a harness', () => {
  it('takes the watermark after which nothing comes: all that waits fires, and the call ends', async () => {
    await using harness = new TestHarness(minuteMean, numbers);
    await harness.push('device-A', 20, { timestamp: 12_000 });
    await harness.pushWatermark(Infinity);
    expect(harness.outputs('results').map(shown)).toEqual([['device-A', '20/1/20', 59_999]]);
    await harness.push('device-A', 1, { timestamp: 12_000 });
    await harness.snapshot();
    expect(harness.outputs('late')).toHaveLength(1);
  });

  it('drops a deletion that meets windows, and counts it, whatever the window function', async () => {
    const operators: readonly ((values: KStream<string, number>) => HarnessOutputs)[] = [
      minuteMean,
      (values) =>
        values
          .keyBy()
          .window(tumblingEventTime({ size: 10 }))
          .reduce((a, b) => a + b),
    ];
    for (const operator of operators) {
      await using harness = new TestHarness(operator, numbers);
      await harness.push('a', null, { timestamp: 1 });
      await harness.pushWatermark(100);
      expect(harness.dropped).toEqual(new Map([['null-value', 1]]));
    }
  });

  it('takes records and watermarks one by one, and gives results and side outputs', async () => {
    await using harness = new TestHarness(minuteMean, numbers);
    await harness.push('device-A', 20, { timestamp: 12_000 });
    await harness.push('device-A', 22, { timestamp: 40_000 });
    await harness.pushWatermark(59_998);
    expect(harness.outputs()).toEqual([]);
    await harness.pushWatermark(59_999);
    expect(harness.outputs().map(shown)).toEqual([['device-A', '42/2/21', 59_999]]);
    await harness.push('device-A', 24, { timestamp: 20_000 });
    expect(harness.outputs().map(shown)).toEqual([['device-A', '66/3/22', 59_999]]);
    await harness.pushWatermark(69_999);
    await harness.push('device-A', 99, { timestamp: 20_000 });
    expect(harness.outputs()).toEqual([]);
    expect(harness.outputs('late')).toEqual([{ key: 'device-A', value: 99, timestamp: 20_000 }]);
    expect(harness.watermark).toBe(69_999);
  });

  it('takes watermarks of one partition: its task goes by them, and the lowest is told', async () => {
    await using harness = new TestHarness(minuteMean, { ...numbers, parallelism: 2 });
    for (const key of ['a', 'b', 'c', 'd']) await harness.push(key, 1, { timestamp: 0 });
    await harness.pushWatermark(100_000, { partition: 0 });
    const first = harness.outputs().length;
    expect(harness.watermark).toBe(-Infinity);
    await harness.pushWatermark(100_000, { partition: 1 });
    expect(first).toBeLessThan(4);
    expect(first + harness.outputs().length).toBe(4);
  });

  it('shows timers and state, and fires by event time and by the clock', async () => {
    await using harness = open({ wallClock: 50 });
    await harness.push('a', 5, { timestamp: 100 });
    expect(await harness.timers()).toEqual([
      { kind: 'event', key: 'a', time: 1_100, namespace: '' },
      { kind: 'processing', key: 'a', time: 2_050, namespace: '' },
    ]);
    expect((await harness.state(total, 'a')).value()).toBe(5);
    expect((await harness.state(total, 'b')).value()).toBeNull();
    await harness.pushWatermark(1_100);
    expect(harness.outputs()).toEqual([{ key: 'a', value: '5', timestamp: 1_100 }]);
    await harness.advanceTime(2_000);
    expect(harness.outputs().map(({ value }) => value)).toEqual(['old']);
    expect(await harness.timers()).toEqual([]);
    // Its time to live has passed meanwhile.
    expect((await harness.state(total, 'a')).value()).toBeNull();
  });

  it('lets state be set before a record', async () => {
    await using harness = open();
    (await harness.state(total, 'a')).update(37);
    await harness.push('a', 5, { timestamp: 0 });
    expect((await harness.state(total, 'a', 'reminder')).value()).toBe(42);
  });

  it('counts what is dropped', async () => {
    await using harness = open();
    await harness.push(null, 1);
    expect(harness.dropped.get('null-key')).toBe(1);
  });
});

describe('an operator in a harness', () => {
  class Counter implements KeyedProcessor<string, number, string, string> {
    declare private context: KeyedProcessorContext<string, string, string>;
    declare private total: ValueState<number>;
    private own = 0;

    init(context: KeyedProcessorContext<string, string, string>): void {
      this.context = context;
      this.total = context.state(total);
    }

    process({ key, value, timestamp }: Record<string, number>): void | Promise<void> {
      this.own += value;
      this.total.update((this.total.value() ?? 0) + value);
      return this.context.forward({ key, value: `${this.own} ${this.total.value()} @${timestamp}` });
    }
  }
  const values = (harness: TestHarness<string, number>, name?: string) => harness.outputs(name).map(({ value }) => value);
  const counter = (input: KStream<string, number>) => input.keyBy().process(() => new Counter(), { name: 'counter', states: [total] });

  it('has what was declared as state, and nothing that a processor keeps for itself, when another takes over', async () => {
    await using first = new TestHarness(counter, numbers);
    await first.push('a', 5, { timestamp: 0 });
    await using second = new TestHarness(counter, { ...numbers, from: await first.snapshot() });
    await second.push('a', 1, { timestamp: 0 });
    expect(values(second)).toEqual(['1 6 @0']);
  });

  it('holds no record back and sorts none: they come to the operator as they were pushed', async () => {
    await using harness = new TestHarness(counter, numbers);
    await harness.pushWatermark(1_000);
    for (const timestamp of [5_000, 20, 3_000]) await harness.push('a', 1, { timestamp });
    expect(values(harness)).toEqual(['1 1 @5000', '2 2 @20', '3 3 @3000']);
  });

  it('two operators keep apart what they hold of one key, also under one name of a state', async () => {
    const both = (input: KStream<string, number>) => ({
      all: counter(input),
      large: input
        .filter((value) => value > 9)
        .keyBy()
        .process(() => new Counter(), { name: 'large-counter', states: [total] }),
    });
    await using harness = new TestHarness(both, numbers);
    for (const value of [1, 10, 2]) await harness.push('a', value, { timestamp: 0 });
    expect(values(harness, 'all')).toEqual(['1 1 @0', '11 11 @0', '13 13 @0']);
    expect(values(harness, 'large')).toEqual(['10 10 @0']);
    await expect(harness.state(total, 'a')).rejects.toMatchObject({ message: expect.stringContaining('counter, large-counter') });
  });

  it('is empty again: a window that has ended leaves neither state nor timers', async () => {
    await using harness = new TestHarness(minuteMean, numbers);
    for (let i = 0; i < 50; i++) await harness.push('a', i, { timestamp: i });
    expect((await harness.snapshot()).stores.get('mean-state')?.length).toBeLessThan(5);
    await harness.pushWatermark(70_000);
    expect((await harness.snapshot()).stores.get('mean-state')).toEqual([]);
    expect(await harness.timers()).toEqual([]);
  });
});

const rules = mapState<string, number>('rules', { keySerde: serdes.string, serde: serdes.double });

/** Says which rules there are, for each record that is none. */
class Rules implements KeyedBroadcastProcessor<string, number, string, number, string, string> {
  declare private context: KeyedBroadcastProcessorContext<string, string, string>;

  init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
    this.context = context;
  }

  process({ key }: Record<string, number>): void | Promise<void> {
    const shownRules = this.context
      .broadcastState(rules)
      .entries()
      .map(([rule, limit]) => `${rule}=${limit}`);
    return this.context.forward({ key, value: shownRules.join(' ') });
  }

  processBroadcast({ key, value }: Record<string, number>, broadcast: KeyedBroadcastAccess<string>): void {
    broadcast.state(rules).put(key, value);
  }
}

const ruled = (input: KStream<string, number>) => {
  const changes = input.filter((_value, key) => key.startsWith('rule')).broadcast({ name: 'changes', states: [rules], ...numbers });
  return input
    .filter((_value, key) => !key.startsWith('rule'))
    .repartition({ name: 'data', ...numbers })
    .keyBy()
    .connect(changes)
    .process(() => new Rules(), { name: 'ruled', keySerde: serdes.string, valueSerde: serdes.string });
};

describe('a snapshot', () => {
  it.each([
    [1, 1],
    [1, 3],
    [4, 2],
  ])('of parallelism %d goes on in one of parallelism %d: state, timers and time', async (before, after) => {
    await using first = open({ parallelism: before });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const [index, key] of keys.entries()) await first.push(key, index, { timestamp: 100 });
    await first.pushWatermark(500);
    const snapshot = await first.snapshot();
    await first.push('a', 1_000, { timestamp: 100 });

    await using second = open({ parallelism: after, from: snapshot });
    expect(await second.timers()).toHaveLength(12);
    for (const [index, key] of keys.entries()) expect((await second.state(total, key)).value()).toBe(index);
    expect(second.watermark).toBe(500);
    for (const key of keys) await second.push(key, 10, { timestamp: 100 });
    await second.pushWatermark(1_100);
    expect(
      second
        .outputs()
        .map(({ key, value }) => `${key}${value}`)
        .sort(),
    ).toEqual(keys.map((key, index) => `${key}${index + 10}`));
  });

  it('holds open windows: 42/2 before it, 66/3 after the third reading', async () => {
    await using first = new TestHarness(minuteMean, numbers);
    await first.push('device-A', 20, { timestamp: 12_000 });
    await first.push('device-A', 22, { timestamp: 40_000 });
    await using second = new TestHarness(minuteMean, { ...numbers, parallelism: 3, from: await first.snapshot() });
    await second.push('device-A', 24, { timestamp: 20_000 });
    await second.pushWatermark(59_999);
    expect(second.outputs().map(shown)).toEqual([['device-A', '66/3/22', 59_999]]);
  });

  it('keeps the time of the clock, and lets time pass before it is restored', async () => {
    await using first = open({ wallClock: 5_000 });
    await first.push('a', 1, { timestamp: 0 });
    const from = await first.snapshot();
    await using second = open({ from });
    expect(second.wallClock).toBe(5_000);
    await using later = open({ from, wallClock: 6_000 });
    expect((await later.state(total, 'a')).value()).toBeNull();
  });

  it.each([
    [1, 4],
    [2, 3],
    [4, 4],
    [4, 1],
  ])('of parallelism %d has its broadcast state in each task of one of parallelism %d', async (before, after) => {
    await using first = new TestHarness(ruled, { ...numbers, parallelism: before });
    for (const [rule, limit] of [
      ['rule-1', 5],
      ['rule-2', 6],
    ] as const)
      await first.push(rule, limit, { timestamp: 1 });
    await using second = new TestHarness(ruled, { ...numbers, parallelism: after, from: await first.snapshot() });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const key of keys) await second.push(key, 0, { timestamp: 2 });
    expect(second.outputs().map(({ value }) => value)).toEqual(keys.map(() => 'rule-1=5 rule-2=6'));
  });

  describe('of stores whose rows are placed by something else than the record’s key', () => {
    /** Counts by value in a store of its own. */
    class ByValue implements Processor<string, number, string, number> {
      declare private context: ProcessorContext<string, number>;

      init(context: ProcessorContext<string, number>): void {
        this.context = context;
      }

      process({ key, value, timestamp }: Record<string, number>): void | Promise<void> {
        const seen = this.context.store<KeyValueStore<string, number>>('seen', 'keyValue');
        const count = (seen.get(`value-${value}`) ?? 0) + 1;
        seen.put(`value-${value}`, count);
        return this.context.forward({ key, value: count, timestamp });
      }
    }
    const seen = stores.keyValue({ name: 'seen', keySerde: serdes.string, valueSerde: serdes.double });
    const byValue = (input: KStream<string, number>) =>
      input.process(() => new ByValue(), { name: 'by-value', stores: [seen], ...numbers });

    it('puts each row back where it was', async () => {
      await using first = new TestHarness(byValue, { ...numbers, parallelism: 4 });
      const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
      for (const key of keys) await first.push(key, 7, { timestamp: 0 });
      const from = await first.snapshot();
      for (const key of keys) await first.push(key, 7, { timestamp: 0 });
      await using second = new TestHarness(byValue, { ...numbers, parallelism: 4, from });
      for (const key of keys) await second.push(key, 7, { timestamp: 0 });
      expect(second.outputs()).toEqual(first.outputs().slice(keys.length));
    });

    it('is refused over another parallelism', async () => {
      await using first = new TestHarness(byValue, { ...numbers, parallelism: 1 });
      await first.push('a', 7, { timestamp: 0 });
      await using second = new TestHarness(byValue, { ...numbers, parallelism: 2, from: await first.snapshot() });
      await expect(second.push('a', 7)).rejects.toMatchObject({ code: 'MILL_STATE_INVALID', details: { store: 'seen' } });
    });
  });

  it('deals out tables by key, and tells nobody again what was in them', async () => {
    const counts = (input: KStream<string, number>) =>
      input
        .groupByKey()
        .count({ materialized: { storeName: 'counts' } })
        .toStream();
    await using first = new TestHarness(counts, { ...numbers, parallelism: 2 });
    const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const key of keys) await first.push(key, 0, { timestamp: 0 });
    await using second = new TestHarness(counts, { ...numbers, parallelism: 5, from: await first.snapshot() });
    for (const key of keys) await second.push(key, 0, { timestamp: 0 });
    expect(second.outputs().map(({ value }) => value)).toEqual(keys.map(() => 2));
  });

  it('is refused behind a repartition topic that has a partition count of its own', async () => {
    const repartitioned = (input: KStream<string, number>) =>
      input
        .repartition({ name: 'wide', partitions: 8, ...numbers })
        .groupByKey()
        .count({ materialized: { storeName: 'counts' } })
        .toStream();
    await using harness = new TestHarness(repartitioned, { ...numbers, parallelism: 2 });
    await harness.push('a', 1, { timestamp: 0 });
    await expect(harness.snapshot()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID', details: { partitions: 8 } });
  });

  it('is refused where the operator keeps windows in stream time, or has other stores', async () => {
    const windowed = (values: KStream<string, number>) =>
      values
        .groupByKey()
        .windowedBy(tumbling({ size: 10 }))
        .count({ materialized: { storeName: 'counts' } })
        .toStream();
    await using harness = new TestHarness(windowed, numbers);
    await expect(harness.snapshot()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    await using first = open();
    const from = await first.snapshot();
    await using other = new TestHarness(minuteMean, { ...numbers, from });
    await expect(other.push('a', 1)).rejects.toMatchObject({
      code: 'MILL_CONFIG_INVALID',
      message: expect.stringContaining('reminder-state'),
    });
  });
});

describe('a harness refuses', () => {
  it('options, outputs and operators that are not there', async () => {
    const invalid = expect.objectContaining({ code: 'MILL_CONFIG_INVALID' });
    expect(() => new TestHarness(reminder, { keySerde: serdes.string } as never)).toThrow(invalid);
    expect(() => open({ paralelism: 2 } as never)).toThrow(
      expect.objectContaining({ message: expect.stringContaining('did you mean parallelism?') }),
    );
    expect(() => open({ parallelism: 0 })).toThrow(invalid);
    expect(() => open({ from: {} as never })).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
    expect(() => new TestHarness((() => undefined) as never, numbers)).toThrow(invalid);
    await using harness = open();
    expect(() => harness.outputs('late')).toThrow(invalid);
    await expect(harness.timers('remainder')).rejects.toThrow(invalid);
    await expect(harness.pushWatermark('1' as never)).rejects.toThrow(invalid);
    const unknown = mapState('unknown');
    expect((await harness.state(unknown, 'a')).isEmpty()).toBe(true);
  });
});

describe('a harness whose operator has failed', () => {
  const failing = (input: KStream<string, number>) =>
    input
      .mapValues((value) => {
        if (value < 0) throw new Error(`no ${value}`);
        return value;
      })
      .keyBy({ keySerde: serdes.string })
      .process(() => new Reminder(), { name: 'reminder', states: [total] });

  it('says so at each later call, with what failed as the cause, and shows what there was', async () => {
    await using harness = new TestHarness(failing, numbers);
    await harness.push('a', 1, { timestamp: 5 });
    const failure: unknown = await harness.push('a', -2).catch((error: unknown) => error);
    expect(failure).toMatchObject({ message: expect.stringContaining('no -2') });
    const failed = expect.objectContaining({
      code: 'MILL_STATE_INVALID',
      message: expect.stringContaining('failed at an earlier call'),
      cause: failure,
    });
    for (const call of [
      () => harness.push('a', 3),
      () => harness.push('a', -4),
      () => harness.pushWatermark(5),
      () => harness.advanceTime(5),
      () => harness.snapshot(),
    ])
      await expect(call()).rejects.toEqual(failed);
    expect((await harness.state(total, 'a')).value()).toBe(1);
    expect(await harness.timers()).toHaveLength(2);
    expect(harness.outputs()).toEqual([]);
  });

  it('is not one whose test was wrong: a value that the serde refuses, a partition that is not there', async () => {
    await using harness = new TestHarness(failing, numbers);
    await expect(harness.push('a', 'one' as never)).rejects.toMatchObject({ code: 'MILL_SERDE' });
    await expect(harness.push('a', 1, { partition: 1 })).rejects.toMatchObject({ code: 'MILL_TOPIC_MISSING' });
    await expect(harness.push('a', 1, { timestamp: 1.5 })).rejects.toThrow();
    await expect(harness.advanceTime(-1)).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
    await harness.push('a', 1, { timestamp: 5 });
    expect((await harness.state(total, 'a')).value()).toBe(1);
  });
});
