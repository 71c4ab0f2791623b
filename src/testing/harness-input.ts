/** One input of a harness: records and watermarks in one topic, in the order in which they were pushed, as they travel between operators in Flink. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { anything, requireOptions, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
import type { Serde } from '../serdes/serde.js';
import { watermarks, type WatermarkStrategy } from '../time/watermarks/watermark-strategy.js';
import type { TestInputTopic } from './test-input-topic.js';
import { serialized } from '../serdes/serialized.js';

/** For `push` of a harness. */
export interface HarnessPushOptions {
  /** ms since the epoch. Default: the clock. */
  readonly timestamp?: number;
  /** Default: by the key, 0 without one. Another one is for operators without state by key, which would lie where no record of its key goes. */
  readonly partition?: number;
}

/** For `pushWatermark` of a harness. */
export interface HarnessWatermarkOptions {
  /** The one whose watermark it is. Default: all. */
  readonly partition?: number;
}

/** Where a harness takes records and watermarks in. */
export class HarnessInput<K, V> {
  private readonly pushed: number[];

  /**
   * @internal
   * @param restored the watermarks that a snapshot has brought, by partition
   */
  constructor(
    private readonly topic: TestInputTopic<K, V | PushedWatermark>,
    parallelism: number,
    restored: readonly number[],
    private readonly ready: () => Promise<void>,
  ) {
    this.pushed = Array.from({ length: parallelism }, (_, partition) => restored[partition] ?? -Infinity);
  }

  /**
   * Processes one record, and what follows from it.
   *
   * @throws what the operator throws; MILL_STATE_INVALID when it has failed before; MILL_CONFIG_INVALID, MILL_TOPIC_MISSING for wrong options
   */
  async push(key: K | null, value: V | null, options: HarnessPushOptions = {}): Promise<void> {
    requireOptions('push', options, pushShape, 'MILL_CONFIG_INVALID');
    await this.ready();
    await this.topic.pipe(key, value, options);
  }

  /**
   * Moves event time of this input to `time`, ms since the epoch, and fires what is due. One that is not higher than the last does nothing.
   *
   * @param options `partition`: of this input, alone. Each task goes by those of its own partition, the lowest over its inputs; behind a repartition topic by the lowest of all. Default: all
   * @throws as `push`
   */
  async pushWatermark(time: number, options: HarnessWatermarkOptions = {}): Promise<void> {
    requireOptions('pushWatermark', options, { partition: wholeNumber }, 'MILL_CONFIG_INVALID');
    if (typeof time !== 'number' || Number.isNaN(time))
      throw new MillraceError('MILL_CONFIG_INVALID', `pushWatermark takes milliseconds, not ${String(time)}.`);
    await this.ready();
    await this.passWatermark(time, options.partition);
  }

  /** ms; the lowest over the partitions of this input. -Infinity before the first. */
  get watermark(): number {
    return Math.min(...this.pushed);
  }

  /** @internal By partition. */
  get partitions(): readonly number[] {
    return [...this.pushed];
  }

  /** @internal */
  async passWatermark(time: number, partition?: number): Promise<void> {
    const partitions = partition === undefined ? this.pushed.map((_, index) => index) : [partition];
    const value = new PushedWatermark(time);
    await this.topic.pipeAll(partitions.map((index) => ({ key: null, value, partition: index, timestamp: 0 })));
    for (const index of partitions) this.pushed[index] = Math.max(time, this.pushed[index] ?? -Infinity);
  }
}

const pushShape = { timestamp: anything, partition: wholeNumber } satisfies ShapeOf<HarnessPushOptions>;

/** In the place of a value. */
export class PushedWatermark {
  constructor(readonly time: number) {}
}

const [recordTag, watermarkTag] = [0, 1];

export function harnessValueSerde<V>(serde: Serde<V>): Serde<V | PushedWatermark> {
  return {
    name: `harness(${serde.name})`,
    prepare: async (use) => serde.prepare?.(use),
    serialize: (value) => {
      if (!(value instanceof PushedWatermark)) return Buffer.concat([Buffer.from([recordTag]), serialized(serde, value)]);
      const bytes = Buffer.alloc(9, watermarkTag);
      bytes.writeDoubleBE(value.time, 1);
      return bytes;
    },
    deserialize: (bytes) => {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      if (buffer[0] === watermarkTag) return new PushedWatermark(buffer.readDoubleBE(1));
      const value = serde.deserialize(buffer.subarray(1));
      if (!isPromiseLike(value)) return value;
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `TestHarness: serde ${serde.name} gave a promise; a harness takes serdes that answer at once.`,
      );
    },
  };
}

/**
 * Nothing but what is pushed moves event time.
 *
 * @param idleness ms of the clock; null: inputs are never idle
 */
export function pushedWatermarks(idleness: number | null): WatermarkStrategy {
  return watermarks.custom<unknown>(
    () => ({
      onEvent: (_timestamp, value, output) => {
        if (value instanceof PushedWatermark) output.emit(value.time);
      },
      onPeriodicEmit: () => undefined,
    }),
    idleness === null ? {} : { idleness },
  );
}
