/** Accumulators go through a topic between two stages: whoever gets back what was not given learns of the serde, and is not told that a function was wrong. */
import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import type { Serde } from '../../src/serdes/serde.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { tumbling } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };

/** JSON makes null of it. */
const highest: AggregateFunction<number, number, number> = {
  initial: () => -Infinity,
  add: (before) => before,
  merge: (a, b) => Math.max(a, b),
  result: (accumulator) => accumulator,
};
/** JSON makes an empty object of it. */
const distinct: AggregateFunction<number, Set<number>, number> = {
  initial: () => new Set(),
  add: (before, value) => before.add(value),
  merge: (a, b) => new Set([...a, ...b]),
  result: ({ size }) => size,
};

type Declare = <A>(builder: StreamsBuilder, aggregate: AggregateFunction<number, A, number>, serde: Serde<A> | undefined) => void;

const forms: readonly (readonly [string, Declare])[] = [
  [
    'a grouped stream',
    (builder, aggregate, valueSerde) =>
      builder
        .stream('in', numbers)
        .groupBy(() => 'x', { keySerde: serdes.string })
        .aggregate(aggregate, { twoStage: true, materialized: { storeName: 's', ...(valueSerde && { valueSerde }) } } as never),
  ],
  [
    'windowedBy',
    (builder, { initial, add, merge }, valueSerde) =>
      builder
        .stream('in', numbers)
        .groupBy(() => 'x', { keySerde: serdes.string })
        .windowedBy(tumbling({ size: 1_000 }))
        .aggregate(initial, (before, value) => add(before, value), {
          twoStage: true,
          merger: (a, b) => merge!(a, b),
          materialized: { storeName: 's', ...(valueSerde && { valueSerde }) },
        }),
  ],
  ...[tumblingEventTime({ size: 1_000 }), slidingEventTime({ size: 1_000, slide: 500 })].map((assigner): readonly [string, Declare] => [
    `keyed windows (${assigner.name})`,
    (builder, aggregate, accumulatorSerde) =>
      builder
        .stream('in', { ...numbers, watermarks: watermarks.monotonous() })
        .keyBy(() => 'x', { keySerde: serdes.string })
        .window(assigner)
        .aggregate(aggregate, { name: 's', twoStage: true, valueSerde: serdes.double, ...(accumulatorSerde && { accumulatorSerde }) }),
  ]),
];

async function failureOf(declare: (builder: StreamsBuilder) => void): Promise<string> {
  const builder = new StreamsBuilder();
  declare(builder);
  await using driver = new TopologyTestDriver(builder.build(), { partitions: { in: 2 }, defaultValueSerde: serdes.json() });
  const input = driver.inputTopic('in', numbers);
  try {
    await input.pipeAll(['a', 'b', 'c', 'd'].map((key, value) => ({ key, value, timestamp: value })));
    await input.pipeAll(['a', 'b', 'c', 'd'].map((key, value) => ({ key, value, timestamp: value })));
  } catch (error) {
    return (error as Error).message;
  }
  return 'no failure';
}

describe.each(forms)('two stages of %s name the serde', (_form, declare) => {
  it.each([
    ['of its own', serdes.json<number>()],
    ['by default', undefined],
  ])('that makes null of an accumulator (%s)', async (_which, serde) => {
    const failure = await failureOf((builder) => declare(builder, highest, serde));
    expect(failure).toContain('serde json makes null of an accumulator');
    expect(failure).toContain('MILL_SERDE');
    expect(failure).not.toContain('gave null');
  });

  it('that gives something else back than two accumulators to be combined', async () => {
    const failure = await failureOf((builder) => declare(builder, distinct, serdes.json<Set<number>>()));
    expect(failure).toContain('aggregate: two accumulators could not be combined (they came through serde json');
    expect(failure).toContain('is not iterable');
  });
});
