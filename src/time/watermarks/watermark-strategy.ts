/** How a source gets its watermarks: the public `watermarks.*`. */
import {
  shown,
  anything,
  callback,
  objectWith,
  requireArgument,
  requireOptions,
  text,
  type ShapeOf,
} from '../../errors/checked-options.js';
import { MillraceError } from '../../errors.js';
import { BoundedOutOfOrderness, NoWatermarks, type WatermarkGenerator } from './watermark-generator.js';

/** The check of an option that is a strategy. */
export const watermarksOption = objectWith('what watermarks.monotonous() and the like give', 'createGenerator');

/** What all strategies take. */
export interface WatermarkOptions {
  /** A partition without records for longer than this, ms, that is read to its end no longer holds the watermark back. Default: it holds it for ever. */
  readonly idleness?: number;
  /**
   * Partitions whose watermark is more than `maxDrift` ms ahead of the slowest one wait until that has caught up: compared are the partitions of all tasks of
   * the sub-topology on this instance or, with `group`, all partitions on this instance whose strategy names the same group. Default: none waits.
   */
  readonly alignment?: { readonly maxDrift: number; readonly group?: string };
  /** Time between two periodic watermarks, ms. Default 200, as in Flink. */
  readonly interval?: number;
}

/** How a source gets its watermarks: frozen data, made by `watermarks.*`, given to a source as `watermarks`. */
export interface WatermarkStrategy<V = unknown> {
  /** Shown in `topology.describe()` and in errors. */
  readonly name: string;
  /** ms; null: partitions are never idle. */
  readonly idleTimeout: number | null;
  /** ms; null: no alignment. */
  readonly maxDrift: number | null;
  /** null: the sub-topology. */
  readonly alignmentGroup: string | null;
  /** ms */
  readonly interval: number;
  /** True when generators look at the records' values; false when timestamps are all they need. */
  readonly readsValues: boolean;
  /** One generator for each partition. */
  createGenerator(): WatermarkGenerator<V>;
}

export const defaultWatermarkInterval = 200;

/**
 * Watermark strategies for sources: how far event time has come, by what the records of each partition say.
 *
 * @example
 * builder.stream('readings', { watermarks: watermarks.boundedOutOfOrderness(5_000, { idleness: 30_000 }) })
 */
export const watermarks = Object.freeze({
  /**
   * Timestamps of a partition only rise: its watermark is the highest one less 1 ms.
   *
   * @example builder.stream('readings', { watermarks: watermarks.monotonous() })
   */
  monotonous(options?: WatermarkOptions): WatermarkStrategy {
    return strategy('monotonous', () => new BoundedOutOfOrderness(0), options);
  },

  /**
   * Records come at most `bound` ms after later ones: the watermark is the highest timestamp less `bound` less 1 ms. It holds nothing back and sorts nothing.
   *
   * @throws MILL_CONFIG_INVALID when the bound is negative
   * @example builder.stream('readings', { watermarks: watermarks.boundedOutOfOrderness(5_000, { idleness: 30_000 }) })
   */
  boundedOutOfOrderness(bound: number, options?: WatermarkOptions): WatermarkStrategy {
    requireMilliseconds('the bound', bound, 0);
    return strategy(`boundedOutOfOrderness(${bound})`, () => new BoundedOutOfOrderness(bound), options);
  },

  /** No watermarks: for sources that only processing time looks at. The source then holds every event-time operator below it back. */
  none(): WatermarkStrategy {
    return strategy('none', () => new NoWatermarks(), {});
  },

  /**
   * Your own generator, periodic (`onPeriodicEmit`) or for each record (`onEvent`).
   *
   * @param createGenerator called once for each partition
   * @example
   * watermarks.custom(() => ({
   *   onEvent: (timestamp, reading: Reading, output) => reading.isFlush && output.emit(timestamp),
   *   onPeriodicEmit: () => undefined,
   * }))
   */
  custom<V>(createGenerator: () => WatermarkGenerator<V>, options?: WatermarkOptions): WatermarkStrategy<V> {
    requireArgument('watermarks.custom: createGenerator', createGenerator, callback, 'MILL_CONFIG_INVALID');
    return Object.freeze({ ...strategy('custom', () => checkedGenerator(createGenerator()), options), readsValues: true });
  },
});

const shape = {
  idleness: anything,
  alignment: { maxDrift: anything, group: text },
  interval: anything,
} satisfies ShapeOf<WatermarkOptions>;

function strategy<V>(name: string, createGenerator: () => WatermarkGenerator<V>, options: WatermarkOptions = {}): WatermarkStrategy<V> {
  requireOptions(`watermarks.${name}`, options, shape);
  const { idleness, alignment, interval = defaultWatermarkInterval } = options;
  if (idleness !== undefined) requireMilliseconds('idleness', idleness, 1);
  if (alignment !== undefined) requireMilliseconds('alignment.maxDrift', alignment.maxDrift, 0);
  requireMilliseconds('interval', interval, 1);
  return Object.freeze({
    name,
    idleTimeout: idleness ?? null,
    maxDrift: alignment?.maxDrift ?? null,
    alignmentGroup: alignment?.group ?? null,
    interval,
    readsValues: false,
    createGenerator,
  });
}

const aGenerator = objectWith('a generator with onEvent and onPeriodicEmit', 'onEvent', 'onPeriodicEmit');

function checkedGenerator<V>(generator: WatermarkGenerator<V>): WatermarkGenerator<V> {
  requireArgument('watermarks.custom: what createGenerator gives', generator, aGenerator, 'MILL_CONFIG_INVALID');
  return generator;
}

function requireMilliseconds(what: string, value: number, least: number): void {
  if (Number.isSafeInteger(value) && value >= least) return;
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `Watermarks: ${what} must be a whole number of milliseconds, at least ${least}, not ${shown(value)}.`,
    {
      details: { value },
    },
  );
}
