/** The same input gives the same event-time output, however it is cut into commits and whatever the clock says; chance and clock of processors are the driver's. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { Processor, ProcessorContext, Record } from '../../src/processors/processor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { tumblingEventTime, tumblingProcessingTime } from '../../src/time/windowing/tumbling-windows.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const texts = { keySerde: serdes.string, valueSerde: serdes.string };

type Reading = readonly [key: string, value: number, timestamp: number];

/** Sums by event-time and by processing-time windows of 10 ms; `batches` are committed one by one, with the clock moved by `pause` in between. */
async function sums(batches: readonly (readonly Reading[])[], wallClock: number, pause: number) {
  const builder = new StreamsBuilder();
  const readings = builder.stream('in', { ...numbers, watermarks: watermarks.boundedOutOfOrderness(100) }).keyBy();
  for (const [topic, assigner] of [
    ['event', tumblingEventTime({ size: 10 })],
    ['processing', tumblingProcessingTime({ size: 10 })],
  ] as const) {
    readings
      .window(assigner)
      .reduce((a, b) => a + b, { name: topic })
      .map((sum, { key, window }) => [key, `[${window.start}) ${sum}`], texts)
      .to(topic);
  }
  await using driver = new TopologyTestDriver(builder.build(), { wallClock });
  const input = driver.inputTopic('in', numbers);
  for (const batch of batches) {
    await input.pipeAll(batch.map(([key, value, timestamp]) => ({ key, value, timestamp })));
    await driver.advanceWallClock(pause);
  }
  await driver.advanceWallClock(100);
  await driver.endInput();
  const lines = (topic: string): string[] =>
    driver
      .outputTopic(topic, texts)
      .readAll()
      .map(({ key, value, timestamp }) => `${key} ${String(value)} @${timestamp}`);
  return { event: lines('event'), processing: lines('processing') };
}

const reading = fc.tuple(fc.constantFrom('a', 'b'), fc.integer({ min: 1, max: 9 }), fc.integer({ min: 0, max: 100 }));

describe('the same input again', () => {
  it('gives the same event-time output, whatever the commits and the clock', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(reading, { maxLength: 20 }), fc.nat({ max: 20 }), fc.nat({ max: 1000 }), async (readings, cut, clock) => {
        const once = await sums([readings], 0, 0);
        const again = await sums([readings.slice(0, cut), readings.slice(cut)], clock, 7);
        expect(again.event.toSorted()).toEqual(once.event.toSorted());
      }),
      { numRuns: 20 },
    );
  });

  it('gives other processing-time output with another clock', async () => {
    const batches: Reading[][] = [[['a', 1, 1]], [['a', 2, 2]]];
    const [slow, fast] = [await sums(batches, 0, 10), await sums(batches, 0, 1)];
    expect(slow.event).toEqual(fast.event);
    expect(slow.event).toEqual(['a [0) 3 @9']);
    expect(slow.processing).toEqual(['a [0) 1 @9', 'a [10) 2 @19']);
    expect(fast.processing).toEqual(['a [0) 3 @9']);
  });
});

describe('clock and chance of processors', () => {
  class Ask implements Processor<string, number, string, string> {
    private context!: ProcessorContext<string, string>;
    init(context: ProcessorContext<string, string>): void {
      this.context = context;
    }
    process({ key }: Record<string, number>) {
      const { context } = this;
      return context.forward({ key, value: `${context.now()} ${context.random()} ${context.uuid()}` });
    }
  }

  async function asked(seed?: number): Promise<string[]> {
    const builder = new StreamsBuilder();
    builder
      .stream('in', numbers)
      .process(() => new Ask(), texts)
      .to('out');
    await using driver = new TopologyTestDriver(builder.build(), { wallClock: 5, ...(seed === undefined ? {} : { seed }) });
    await driver.inputTopic('in', numbers).pipeAll([1, 2].map((value) => ({ key: 'k', value, timestamp: value })));
    return driver
      .outputTopic('out', texts)
      .readAll()
      .map(({ value }) => String(value));
  }

  it('are those of the test: one seed, one answer', async () => {
    const answers = await asked();
    expect(answers).toEqual(await asked(0));
    expect(answers).not.toEqual(await asked(1));
    for (const answer of answers)
      expect(answer).toMatch(/^5 0\.\d+(e-\d+)? [0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    expect(new Set(answers).size).toBe(2);
  });
});
