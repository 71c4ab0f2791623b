/**
 * The watermark of one task: the minimum over the partitions it reads, each with a generator of its own, so that a fast partition never makes the records of
 * a slow one late. Partitions of sources without a strategy do not take part.
 *
 * The task calls `onEvent` for each record and `onPeriodicEmit` by the clock and before each barrier, and looks at `watermark` afterwards.
 */
import { aheadOfDrift } from './alignment.js';
import { GeneratorWithIdleness } from './generator-with-idleness.js';
import { WatermarkCombiner } from './watermark-combiner.js';
import { defaultWatermarkInterval, type WatermarkStrategy } from './watermark-strategy.js';
import { endOfTime, noWatermark, type WatermarkOutput } from './watermark.js';

export interface WatermarkedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly strategy: WatermarkStrategy<never> | null;
}

/** One partition's part in a task's watermark. */
export interface PartitionWatermark {
  readonly topic: string;
  readonly partition: number;
  readonly watermark: number;
  readonly idle: boolean;
  /** Since when no record came, ms of the wall clock; null when records come or there is no idle timeout. */
  readonly quietSince: number | null;
}

interface Member {
  readonly partition: WatermarkedPartition;
  readonly generator: GeneratorWithIdleness<unknown>;
  readonly output: WatermarkOutput;
}

export class SourceWatermarks {
  /** ms; the shortest of the strategies. */
  readonly interval: number;
  private readonly combiner: WatermarkCombiner;
  private readonly members: readonly (Member | null)[];

  /** @param restored the watermark of an earlier life of the task, `noWatermark` when there is none */
  constructor(partitions: readonly WatermarkedPartition[], restored = noWatermark) {
    this.combiner = new WatermarkCombiner(ignoring, 'hold');
    this.members = partitions.map((partition, index) => this.member(partition, index));
    this.combiner.restore(restored);
    this.interval = partitions.reduce(
      (shortest, { strategy }) => Math.min(shortest, strategy?.interval ?? Infinity),
      this.isPresent ? Infinity : defaultWatermarkInterval,
    );
  }

  /** False when no partition has a strategy: there are no watermarks in this task. */
  get isPresent(): boolean {
    return this.members.some((member) => member !== null);
  }

  get watermark(): number {
    return this.combiner.watermark;
  }

  get isIdle(): boolean {
    return this.combiner.isIdle;
  }

  /** @param index the partition, as in the constructor */
  onEvent(index: number, timestamp: number, value: unknown): void {
    const member = this.members[index];
    if (member !== null && member !== undefined) member.generator.onEvent(timestamp, value, member.output);
  }

  /** @param atEnd whether the partition of that index is read to its end and not paused */
  onPeriodicEmit(now: number, atEnd: (index: number) => boolean): void {
    for (let index = 0; index < this.members.length; index++) {
      const member = this.members[index];
      if (member !== null && member !== undefined) member.generator.onPeriodicEmit(now, atEnd(index), member.output);
    }
  }

  /** The input is bounded and read: every window may close. */
  end(): void {
    this.members.forEach((member, index) => {
      if (member !== null) this.combiner.advance(index, endOfTime);
    });
  }

  /** Indexes of the partitions to pause, by the strategies' alignment. */
  tooFarAhead(): number[] {
    const drift = this.members.reduce((least, member) => Math.min(least, member?.partition.strategy?.maxDrift ?? Infinity), Infinity);
    if (drift === Infinity) return [];
    const aligned = this.indexes.flatMap((id) => {
      const { partition, generator } = this.members[id] as Member;
      if (partition.strategy?.maxDrift === null) return [];
      return [{ id, watermark: this.combiner.watermarkOf(id), idle: generator.isIdle }];
    });
    return aheadOfDrift(aligned, drift);
  }

  /** Every partition with a strategy: the lowest watermark of those not idle holds the task's back. */
  explain(): PartitionWatermark[] {
    return this.indexes.map((index) => {
      const { partition, generator } = this.members[index] as Member;
      const { isIdle: idle, quietSince } = generator;
      return { topic: partition.topic, partition: partition.partition, watermark: this.combiner.watermarkOf(index), idle, quietSince };
    });
  }

  private get indexes(): number[] {
    return this.members.flatMap((member, index) => (member === null ? [] : [index]));
  }

  private member(partition: WatermarkedPartition, index: number): Member | null {
    const { strategy } = partition;
    if (strategy === null) return null;
    this.combiner.add(index);
    const { combiner } = this;
    return {
      partition,
      generator: new GeneratorWithIdleness(strategy.createGenerator(), strategy.idleTimeout),
      output: {
        emit: (watermark) => combiner.advance(index, watermark),
        markIdle: () => combiner.idle(index),
        markActive: () => combiner.active(index),
      },
    };
  }
}

/** The task reads `watermark` after each call; nobody has to be told. */
const ignoring: WatermarkOutput = { emit: () => undefined, markIdle: () => undefined, markActive: () => undefined };
