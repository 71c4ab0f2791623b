/** Operators with several inputs in the test's hand: records and watermarks of each, and what becomes of both sides when another harness takes over. */
import { describe, expect, it } from '@jest/globals';
import { partitionForKey } from '../../src/bytes/murmur2.js';
import type { KStream } from '../../src/dsl/kstream.js';
import type {
  KeyedBroadcastAccess,
  KeyedBroadcastProcessor,
  KeyedBroadcastProcessorContext,
} from '../../src/processors/broadcast/broadcast-processor.js';
import type { Record } from '../../src/processors/processor.js';
import { mapState, valueState } from '../../src/processors/state/state-descriptor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MultiInputTestHarness, type HarnessStreams } from '../../src/testing/multi-input-test-harness.js';
import type { HarnessOptions, OperatorHarness } from '../../src/testing/operator-harness.js';
import { TestHarness } from '../../src/testing/test-harness.js';
import { joinWindows } from '../../src/time/join-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const sides = { left: texts, right: texts };
type Sides = HarnessStreams<typeof sides>;

const both = (left: string | null, right: string | null) => `${left ?? '-'}${right ?? '-'}`;
const intervalJoin = ({ left, right }: Sides) =>
  left.keyBy().intervalJoin(right.keyBy(), { lower: -10, upper: 10 }, both, { name: 'join', sideOutputLate: true });
const windowJoin = ({ left, right }: Sides) =>
  left.keyBy().windowJoin(right.keyBy(), tumblingEventTime({ size: 100 }), both, { name: 'join', kind: 'full' });
const temporalJoin = ({ left, right }: Sides) => left.keyBy().leftTemporalJoin(right.keyBy(), both, { name: 'join' });

const values = (harness: OperatorHarness, name?: string): unknown[] => harness.outputs(name).map(({ value }) => value);
const open = (operator: (inputs: Sides) => object, options: HarnessOptions = {}) =>
  new MultiInputTestHarness(operator, { inputs: sides, ...options });

describe('a harness with two inputs', () => {
  it('takes records of each, as they are pushed', async () => {
    await using harness = open(({ left, right }) => left.merge(right));
    await harness.input('right').push('a', 'r1', { timestamp: 500 });
    await harness.input('left').push('a', 'l1', { timestamp: 3 });
    await harness.input('right').push('a', 'r2', { timestamp: 1 });
    expect(harness.outputs()).toEqual([
      { key: 'a', value: 'r1', timestamp: 500 },
      { key: 'a', value: 'l1', timestamp: 3 },
      { key: 'a', value: 'r2', timestamp: 1 },
    ]);
  });

  it('has inputs of their own types', async () => {
    const inputs = { words: texts, numbers: { keySerde: serdes.string, valueSerde: serdes.double } };
    await using harness = new MultiInputTestHarness(
      ({ words, numbers }) => ({ words: words.mapValues((word) => word.length), numbers: numbers.mapValues((n) => n + 0.5) }),
      { inputs },
    );
    await harness.input('words').push('a', 'four');
    await harness.input('numbers').push('a', 4);
    // @ts-expect-error numbers takes numbers
    await expect(harness.input('numbers').push('a', 'four')).rejects.toThrow();
    // @ts-expect-error there is no such input
    expect(() => harness.input('letters')).toThrow(/words, numbers/);
    expect([values(harness, 'words'), values(harness, 'numbers')]).toEqual([[4], [4.5]]);
  });

  it('goes by the lower of both watermarks, and tells which input holds it back', async () => {
    await using harness = open(windowJoin);
    await harness.input('left').push('a', 'l', { timestamp: 1 });
    await harness.input('right').push('a', 'r', { timestamp: 2 });
    await harness.input('left').pushWatermark(1_000);
    expect(values(harness)).toEqual([]);
    expect([harness.watermark, harness.input('left').watermark, harness.input('right').watermark]).toEqual([-Infinity, 1_000, -Infinity]);
    const [task] = (await harness.explainWatermark('join')).tasks;
    expect(task?.heldBackBy?.topic).toBe('harness-input-right');
    await harness.input('right').pushWatermark(99);
    expect(harness.watermark).toBe(99);
    expect(values(harness)).toEqual(['lr']);
  });

  it('moves both with one watermark', async () => {
    await using harness = open(windowJoin, { parallelism: 2 });
    await harness.input('left').push('a', 'l', { timestamp: 1 });
    await harness.pushWatermark(99);
    expect(values(harness)).toEqual(['l-']);
    expect(harness.watermark).toBe(99);
  });

  it('takes a watermark of one partition of one input', async () => {
    await using harness = open(windowJoin, { parallelism: 2 });
    for (const key of ['a', 'b', 'c', 'd']) await harness.input('left').push(key, key, { timestamp: 1 });
    await harness.input('left').pushWatermark(99);
    await harness.input('right').pushWatermark(99, { partition: 1 });
    const first = values(harness).length;
    await harness.input('right').pushWatermark(99, { partition: 0 });
    expect(first).toBeGreaterThan(0);
    expect(first + values(harness).length).toBe(4);
  });

  it('leaves an input out that is idle by the clock', async () => {
    await using harness = new MultiInputTestHarness(windowJoin, { inputs: { left: texts, right: { ...texts, idleness: 1_000 } } });
    await harness.input('left').push('a', 'l', { timestamp: 1 });
    await harness.input('left').pushWatermark(99);
    await harness.advanceTime(900);
    expect(values(harness)).toEqual([]);
    await harness.advanceTime(5_000);
    expect(values(harness)).toEqual(['l-']);
  });
});

describe('an operator with two inputs is taken over', () => {
  const keys = ['a', 'b', 'c', 'd', 'e', 'f'];
  const moves = [
    [1, 1],
    [1, 3],
    [4, 2],
  ] as const;

  it.each(moves)('an interval join, by %d tasks for %d', async (before, after) => {
    await using first = open(intervalJoin, { parallelism: before });
    for (const key of keys) await first.input('left').push(key, key, { timestamp: 100 });
    await first.input('left').pushWatermark(100);
    await first.input('right').pushWatermark(50);
    await using second = open(intervalJoin, { parallelism: after, from: await first.snapshot() });
    expect([second.input('left').watermark, second.input('right').watermark]).toEqual([100, 50]);
    for (const key of keys) await second.input('right').push(key, key, { timestamp: 105 });
    expect(values(second, 'results').sort()).toEqual(keys.map((key) => key + key));
    await second.pushWatermark(200);
    expect(await second.timers()).toEqual([]);
  });

  it.each(moves)('a window join, by %d tasks for %d', async (before, after) => {
    await using first = open(windowJoin, { parallelism: before });
    for (const key of keys) await first.input('left').push(key, key, { timestamp: 10 });
    await using second = open(windowJoin, { parallelism: after, from: await first.snapshot() });
    for (const key of keys.slice(3)) await second.input('right').push(key, key, { timestamp: 20 });
    await second.pushWatermark(99);
    expect(values(second).sort()).toEqual(keys.map((key, index) => (index < 3 ? `${key}-` : key + key)));
  });

  it.each(moves)('a temporal join, by %d tasks for %d', async (before, after) => {
    await using first = open(temporalJoin, { parallelism: before });
    for (const key of keys) {
      await first.input('right').push(key, '1', { timestamp: 10 });
      await first.input('left').push(key, key, { timestamp: 15 });
    }
    await first.input('right').pushWatermark(12);
    await using second = open(temporalJoin, { parallelism: after, from: await first.snapshot() });
    for (const key of keys) await second.input('right').push(key, '2', { timestamp: 20 });
    for (const key of keys) await second.input('left').push(key, key, { timestamp: 25 });
    await second.pushWatermark(30);
    expect(values(second).sort()).toEqual(keys.flatMap((key) => [`${key}1`, `${key}2`]));
  });

  const rules = mapState<string, string>('rules', { keySerde: serdes.string, serde: serdes.string });
  const count = valueState<number>('count', { serde: serdes.double });

  class Checker implements KeyedBroadcastProcessor<string, string, string, string, string, string> {
    declare private context: KeyedBroadcastProcessorContext<string, string, string>;

    init(context: KeyedBroadcastProcessorContext<string, string, string>): void {
      this.context = context;
    }

    process({ key, value }: Record<string, string>): void | Promise<void> {
      const seen = this.context.state(count);
      seen.update((seen.value() ?? 0) + 1);
      const known = this.context
        .broadcastState(rules)
        .entries()
        .map(([rule, text]) => rule + text);
      return this.context.forward({ key, value: `${value}${seen.value()} ${known.join()}` });
    }

    processBroadcast({ key, value }: Record<string, string>, broadcast: KeyedBroadcastAccess<string>): void {
      broadcast.state(rules).put(key, value);
    }
  }

  it.each(moves)('a keyed stream and a broadcast one, by %d tasks for %d', async (before, after) => {
    const inputs = { rules: texts, data: texts };
    const operator = (given: HarnessStreams<typeof inputs>) =>
      given.data
        .keyBy()
        .connect(given.rules.broadcast({ name: 'rules', states: [rules], ...texts }))
        .process(() => new Checker(), { name: 'check', states: [count], ...texts });
    await using first = new MultiInputTestHarness(operator, { inputs, parallelism: before });
    await first.input('rules').push('limit', '9');
    for (const key of keys) await first.input('data').push(key, key);
    expect(values(first)).toEqual(keys.map((key) => `${key}1 limit9`));
    await using second = new MultiInputTestHarness(operator, { inputs, parallelism: after, from: await first.snapshot() });
    for (const key of keys) await second.input('data').push(key, key);
    await second.input('rules').push('size', '2');
    await second.input('data').push('a', 'a');
    expect(values(second)).toEqual([...keys.map((key) => `${key}2 limit9`), 'a3 limit9,size2']);
  });

  it('a stream and a table, whose rows are dealt out by key', async () => {
    const inputs = { orders: texts, names: texts };
    const operator = (given: HarnessStreams<typeof inputs>) =>
      given.orders.leftJoin(
        given.names.toTable({ name: 'names', materialized: { storeName: 'names' } }),
        (order, name) => `${order} ${name}`,
      );
    await using first = new MultiInputTestHarness(operator, { inputs, parallelism: 2 });
    for (const key of keys) await first.input('names').push(key, key.toUpperCase());
    await using second = new MultiInputTestHarness(operator, { inputs, parallelism: 3, from: await first.snapshot() });
    for (const key of keys) await second.input('orders').push(key, key);
    expect(values(second)).toEqual(keys.map((key) => `${key} ${key.toUpperCase()}`));
  });

  it('is refused for a join in stream time, whose rows are not state by key', async () => {
    const operator = ({ left, right }: Sides) =>
      left.join(right, both, { windows: joinWindows({ before: 10, after: 10 }), storeName: 'pairs' });
    await using harness = open(operator);
    await harness.input('left').push('a', 'l', { timestamp: 1 });
    await harness.input('right').push('a', 'r', { timestamp: 2 });
    expect(values(harness)).toEqual(['lr']);
    await expect(harness.snapshot()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID', message: expect.stringContaining('pairs') });
  });
});

describe('a harness with several inputs refuses', () => {
  const coded = (message: string) => expect.objectContaining({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(message) });
  const make =
    (options: unknown, operator: unknown = ({ left }: Sides) => left) =>
    (): unknown =>
      new MultiInputTestHarness(operator as never, options as never);

  it('options and inputs that are not there, or wrong', async () => {
    expect(make(undefined)).toThrow(coded('options'));
    expect(make({})).toThrow(coded('needs `inputs`'));
    expect(make({ inputs: {} })).toThrow(coded('needs `inputs`'));
    expect(make({ inputs: { left: {} } })).toThrow(coded('input left needs `keySerde`'));
    expect(make({ inputs: { left: { ...texts, idle: 5 } } })).toThrow(coded('idle'));
    expect(make({ inputs: { left: { ...texts, idleness: 0 } } })).toThrow(coded('idleness'));
    expect(make({ inputs: { 'a b': texts } })).toThrow(coded('a b'));
    expect(make({ inputs: { left: texts }, paralellism: 2 })).toThrow(coded('did you mean parallelism?'));
    expect(make({ inputs: { left: texts }, parallelism: 0 })).toThrow(coded('parallelism'));
    expect(make({ inputs: { left: texts } }, null)).toThrow(coded('function'));
    expect(make({ inputs: { left: texts } }, () => 5)).toThrow(coded('must give a stream'));
    await using harness = open(({ left }) => left);
    expect(() => harness.input('middle' as never)).toThrow(coded('left, right'));
    await expect(harness.input('left').push('a', 'v', { time: 5 } as never)).rejects.toThrow(coded('timestamp'));
    await expect(harness.input('left').pushWatermark('5' as never)).rejects.toThrow(coded('milliseconds'));
    await expect(harness.input('left').pushWatermark(5, { partition: 7 })).rejects.toMatchObject({ code: 'MILL_TOPIC_MISSING' });
    await harness.input('left').push('a', 'v');
    expect(values(harness)).toEqual(['v']);
  });

  it('the snapshot of a harness with other inputs, or none', async () => {
    await using one = new TestHarness((input) => input.filter(() => true), texts);
    const from = await one.snapshot();
    expect(() => open(windowJoin, { from })).toThrow(coded('the snapshot has input input'));
    expect(() => open(windowJoin, { from: {} as never })).toThrow(coded('`from`'));
  });
});

describe('a window that was closed before a snapshot', () => {
  const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
  const sums = (records: KStream<string, number>) =>
    records
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .reduce((a, b) => a + b, { name: 'sum', valueSerde: serdes.double });
  const partitionOfA = partitionForKey(Buffer.from('a'), 0, 1, 2);

  async function ahead(): Promise<TestHarness<string, number>> {
    const harness = new TestHarness(sums, { ...numbers, parallelism: 2 });
    await harness.push('a', 1, { timestamp: 5 });
    await harness.pushWatermark(9, { partition: partitionOfA });
    expect(values(harness)).toEqual([1]);
    return harness;
  }

  it('does not fire again where only its own partition was that far', async () => {
    await using first = await ahead();
    await using second = new TestHarness(sums, { ...numbers, parallelism: 2, from: await first.snapshot() });
    expect(second.watermark).toBe(-Infinity);
    await second.push('a', 100, { timestamp: 6 });
    await second.pushWatermark(9);
    expect([[...second.dropped], values(second)]).toEqual([[['late', 1]], []]);
  });

  it('is open again over another parallelism, where a task had not got so far', async () => {
    await using first = await ahead();
    await first.pushWatermark(3, { partition: 1 - partitionOfA });
    await using second = new TestHarness(sums, { ...numbers, parallelism: 3, from: await first.snapshot() });
    expect((await second.explainWatermark()).tasks.map(({ watermark }) => watermark)).toEqual([3, 3, 3]);
    await second.push('a', 100, { timestamp: 6 });
    await second.pushWatermark(9);
    expect([[...second.dropped], values(second)]).toEqual([[], [100]]);
  });

  it.each([1, 3])('does not fire again because an input is no longer idle, over %i tasks', async (parallelism) => {
    const inputs = { x: numbers, y: { ...numbers, idleness: 100 } };
    const merged = ({ x, y }: HarnessStreams<typeof inputs>) => sums(x.merge(y));
    await using first = new MultiInputTestHarness(merged, { inputs });
    await first.input('x').push('a', 1, { timestamp: 5 });
    for (let i = 0; i < 2; i++) await first.advanceTime(1_000);
    await first.input('x').pushWatermark(9);
    await first.advanceTime(1_000);
    expect(values(first)).toEqual([1]);
    await using second = new MultiInputTestHarness(merged, { inputs, parallelism, from: await first.snapshot() });
    await second.input('x').push('a', 100, { timestamp: 6 });
    await second.pushWatermark(9);
    expect([[...second.dropped], values(second)]).toEqual([[['late', 1]], []]);
  });
});
