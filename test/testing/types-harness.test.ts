/** What `outputs()` gives, by the operator's streams. The assertions are made by the compiler; running the file only checks that it builds. */
import { describe, expect, it } from '@jest/globals';
import { expectTypeOf } from 'expect-type';
import type { KStream } from '../../src/dsl/kstream.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MultiInputTestHarness } from '../../src/testing/multi-input-test-harness.js';
import type { HarnessOutputs, HarnessRecord } from '../../src/testing/operator-harness.js';
import { TestHarness } from '../../src/testing/test-harness.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';
import type { Windowed } from '../../src/time/windowed.js';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const texts = (input: KStream<string, number>) =>
  input.keyBy().process(() => ({ process: () => undefined }), { name: 'texts', keySerde: serdes.string, valueSerde: serdes.string });
const sums = (input: KStream<string, number>) =>
  input
    .keyBy()
    .window(tumblingEventTime({ size: 10 }))
    .reduce((a, b) => a + b, { name: 'sums', sideOutputLate: true });

describe('types of outputs of a harness', () => {
  it('come from the stream', async () => {
    await using harness = new TestHarness(texts, numbers);
    expectTypeOf(harness.outputs()).toEqualTypeOf<HarnessRecord<string, string>[]>();
    expectTypeOf(harness.outputs<string, 'a'>()).toEqualTypeOf<HarnessRecord<string, 'a'>[]>();
    expect(harness.outputs()).toEqual([]);
  });

  it('come from the streams, by name', async () => {
    await using harness = new TestHarness(sums, numbers);
    expectTypeOf(harness.outputs()).toEqualTypeOf<HarnessRecord<Windowed<string>, number>[]>();
    expectTypeOf(harness.outputs('results')).toEqualTypeOf<HarnessRecord<Windowed<string>, number>[]>();
    expectTypeOf(harness.outputs('late')).toEqualTypeOf<HarnessRecord<string, number>[]>();
  });

  it('are unknown for one of several operators, and where the harness is not known', async () => {
    const values = (harness: TestHarness<string, number>, name?: string): unknown[] => harness.outputs(name).map(({ value }) => value);
    const operators: readonly ((input: KStream<string, number>) => HarnessOutputs)[] = [texts, sums];
    for (const operator of operators) {
      await using harness = new TestHarness(operator, numbers);
      expectTypeOf(harness.outputs()).toEqualTypeOf<HarnessRecord[]>();
      expect(values(harness)).toEqual([]);
    }
    await using harness = new TestHarness(sums, numbers);
    expect(values(harness, 'late')).toEqual([]);
  });

  it('of several inputs', async () => {
    await using harness = new MultiInputTestHarness(
      ({ left, right }) =>
        left.keyBy().intervalJoin(right.keyBy(), { lower: 0, upper: 1 }, (one, other) => `${one} ${other}`, { name: 'joined' }),
      { inputs: { left: numbers, right: numbers } },
    );
    expectTypeOf(harness.outputs()).toEqualTypeOf<HarnessRecord<string, string>[]>();
    expect(harness.outputs()).toEqual([]);
  });
});
