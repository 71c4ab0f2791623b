import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { Operator } from '../processors/operator.js';
import type { Alignment } from '../time/watermarks/alignment.js';
import { SourceWatermarks, type UpstreamMark } from '../time/watermarks/source-watermarks.js';
import type { RepartitionTarget } from '../topology/task-layout.js';
import type { PartitionLag } from './partition-group.js';
import type { RecordQueue } from './record-queue.js';
import type { TaskRecord } from './task-record.js';
import { explainTask, type TaskWatermark } from './watermark-explanation.js';

interface NamedOperator {
  readonly name: string;
  readonly operator: Operator;
}

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
 * Event time of one task: takes the watermark of its sources to its operators, parents first, so that what a parent emits reaches its children before they
 * hear of the watermark themselves, and then, at the barrier, to the tasks downstream.
 *
 * A propagation may stop at the deadline and go on in the next slice; the task takes no record before it is done. The watermark is committed with the offsets,
 * so that it is where it was after a restart and no closed window opens again; so is what upstream tasks have told, since it may have been purged.
 */
export class TaskEventTime {
  /** When watermarks are asked for next, ms of the wall clock. */
  nextEmitAt = 0;
  private readonly sources: SourceWatermarks;
  /** The watermark that the operators have, or are being given. */
  private given = -Infinity;
  /** The watermark that all operators have: everything that follows from it was emitted. */
  private done = -Infinity;
  /** The operator whose turn it is; -1 when no propagation is under way. */
  private turn = -1;
  /** What the tasks downstream were told last. */
  private told: UpstreamMark = { watermark: -Infinity, idle: false };
  private toldAt: number;

  /** Null when no source of the task has watermarks. */
  static of(
    queues: readonly RecordQueue[],
    operators: readonly NamedOperator[],
    record: TaskRecord,
    lags: PartitionLag,
    alignment: Alignment,
    start: EventTimeStart,
  ): TaskEventTime | null {
    const time = new TaskEventTime(queues, operators, record, lags, alignment, start);
    return time.sources.isPresent ? time : null;
  }

  private constructor(
    private readonly queues: readonly RecordQueue[],
    private readonly operators: readonly NamedOperator[],
    private readonly record: TaskRecord,
    private readonly lags: PartitionLag,
    private readonly alignment: Alignment,
    private readonly start: EventTimeStart,
  ) {
    const { now, inputs, watermark } = start;
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
    this.given = this.sources.watermark;
    this.done = this.given;
    if (start.targets.length === 0 || this.given === -Infinity) return;
    // The task may have been stopped in the middle of a propagation: downstream hears of the watermark when all that follows from it was emitted.
    this.done = -Infinity;
    this.turn = 0;
  }

  get watermark(): number {
    return this.given;
  }

  /** The lowest watermark that has come in, whether or not operators have heard of it. */
  get inputWatermark(): number {
    return this.sources.watermark;
  }

  /** True when operators have something to hear. */
  get isMoving(): boolean {
    return this.turn >= 0 || this.sources.watermark > this.given;
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
    const ahead = this.sources.tooFarAhead(this.alignment);
    this.queues.forEach((queue, index) => {
      queue.held = ahead.includes(index);
    });
  }

  /** The bounded input is read to its end: no more records come from the partitions with a strategy of their own. */
  end(): void {
    this.sources.end();
  }

  /** Takes the watermark on until all operators have it, or until `deadline` (ms of `performance.now()`), but by one portion at least. */
  propagate(deadline: number): MaybeAsync {
    if (this.turn < 0) {
      if (this.sources.watermark <= this.given) return;
      this.given = this.sources.watermark;
      this.turn = 0;
    }
    for (let node = this.operators[this.turn]; node !== undefined; node = this.operators[this.turn]) {
      const { operator } = node;
      if (operator.onWatermark !== undefined) {
        this.record.enterTimer(Math.max(0, Math.min(this.given, Number.MAX_SAFE_INTEGER)));
        const pending = this.tell(node, operator.onWatermark.bind(operator));
        if (pending !== undefined) return pending.then(() => this.goOn(operator, deadline));
        if (operator.hasDueTimers === true) {
          if (performance.now() >= deadline) return;
          continue;
        }
      }
      this.turn++;
    }
    this.turn = -1;
    this.done = this.given;
    // A generator may have said more meanwhile.
    if (this.sources.watermark > this.given) return this.propagate(deadline);
  }

  /** Whether the tasks downstream have something to hear. */
  hasNews(now: number): boolean {
    if (this.start.targets.length === 0) return false;
    const { watermark, idle } = this.news();
    if (watermark > this.told.watermark || idle !== this.told.idle) return true;
    return (watermark !== -Infinity || idle) && now - this.toldAt >= this.start.repeatEvery;
  }

  /** Takes note that it is told. */
  takeNews(now: number): UpstreamMark {
    this.told = this.news();
    this.toldAt = now;
    return this.told;
  }

  /** Where the tasks hear it. */
  get targets(): readonly RepartitionTarget[] {
    return this.start.targets;
  }

  explain(taskId: string, now: number): TaskWatermark {
    return explainTask(taskId, this.given, this.sources.explain(), { queues: this.queues, lags: this.lags, now });
  }

  close(): void {
    this.alignment.close();
  }

  private news(): UpstreamMark {
    return { watermark: this.done, idle: this.sources.isIdle && !this.isMoving };
  }

  private hear(index: number, marks: ReadonlyMap<string, UpstreamMark>, now: number): void {
    for (const [task, mark] of marks) this.sources.hear(index, task, mark, now);
  }

  /** Errors of user functions get the node's name. */
  private tell(node: NamedOperator, onWatermark: (watermark: number) => MaybeAsync): MaybeAsync {
    try {
      return onWatermark(this.given)?.catch((error: unknown) => {
        throw failed(node.name, error);
      });
    } catch (error) {
      throw failed(node.name, error);
    }
  }

  private goOn(operator: Operator, deadline: number): MaybeAsync {
    if (operator.hasDueTimers !== true) this.turn++;
    else if (performance.now() >= deadline) return;
    return this.propagate(deadline);
  }

  /** Read to its end as far as the brokers are known to have it: a partition that is behind, held or not looked at yet is slow and not idle. */
  private readonly isAtEnd = (index: number): boolean => {
    const queue = this.queues[index];
    return queue !== undefined && !queue.held && queue.isEmpty && this.lags.isAtEnd(queue.topic, queue.partition);
  };
}

function failed(node: string, error: unknown): unknown {
  if (error instanceof MillraceError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new MillraceError('MILL_PROCESSING', `Node ${node} failed at a watermark: ${message}`, { cause: error, details: { node } });
}
