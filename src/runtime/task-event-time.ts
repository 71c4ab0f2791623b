import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Alignment } from '../time/watermarks/alignment.js';
import { SourceWatermarks, type UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { RepartitionTarget } from '../topology/task-layout.js';
import type { PartitionLag } from './partition-group.js';
import type { RecordQueue } from './record-queue.js';
import type { TaskRecord } from './task-record.js';
import type { TimeStage } from './time-stages.js';
import { explainTask, type TaskWatermark } from './watermark-explanation.js';
import { WatermarkWalk } from './watermark-walk.js';

/** What an earlier life of the task left behind, and who tells it of event time. */
export interface EventTimeStart {
  /** Watermark of the task when it was committed, -Infinity when there was none. */
  readonly watermark: number;
  /** For each input: the tasks that send their watermarks through it, and what they had told. */
  readonly inputs: readonly { readonly senders: readonly string[]; readonly marks: ReadonlyMap<string, UpstreamMark> }[];
  /** Repartition topics through which the task sends its own. */
  readonly targets: readonly RepartitionTarget[];
  /** How often the task says again what it has said, ms; Infinity: only what is new. */
  readonly repeatEvery: number;
  readonly now: number;
}

/**
 * Event time of one task: takes the watermark of its sources to its operators, stage by stage and parents first, so that what a parent emits reaches its children
 * before they hear of the watermark themselves, and then, at the barrier, to the tasks downstream. A stage behind an operator with unfinished records hears of it once
 * the records that came before it are finished.
 *
 * A propagation may stop at the deadline and go on in the next slice; the task takes no record before it is done. The watermark of the first stage is
 * committed with the offsets, so that it is where it was after a restart and no closed window opens again; that of the others follows from it and from their
 * unfinished records. So is what upstream tasks have told, since it may have been purged.
 */
export class TaskEventTime {
  /** When watermarks are asked for next, ms of the wall clock. */
  nextEmitAt = 0;
  private readonly sources: SourceWatermarks;
  private readonly walks: readonly WatermarkWalk[];
  /** What the tasks downstream were told last. */
  private told: UpstreamMark = { watermark: -Infinity, idle: false };
  private toldAt: number;

  /** Null when no source of the task has watermarks. */
  static of(
    queues: readonly RecordQueue[],
    stages: readonly TimeStage[],
    record: TaskRecord,
    lags: PartitionLag,
    alignment: Alignment,
    start: EventTimeStart,
  ): TaskEventTime | null {
    const time = new TaskEventTime(queues, stages, record, lags, alignment, start);
    return time.sources.isPresent ? time : null;
  }

  private constructor(
    private readonly queues: readonly RecordQueue[],
    stages: readonly TimeStage[],
    record: TaskRecord,
    private readonly lags: PartitionLag,
    private readonly alignment: Alignment,
    private readonly origin: EventTimeStart,
  ) {
    const { now, inputs, watermark } = origin;
    this.toldAt = now;
    this.sources = new SourceWatermarks(
      queues.map(({ topic, partition, source }, index) => ({
        topic,
        partition,
        strategy: source.node.watermarks,
        senders: inputs[index]?.senders ?? [],
      })),
      watermark,
      now,
    );
    queues.forEach(({ partitionTime, source }, index) => {
      if (partitionTime >= 0 && source.node.watermarks?.readsValues === false) this.sources.onEvent(index, partitionTime, null);
    });
    // Before the first record: what was late when the task stopped is late now.
    this.sources.onPeriodicEmit(now, () => false);
    inputs.forEach(({ marks }, index) => this.hear(index, marks, now));
    this.walks = stages.map((stage) => new WatermarkWalk(stage, record));
    this.start();
  }

  /** Called again when the operators are initialised and know their unfinished records. */
  start(): void {
    for (const walk of this.walks) {
      const watermark = walk.stage.watermark(this.sources.watermark);
      walk.startAt(watermark);
      // The task may have been stopped in the middle of a propagation: downstream hears of the watermark when all that follows from it was emitted.
      if (this.origin.targets.length > 0 && watermark !== -Infinity) walk.beginAgain();
    }
  }

  /** Of the first stage. */
  get watermark(): number {
    return this.walks[0]?.given ?? -Infinity;
  }

  /** Holds before `start` too: operators ask when they are initialised, after those that hold them back. */
  watermarkOf(stage: TimeStage): number {
    return stage.watermark(this.walkOf(stage)?.given ?? -Infinity);
  }

  /** The last watermark before which the stage has emitted everything: a record that comes now comes after it. */
  passedBy(stage: TimeStage): number {
    return this.walkOf(stage)?.done ?? -Infinity;
  }

  /** The lowest watermark that has come in, whether or not operators have heard of it. */
  get inputWatermark(): number {
    return this.sources.watermark;
  }

  /** The last watermark before which every stage has emitted everything: what the tasks downstream are told. */
  get outputWatermark(): number {
    let watermark = Infinity;
    for (const { done } of this.walks) watermark = Math.min(watermark, done);
    return watermark;
  }

  /** How far the foremost of its aligned partitions is ahead of the slowest that it is aligned with, ms; null when none is aligned, or has a watermark. */
  get alignmentDrift(): number | null {
    return this.alignment.drift(this.sources.aligned(this.hasEnded));
  }

  /** True when operators have something to hear. */
  get isMoving(): boolean {
    for (let i = 0; i < this.walks.length; i++) {
      const walk = this.walks[i] as WatermarkWalk;
      if (walk.isUnderWay || this.targetOf(walk, i) > walk.given) return true;
    }
    return false;
  }

  /** The record just taken from the queue has been processed. */
  onEvent(queue: RecordQueue): void {
    this.sources.onEvent(this.queues.length === 1 ? 0 : this.queues.indexOf(queue), queue.headTimestamp, queue.headValue);
  }

  /** Upstream tasks have told where they are. */
  hearThrough(queue: RecordQueue, marks: ReadonlyMap<string, UpstreamMark>, now: number): void {
    this.hear(this.queues.indexOf(queue), marks, now);
  }

  /** The tasks that write a repartition topic, as topics are now. */
  setSenders(index: number, senders: readonly string[], now: number): void {
    this.sources.setSenders(index, senders, now);
  }

  /** What upstream tasks have told through the input of that index. */
  marks(index: number): ReadonlyMap<string, UpstreamMark> {
    return this.sources.marks(index);
  }

  /** Asks the generators, and holds or frees the partitions that are too far ahead. */
  onPeriodicEmit(now: number): void {
    this.nextEmitAt = now + this.sources.interval;
    this.sources.onPeriodicEmit(now, this.isAtEnd);
    const ahead = this.sources.tooFarAhead(this.alignment, this.hasEnded);
    this.queues.forEach((queue, index) => {
      queue.held = ahead.includes(index);
    });
  }

  /** Takes the watermark on until all operators have it, or until `deadline` (ms of `performance.now()`), but by one portion at least. */
  propagate(deadline: number): MaybeAsync {
    for (let i = 0; i < this.walks.length; i++) {
      const walk = this.walks[i] as WatermarkWalk;
      // A generator may have said more meanwhile.
      for (let target = this.targetOf(walk, i); walk.isUnderWay || target > walk.given; target = this.targetOf(walk, i)) {
        if (!walk.isUnderWay) walk.begin(target);
        const pending = walk.goOn(deadline);
        if (pending !== undefined) return pending.then(() => (walk.isUnderWay ? undefined : this.propagate(deadline)));
        if (walk.isUnderWay) return;
      }
    }
  }

  /** Whether the tasks downstream have something to hear. */
  hasNews(now: number): boolean {
    if (this.origin.targets.length === 0) return false;
    const { watermark, idle } = this.news();
    if (watermark > this.told.watermark || idle !== this.told.idle) return true;
    return (watermark !== -Infinity || idle) && now - this.toldAt >= this.origin.repeatEvery;
  }

  /** Takes note that it is told. */
  takeNews(now: number): UpstreamMark {
    this.told = this.news();
    this.toldAt = now;
    return this.told;
  }

  /** Where the tasks hear it. */
  get targets(): readonly RepartitionTarget[] {
    return this.origin.targets;
  }

  explain(taskId: string, now: number, wallClock: number): TaskWatermark {
    return explainTask(taskId, this.watermark, this.sources.explain(), { queues: this.queues, lags: this.lags, now, wallClock });
  }

  close(): void {
    this.alignment.close();
  }

  private news(): UpstreamMark {
    return { watermark: this.outputWatermark, idle: this.sources.isIdle && !this.isMoving };
  }

  private hear(index: number, marks: ReadonlyMap<string, UpstreamMark>, now: number): void {
    for (const [task, mark] of marks) this.sources.hear(index, task, mark, now);
  }

  /** What the first stage has had is what may come to the others. */
  private targetOf(walk: WatermarkWalk, index: number): number {
    return index === 0 ? this.sources.watermark : walk.stage.watermark(this.walks[0]?.done ?? -Infinity);
  }

  private walkOf(stage: TimeStage): WatermarkWalk | undefined {
    return this.walks.length === 1 ? this.walks[0] : this.walks.find((walk) => walk.stage === stage);
  }

  /** The bound of a bounded run is reached. */
  private readonly hasEnded = (index: number): boolean => this.queues[index]?.hasEnded === true;

  /** Read to its end as far as the brokers are known to have it: a partition that is behind, held or not looked at yet is slow and not idle. */
  private readonly isAtEnd = (index: number): boolean => {
    const queue = this.queues[index];
    if (queue === undefined || queue.held) return false;
    return queue.hasEnded || (queue.isEmpty && this.lags.isAtEnd(queue.topic, queue.partition));
  };
}
