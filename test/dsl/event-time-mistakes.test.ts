import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KeyedProcessor, KeyedProcessorContext } from '../../src/processors/event-time/keyed-processor.js';
import { valueState } from '../../src/processors/state/state-descriptor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TestHarness } from '../../src/testing/test-harness.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime, tumblingProcessingTime } from '../../src/time/windowing/tumbling-windows.js';
import type { KStream } from '../../src/dsl/kstream.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const seen = valueState<number>('seen', { serde: serdes.double });

/** Calls `body` with what it may use, for each record. */
const processing =
  (
    body: (context: KeyedProcessorContext<string, string, number>, value: number) => void,
    onTimer?: KeyedProcessor<string, number>['onTimer'],
  ) =>
  (input: KStream<string, number>) =>
    input.keyBy().process(
      () => {
        const contexts: KeyedProcessorContext<string, string, number>[] = [];
        return {
          init: (context: KeyedProcessorContext<string, string, number>) => void contexts.push(context),
          process: ({ value }: { readonly value: number }) => body(contexts[0]!, value),
          onTimer: onTimer ?? (({ key, time }) => contexts[0]!.forward({ key, value: time })),
        } satisfies KeyedProcessor<string, number, string, number>;
      },
      { name: 'mine', states: [seen], ...numbers },
    );

describe('keyed state and timers', () => {
  it('that are used when process is done are refused, and change nothing of the key that came last', async () => {
    const later: (() => void)[] = [];
    const operator = processing((context, value) => {
      const state = context.state(seen);
      if (value === 1)
        later.push(
          () => state.update(99),
          () => context.timers.registerProcessingTimer(5),
          () => context.currentKey(),
        );
      else state.update(value);
    });
    await using harness = new TestHarness(operator, numbers);
    await harness.push('a', 1, { timestamp: 1 });
    await harness.push('b', 2, { timestamp: 1 });
    for (const call of later) expect(call).toThrow(/not when `process` or `onTimer` is done \(return a promise to use them later\)/);
    expect([(await harness.state(seen, 'a')).value(), (await harness.state(seen, 'b')).value()]).toEqual([null, 2]);
    expect(await harness.timers()).toEqual([]);
  });

  it('of the key that came last are not to be had in a callback of schedule', async () => {
    const operator = processing((context, value) => {
      context.state(seen).update(value);
      context.schedule({ time: 'wallClock', interval: 10 }, () => context.state(seen).update(99));
    });
    await using harness = new TestHarness(operator, numbers);
    await harness.push('a', 1, { timestamp: 1 });
    await expect(harness.advanceTime(10)).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    expect((await harness.state(seen, 'a')).value()).toBe(1);
  });

  it.each([NaN, -Infinity, undefined, '5', 5n])('a timer for %p fails its record, and nothing is left of it', async (time) => {
    const builder = new StreamsBuilder();
    const asked: string[] = [];
    processing((context, value) => {
      if (value === 1) context.timers.registerEventTimer(time as number);
      else if (value === 2) context.timers.registerProcessingTimer(time as number);
      else context.timers.registerEventTimer(-5);
    })(builder.stream('in', { ...numbers, watermarks: watermarks.monotonous() })).to('out');
    await using driver = new TopologyTestDriver(builder.build(), {
      processingHandler: (error) => {
        asked.push(error.message);
        return 'continue';
      },
    });
    const input = driver.inputTopic('in', numbers);
    for (const value of [1, 2, 3, 3]) await input.pipe('a', value, { timestamp: value });
    expect(asked).toHaveLength(2);
    expect(asked[0]).toMatch(/^A timer in event time needs a number of milliseconds, not /);
    expect(asked[1]).toMatch(/^A timer in processing time needs a number of milliseconds, not /);
    // That of a time before 1970 fires; what it forwards has the earliest time that records have.
    expect(driver.outputTopic('out', numbers).readAll()).toMatchObject([{ value: -5, timestamp: 0 }]);
  });
});

it('a state is not named longer than a row can tell', () => {
  expect(() => valueState('x'.repeat(300))).toThrow(/letters, digits, .* may be used, 200 at most/);
});

describe('watermarks', () => {
  it.each([NaN, undefined, '5', 5n])('a generator that emits %p is told of, instead of every window closing', async (rubbish) => {
    const builder = new StreamsBuilder();
    const strategy = watermarks.custom(() => ({
      onEvent: (_timestamp, _value, output) => output.emit(rubbish as number),
      onPeriodicEmit: () => undefined,
    }));
    builder
      .stream('in', { ...numbers, watermarks: strategy })
      .keyBy()
      .window(tumblingEventTime({ size: 10 }))
      .reduce((a, b) => a + b, { name: 'sum' })
      .to('sums');
    await using driver = new TopologyTestDriver(builder.build());
    await expect(driver.inputTopic('in', numbers).pipe('a', 1, { timestamp: 1 })).rejects.toThrow(
      /The watermark generator of in-0 emits .*: a watermark is a number of milliseconds/,
    );
    expect(driver.outputTopic('sums', numbers).isEmpty).toBe(true);
  });

  it('need a function that gives generators', () => {
    expect(() => watermarks.custom({} as never)).toThrow('watermarks.custom: createGenerator must be a function');
    const strategy = watermarks.custom((() => ({ onEvent: () => undefined })) as never);
    expect(() => strategy.createGenerator()).toThrow('watermarks.custom: what createGenerator gives must be a generator');
  });
});

describe('windows', () => {
  it.each([Infinity, 0.5, '10', 10n, null])('of a size, slide or gap of %p are refused', (span) => {
    const size = span as number;
    for (const make of [
      () => tumblingEventTime({ size }),
      () => tumblingEventTime({ size: 10, offset: size }),
      () => tumblingProcessingTime({ size }),
      () => slidingEventTime({ size, slide: 5 }),
      () => slidingEventTime({ size: 10, slide: size }),
      () => sessionEventTime({ gap: size }),
    ])
      expect(make).toThrow(/whole number/);
  });

  it.each([NaN, 0, 0.5, undefined])('a gap of %p that a function gives fails the record alone', async (gap) => {
    const builder = new StreamsBuilder();
    builder
      .stream('in', { ...numbers, watermarks: watermarks.monotonous() })
      .keyBy()
      .window(sessionEventTime<number>({ gap: (value) => (value === 1 ? (gap as number) : 10) }))
      .reduce((a, b) => a + b, { name: 'sum' })
      .map((sum, { key }) => [key, sum], numbers)
      .to('sums');
    await using driver = new TopologyTestDriver(builder.build(), { processingHandler: 'continue' });
    const input = driver.inputTopic('in', numbers);
    for (const [value, timestamp] of [
      [1, 1],
      [2, 2],
      [4, 50],
    ] as const)
      await input.pipe('a', value, { timestamp });
    expect(driver.outputTopic('sums', numbers).readAll()).toMatchObject([{ value: 2 }]);
  });
});
