/** A harness for operators with one input (Flink's `OneInputStreamOperatorTestHarness`). */
import type { KStream } from '../dsl/kstream.js';
import { MillraceError } from '../errors.js';
import { anyObject, requireOptions, serde, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
import type { Serde } from '../serdes/serde.js';
import type { HarnessInput, HarnessPushOptions, HarnessWatermarkOptions } from './harness-input.js';
import { OperatorHarness, type HarnessOptions, type HarnessOutputs } from './operator-harness.js';

/** Options of a `TestHarness`. */
export interface TestHarnessOptions<K, V> extends HarnessOptions {
  /** Of the input's keys, which are spread over the tasks by their bytes. */
  readonly keySerde: Serde<K>;
  /** Of the input's values. */
  readonly valueSerde: Serde<V>;
}

const onlyInput = 'input';

/**
 * @example
 * const mean = (readings: KStream<string, number>) => readings.keyBy().window(tumblingEventTime({ size: 60_000 })).reduce((a, b) => a + b, { name: 'sum' });
 * await using harness = new TestHarness(mean, { keySerde: serdes.string, valueSerde: serdes.double });
 * await harness.push('a', 20, { timestamp: 12_000 });
 * await harness.pushWatermark(59_999);
 * harness.outputs();
 */
export class TestHarness<K, V, O extends HarnessOutputs = HarnessOutputs> extends OperatorHarness<O> {
  private readonly input: HarnessInput<K, V>;

  /**
   * @param operator builds what is tested out of the input
   * @throws MILL_CONFIG_INVALID for wrong options; what building a topology throws
   */
  constructor(operator: (input: KStream<K, V>) => O, options: TestHarnessOptions<K, V>) {
    requireOptions('TestHarness', options, shape, 'MILL_CONFIG_INVALID');
    if (typeof operator !== 'function') throw wrong('takes a function that builds the operator out of its input');
    const { keySerde, valueSerde } = options;
    for (const [name, given] of Object.entries({ keySerde, valueSerde }))
      if ((given as unknown) === undefined) throw wrong(`needs \`${name}\``);
    const source = { topic: 'harness-input', keySerde, valueSerde, idleness: null };
    super('TestHarness', new Map([[onlyInput, source]]), (streams) => operator(streams.get(onlyInput) as KStream<K, V>), options);
    this.input = this.inputs.get(onlyInput) as HarnessInput<K, V>;
  }

  /**
   * Processes one record, and what follows from it.
   *
   * @param options `timestamp`: default the clock; `partition`: default by the key
   * @throws what the operator throws; MILL_STATE_INVALID when it has failed before
   */
  push(key: K | null, value: V | null, options?: HarnessPushOptions): Promise<void> {
    return this.input.push(key, value, options);
  }

  /**
   * Moves event time to `time`, ms since the epoch, and fires what is due. One that is not higher than the last does nothing.
   *
   * @param options `partition`: of the input, alone. Each task goes by that of its own partition; behind a repartition topic by the lowest of all. Default: all
   * @throws as `push`
   */
  pushWatermark(time: number, options?: HarnessWatermarkOptions): Promise<void> {
    return this.input.pushWatermark(time, options);
  }
}

const shape = {
  keySerde: serde,
  valueSerde: serde,
  parallelism: wholeNumber,
  wallClock: wholeNumber,
  from: anyObject,
} satisfies ShapeOf<TestHarnessOptions<unknown, unknown>>;

function wrong(message: string): MillraceError {
  return new MillraceError('MILL_CONFIG_INVALID', `TestHarness: ${message}.`);
}
