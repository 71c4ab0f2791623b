import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { Trigger } from '../../src/processors/windowing/trigger.js';
import { continuousEventTimeTrigger } from '../../src/processors/windowing/triggers/continuous-triggers.js';
import { purgingTrigger } from '../../src/processors/windowing/triggers/purging-trigger.js';
import { neverTrigger } from '../../src/processors/windowing/triggers/time-triggers.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks, type WatermarkStrategy } from '../../src/time/watermarks/watermark-strategy.js';
import { globalWindows } from '../../src/time/windowing/global-windows.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { tumbling } from '../../src/time/time-windows.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };

describe('endInput', () => {
  it('tells windows and sessions that are open, through sub-topologies, and leaves them open', async () => {
    const builder = new StreamsBuilder();
    const input = builder.stream('in', texts);
    const grouped = input.groupByKey();
    const counts = { emit: 'onWindowClose' } as const;
    for (const [topic, table] of [
      ['tumbling', grouped.windowedBy(tumbling({ size: 100, grace: 0 })).count(counts)],
      ['sliding', grouped.windowedBy(sliding({ timeDifference: 50, grace: 0 })).count(counts)],
      ['sessions', grouped.windowedBy(sessions({ gap: 50, grace: 0 })).count(counts)],
      [
        'rekeyed',
        input
          .groupBy((value) => value, { keySerde: serdes.string })
          .windowedBy(tumbling({ size: 100, grace: 0 }))
          .count(counts),
      ],
    ] as const) {
      table
        .toStream()
        .map((count, { key, window }): [string, string] => [`${key}@${window.start}-${window.end}`, String(count)])
        .to(topic, texts);
    }
    const driver = new TopologyTestDriver(builder.build());
    const records = driver.inputTopic('in', texts);
    const told = (topic: string): string[] =>
      driver
        .outputTopic(topic, texts)
        .readAll()
        .map(({ key, value }) => `${key}=${value}`);
    await records.pipe('a', 'x', { timestamp: 10 });
    await records.pipe('a', 'x', { timestamp: 130 });
    expect(told('tumbling')).toEqual(['a@0-100=1']);
    expect(told('sessions')).toEqual(['a@10-10=1']);
    await driver.endInput();
    expect(told('tumbling')).toEqual(['a@0-100=1', 'a@100-200=1']);
    expect(told('sessions')).toEqual(['a@10-10=1', 'a@130-130=1']);
    expect(told('sliding').at(-1)).toBe('a@80-130=1');
    expect(told('rekeyed')).toEqual(['x@0-100=1', 'x@100-200=1']);
    await records.pipe('a', 'x', { timestamp: 140 });
    await driver.endInput();
    expect(told('tumbling').at(-1)).toBe('a@100-200=2');
    await driver.close();
  });

  it('fires timers in stream time once more, and none of the wall clock', async () => {
    class Held implements Processor<string, string, string, string> {
      private context!: ProcessorContext<string, string>;
      private held: string[] = [];
      init(context: ProcessorContext<string, string>): void {
        this.context = context;
        context.schedule({ interval: 1000, time: 'stream', startAt: 1000 }, (timestamp) => this.tell(`stream@${timestamp}`));
        context.schedule({ interval: 1000, time: 'wallClock' }, (timestamp) => this.tell(`clock@${timestamp}`));
      }
      process({ value }: Record<string, string>): void {
        this.held.push(value);
      }
      private tell(key: string): void | Promise<void> {
        return this.context.forward({ key, value: this.held.splice(0).join() });
      }
    }
    const builder = new StreamsBuilder();
    builder
      .stream('in', texts)
      .process(() => new Held(), texts)
      .to('out', texts);
    const driver = new TopologyTestDriver(builder.build());
    await driver.inputTopic('in', texts).pipe('a', 'x', { timestamp: 10 });
    await driver.inputTopic('in', texts).pipe('a', 'y', { timestamp: 20 });
    await driver.endInput();
    expect(
      driver
        .outputTopic('out', texts)
        .readAll()
        .map(({ key, value, timestamp }) => [key, value, timestamp]),
    ).toEqual([['stream@20', 'x,y', 20]]);
    await driver.close();
  });

  describe('windows without an end', () => {
    const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
    const open = (trigger: Trigger, strategy: WatermarkStrategy<number> = watermarks.monotonous()): TopologyTestDriver => {
      const builder = new StreamsBuilder();
      builder
        .stream('in', { ...numbers, watermarks: strategy })
        .keyBy()
        .window(globalWindows(), { trigger })
        .reduce((a, b) => a + b, { name: 'sum' })
        .map((sum, { key }) => [key, sum], numbers)
        .to('sums');
      return new TopologyTestDriver(builder.build());
    };
    const sums = (driver: TopologyTestDriver): (number | null)[] =>
      driver
        .outputTopic('sums', numbers)
        .readAll()
        .map(({ value }) => value);

    it('that fire every so often come to an end', async () => {
      await using driver = open(continuousEventTimeTrigger(10));
      for (const timestamp of [1, 12, 26]) await driver.inputTopic('in', numbers).pipe('a', 1, { timestamp });
      expect(sums(driver)).toEqual([2, 3]);
      await driver.endInput();
      expect(sums(driver)).toEqual([2, 3, 3]);
    });

    it('that fire every so often come to an end when a generator says that nothing more is to come', async () => {
      const strategy = watermarks.custom<number>(() => ({
        onEvent: (timestamp, value, output) => output.emit(value === 0 ? Infinity : timestamp),
        onPeriodicEmit: () => undefined,
      }));
      await using driver = open(purgingTrigger(continuousEventTimeTrigger(10)), strategy);
      for (const value of [1, 2, 0]) await driver.inputTopic('in', numbers).pipe('a', value, { timestamp: value });
      expect(sums(driver)).toEqual([3]);
    });

    it('that have a timer for it fire at the end', async () => {
      const atTheEnd: Trigger = Object.freeze<Trigger>({
        ...neverTrigger(),
        name: 'atTheEnd',
        onElement: (_value, _timestamp, _window, context) => {
          context.registerEventTimer(Infinity);
          return 'continue';
        },
        onEventTime: () => 'fire',
      });
      await using driver = open(atTheEnd);
      for (const timestamp of [1, 12]) await driver.inputTopic('in', numbers).pipe('a', 1, { timestamp });
      await driver.endInput();
      expect(sums(driver)).toEqual([2]);
    });
  });
});
