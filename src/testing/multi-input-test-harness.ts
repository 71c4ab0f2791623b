/** A harness for operators with two inputs or more: joins, connected streams, merged ones (Flink's `TwoInputStreamOperatorTestHarness`). */
import type { KStream } from '../dsl/kstream.js';
import { MillraceError } from '../errors.js';
import { anyObject, atLeastOne, requireOptions, serde, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
import type { Serde } from '../serdes/serde.js';
import type { HarnessInput } from './harness-input.js';
import { OperatorHarness, type HarnessOptions, type HarnessOutputs, type HarnessSource } from './operator-harness.js';

/** An input of a `MultiInputTestHarness`. */
export interface HarnessInputOptions<K, V> {
  /** Of the input's keys, which are spread over the tasks by their bytes. */
  readonly keySerde: Serde<K>;
  /** Of the input's values. */
  readonly valueSerde: Serde<V>;
  /** A partition of it that gets nothing for longer than this, ms of the harness's clock (`advanceTime`), no longer holds event time back. Default: it always does. */
  readonly idleness?: number;
}

/** The inputs of a harness, by names of your own. */
export type HarnessInputs = Readonly<Record<string, HarnessInputOptions<unknown, unknown>>>;

/** Options of a `MultiInputTestHarness`. */
export interface MultiInputTestHarnessOptions<I extends HarnessInputs> extends HarnessOptions {
  /** Each has as many partitions as the harness has tasks, so keys of all inputs meet. */
  readonly inputs: I;
}

/** What the function under test gets: each input as a stream. */
export type HarnessStreams<I extends HarnessInputs> = {
  readonly [N in keyof I]: I[N] extends HarnessInputOptions<infer K, infer V> ? KStream<K, V> : never;
};

/** What `input(name)` gives: the input in the test's hand. */
export type HarnessInputOf<O> = O extends HarnessInputOptions<infer K, infer V> ? HarnessInput<K, V> : never;

/**
 * @example
 * await using harness = new MultiInputTestHarness(
 *   ({ orders, payments }) => orders.keyBy().intervalJoin(payments.keyBy(), { lower: 0, upper: 60_000 }, (order, payment) => `${order} ${payment}`, { name: 'paid' }),
 *   { inputs: { orders: texts, payments: texts }, parallelism: 2 },
 * );
 * await harness.input('orders').push('a', 'tea', { timestamp: 1_000 });
 * await harness.input('payments').push('a', 'card', { timestamp: 2_000 });
 * await harness.input('orders').pushWatermark(62_000);
 * harness.outputs();
 */
export class MultiInputTestHarness<I extends HarnessInputs, O extends HarnessOutputs = HarnessOutputs> extends OperatorHarness<O> {
  /**
   * @param operator builds what is tested out of the inputs
   * @throws MILL_CONFIG_INVALID for wrong options; what building a topology throws
   */
  constructor(operator: (inputs: HarnessStreams<I>) => O, options: MultiInputTestHarnessOptions<I>) {
    requireOptions(what, options, shape, 'MILL_CONFIG_INVALID');
    if (typeof operator !== 'function') throw refused('takes a function that builds the operator out of its inputs');
    super(what, sourcesOf(options.inputs), (streams) => operator(Object.fromEntries(streams) as HarnessStreams<I>), options);
  }

  /**
   * Where records and watermarks of one input go in.
   *
   * @throws MILL_CONFIG_INVALID when there is no such input
   */
  input<N extends keyof I & string>(name: N): HarnessInputOf<I[N]> {
    const input = this.inputs.get(name);
    if (input !== undefined) return input as HarnessInputOf<I[N]>;
    throw this.wrong(`there is no input ${name}: there are ${[...this.inputs.keys()].join(', ')}`);
  }

  /**
   * Moves event time of all inputs to `time`, one after the other, and fires what is due.
   *
   * @throws as `push` of an input
   */
  async pushWatermark(time: number): Promise<void> {
    for (const input of this.inputs.values()) await input.pushWatermark(time);
  }
}

const what = 'MultiInputTestHarness';

const shape = {
  inputs: anyObject,
  parallelism: wholeNumber,
  wallClock: wholeNumber,
  from: anyObject,
} satisfies ShapeOf<MultiInputTestHarnessOptions<HarnessInputs>>;

const inputShape = { keySerde: serde, valueSerde: serde, idleness: atLeastOne } satisfies ShapeOf<HarnessInputOptions<unknown, unknown>>;

function sourcesOf(inputs: HarnessInputs | undefined): Map<string, HarnessSource> {
  const sources = new Map<string, HarnessSource>();
  for (const [name, input] of Object.entries(inputs ?? {})) {
    requireOptions(`${what}: input ${name}`, input, inputShape, 'MILL_CONFIG_INVALID');
    const { keySerde, valueSerde, idleness = null } = input;
    for (const [option, given] of Object.entries({ keySerde, valueSerde }))
      if ((given as unknown) === undefined) throw refused(`input ${name} needs \`${option}\``);
    if (!/^[A-Za-z0-9._-]+$/.test(name)) throw refused(`an input can't be named “${name}”: letters, digits, “.”, “_” and “-” may be used`);
    sources.set(name, { topic: `harness-input-${name}`, keySerde, valueSerde, idleness });
  }
  if (sources.size === 0) throw refused('needs `inputs`: an object of serdes by name, as in { orders: { keySerde, valueSerde } }');
  return sources;
}

function refused(message: string): MillraceError {
  return new MillraceError('MILL_CONFIG_INVALID', `${what}: ${message}.`);
}
