/**
 * The watermark of one task: the minimum over the partitions it reads, each with a generator of its own, so that a fast partition never makes the records of
 * a slow one late; and over the tasks that write the repartition topics it reads, as far as they have told. Sources that say nothing do not take part.
 *
 * The task calls `onEvent` for each record, `hear` for each word of an upstream task and `onPeriodicEmit` by the clock and before each barrier, and looks at
 * `watermark` afterwards. An upstream task that has not been heard of holds the watermark where it is: no window closes before everybody has spoken.
 */
import { shown } from '../../errors/checked-options.js';
import { MillraceError } from '../../errors.js';
import type { Alignment, AlignmentMember } from './alignment.js';
import { GeneratorWithIdleness } from './generator-with-idleness.js';
import { WatermarkCombiner } from './watermark-combiner.js';
import { defaultWatermarkInterval, type WatermarkStrategy } from './watermark-strategy.js';
import { noWatermark, type WatermarkOutput } from './watermark.js';

export interface WatermarkedPartition {
  readonly topic: string;
  readonly partition: number;
  readonly strategy: WatermarkStrategy<never> | null;
  /** Tasks whose watermarks come through the partition. */
  readonly senders?: readonly string[];
}

/** What an upstream task has told of itself. */
export interface UpstreamMark {
  readonly watermark: number;
  readonly idle: boolean;
}

/** One partition's or upstream task's part in a task's watermark. */
export interface WatermarkPart {
  /** Of the task's partitions, as in the constructor. */
  readonly index: number;
  readonly topic: string;
  readonly partition: number;
  /** The upstream task that told; null for a partition with a strategy of its own. */
  readonly sender: string | null;
  readonly watermark: number;
  readonly idle: boolean;
  /** Whether the upstream task has told anything; true for partitions. */
  readonly heard: boolean;
  /** Since when the watermark is where it is, ms of the wall clock. */
  readonly since: number;
  /** Since when no record came although the partition is read to its end, ms of the wall clock; null when records come or there is no idle timeout. */
  readonly quietSince: number | null;
  /** ms; null: never idle by itself. */
  readonly idleTimeout: number | null;
}

interface Part {
  readonly id: string;
  readonly index: number;
  watermark: number;
  since: number;
}

interface PartitionPart extends Part {
  readonly partition: WatermarkedPartition;
  readonly strategy: WatermarkStrategy<never>;
  readonly generator: GeneratorWithIdleness<unknown>;
  readonly output: WatermarkOutput;
}

interface SenderPart extends Part {
  readonly task: string;
  heard: boolean;
  idle: boolean;
}

export class SourceWatermarks {
  /** ms; the shortest of the strategies. */
  readonly interval: number;
  /** Members are `<index>` for partitions and `<index>/<task>` for upstream tasks. */
  private readonly combiner: WatermarkCombiner<string>;
  private readonly own: readonly (PartitionPart | null)[];
  private readonly senders = new Map<string, SenderPart>();

  /**
   * @param restored the watermark of an earlier life of the task, `noWatermark` when there is none
   * @param now ms of the wall clock
   */
  constructor(
    private readonly partitions: readonly WatermarkedPartition[],
    restored = noWatermark,
    now = 0,
  ) {
    this.combiner = new WatermarkCombiner(ignoring, 'hold');
    this.own = partitions.map((partition, index) => this.ownPart(partition, index, now));
    partitions.forEach(({ senders = [] }, index) => {
      for (const task of senders) this.addSender(index, task, now);
    });
    this.combiner.restore(restored);
    const shortest = partitions.reduce((least, { strategy }) => Math.min(least, strategy?.interval ?? Infinity), Infinity);
    this.interval = shortest === Infinity ? defaultWatermarkInterval : shortest;
  }

  /** False when nothing says anything about event time: there are no watermarks in this task. */
  get isPresent(): boolean {
    return this.senders.size > 0 || this.own.some((part) => part !== null);
  }

  get watermark(): number {
    return this.combiner.watermark;
  }

  get isIdle(): boolean {
    return this.combiner.isIdle;
  }

  /** @param index the partition, as in the constructor */
  onEvent(index: number, timestamp: number, value: unknown): void {
    const part = this.own[index];
    if (part !== null && part !== undefined) part.generator.onEvent(timestamp, value, part.output);
  }

  /** @param atEnd whether the partition of that index is read to its end and not paused */
  onPeriodicEmit(now: number, atEnd: (index: number) => boolean): void {
    for (let index = 0; index < this.own.length; index++) {
      const part = this.own[index];
      if (part === null || part === undefined) continue;
      part.generator.onPeriodicEmit(now, atEnd(index), part.output);
      this.note(part, now);
    }
  }

  /**
   * An upstream task has told its watermark through the partition. One that this task does not know of (yet) is left out: it is not part of the topology as
   * this instance last saw it.
   */
  hear(index: number, task: string, { watermark, idle }: UpstreamMark, now: number): void {
    const sender = this.senders.get(senderId(index, task));
    if (sender === undefined) return;
    sender.heard = true;
    sender.idle = idle;
    if (!idle) this.combiner.active(sender.id);
    this.combiner.advance(sender.id, watermark);
    if (idle) this.combiner.idle(sender.id);
    this.note(sender, now);
  }

  /** The tasks that write the partition, after topics have changed: new ones hold the watermark until they are heard of, those that are gone no longer do. */
  setSenders(index: number, tasks: readonly string[], now: number): void {
    const expected = new Set(tasks.map((task) => senderId(index, task)));
    for (const sender of [...this.senders.values()]) {
      if (sender.index !== index || expected.has(sender.id)) continue;
      this.combiner.remove(sender.id);
      this.senders.delete(sender.id);
    }
    for (const task of tasks) if (!this.senders.has(senderId(index, task))) this.addSender(index, task, now);
  }

  /** What upstream tasks have told through the partition: to be committed with its offset. */
  marks(index: number): Map<string, UpstreamMark> {
    const marks = new Map<string, UpstreamMark>();
    for (const { index: of, task, heard, watermark, idle } of this.senders.values())
      if (of === index && heard) marks.set(task, { watermark, idle });
    return marks;
  }

  /**
   * The watermarks that alignment compares, by the group of their strategies.
   *
   * @param hasEnded whether nothing more comes of the partition of that index: it stays where it is, and waiting for it would have no end
   */
  aligned(
    hasEnded: (index: number) => boolean = never,
  ): { readonly group: string | null; readonly maxDrift: number; readonly member: AlignmentMember<number> }[] {
    return this.own.flatMap((part) => {
      if (part === null || part.strategy.maxDrift === null) return [];
      const { index, strategy, generator, id } = part;
      const member = { id: index, watermark: this.combiner.watermarkOf(id), idle: generator.isIdle || hasEnded(index) };
      return [{ group: strategy.alignmentGroup, maxDrift: part.strategy.maxDrift, member }];
    });
  }

  /** Indexes of the partitions to pause. */
  tooFarAhead(alignment: Alignment, hasEnded: (index: number) => boolean = never): number[] {
    return alignment.tooFarAhead(this.aligned(hasEnded));
  }

  /** Everything that takes part: the lowest watermark of those not idle holds the task's back. */
  explain(): WatermarkPart[] {
    const parts: WatermarkPart[] = [];
    this.partitions.forEach(({ topic, partition }, index) => {
      const place = { index, topic, partition };
      const own = this.own[index];
      if (own !== null && own !== undefined) {
        const { generator, strategy, since, watermark } = own;
        const { isIdle: idle, quietSince } = generator;
        parts.push({ ...place, sender: null, heard: true, watermark, idle, since, quietSince, idleTimeout: strategy.idleTimeout });
      }
      for (const { index: of, task, heard, watermark, idle, since } of this.senders.values()) {
        if (of === index) parts.push({ ...place, sender: task, heard, watermark, idle, since, quietSince: null, idleTimeout: null });
      }
    });
    return parts;
  }

  private note(part: Part, now: number): void {
    const watermark = this.combiner.watermarkOf(part.id);
    if (watermark === part.watermark) return;
    part.watermark = watermark;
    part.since = now;
  }

  private addSender(index: number, task: string, now: number): void {
    const id = senderId(index, task);
    this.combiner.add(id);
    this.senders.set(id, { id, index, task, heard: false, idle: false, watermark: noWatermark, since: now });
  }

  private ownPart(partition: WatermarkedPartition, index: number, since: number): PartitionPart | null {
    const { strategy } = partition;
    if (strategy === null) return null;
    const { combiner } = this;
    const id = String(index);
    combiner.add(id);
    return {
      id,
      index,
      watermark: noWatermark,
      since,
      partition,
      strategy,
      generator: new GeneratorWithIdleness(strategy.createGenerator(), strategy.idleTimeout),
      output: {
        emit: (watermark) => {
          requireWatermark(watermark, partition);
          combiner.advance(id, watermark);
        },
        markIdle: () => combiner.idle(id),
        markActive: () => combiner.active(id),
      },
    };
  }
}

/** What is no number would count as lower than nothing and higher than all: every window would close. */
function requireWatermark(watermark: unknown, { topic, partition }: WatermarkedPartition): void {
  if (typeof watermark === 'number' && !Number.isNaN(watermark)) return;
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `The watermark generator of ${topic}-${partition} emits ${shown(watermark)}: a watermark is a number of milliseconds.`,
    { details: { topic, partition } },
  );
}

function senderId(index: number, task: string): string {
  return `${index}/${task}`;
}

const never = (): boolean => false;

/** The task reads `watermark` after each call; nobody has to be told. */
const ignoring: WatermarkOutput = { emit: () => undefined, markIdle: () => undefined, markActive: () => undefined };
