import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { Operator } from '../processors/operator.js';
import { SourceWatermarks, type PartitionWatermark } from '../time/watermarks/source-watermarks.js';
import type { PartitionLag } from './partition-group.js';
import type { RecordQueue } from './record-queue.js';
import type { TaskRecord } from './task-record.js';

interface NamedOperator {
  readonly name: string;
  readonly operator: Operator;
}

/**
 * Event time of one task: takes the watermark of its sources to its operators, parents first, so that what a parent emits reaches its children before they
 * hear of the watermark themselves.
 *
 * A propagation may stop at the deadline and go on in the next slice; the task takes no record before it is done. The watermark is committed with the offsets,
 * so that it is where it was after a restart and no closed window opens again.
 */
export class TaskEventTime {
  /** When watermarks are asked for next, ms of the wall clock. */
  nextEmitAt = 0;
  private readonly sources: SourceWatermarks;
  /** The watermark that the operators have, or are being given. */
  private given = -Infinity;
  /** The operator whose turn it is; -1 when no propagation is under way. */
  private turn = -1;

  /** Null when no source of the task has watermarks. */
  static of(
    queues: readonly RecordQueue[],
    operators: readonly NamedOperator[],
    record: TaskRecord,
    lags: PartitionLag,
    restored: number,
  ): TaskEventTime | null {
    if (!queues.some(({ source }) => source.node.watermarks !== null)) return null;
    return new TaskEventTime(queues, operators, record, lags, restored);
  }

  private constructor(
    private readonly queues: readonly RecordQueue[],
    private readonly operators: readonly NamedOperator[],
    private readonly record: TaskRecord,
    private readonly lags: PartitionLag,
    restored: number,
  ) {
    this.sources = new SourceWatermarks(
      queues.map(({ topic, partition, source }) => ({ topic, partition, strategy: source.node.watermarks })),
      restored,
    );
    queues.forEach(({ partitionTime, source }, index) => {
      if (partitionTime >= 0 && source.node.watermarks?.readsValues === false) this.sources.onEvent(index, partitionTime, null);
    });
    // Before the first record: what was late when the task stopped is late now.
    this.sources.onPeriodicEmit(0, () => false);
    this.given = this.sources.watermark;
  }

  get watermark(): number {
    return this.given;
  }

  /** True when operators have something to hear. */
  get isMoving(): boolean {
    return this.turn >= 0 || this.sources.watermark > this.given;
  }

  /** The record just taken from the queue has been processed. */
  onEvent(queue: RecordQueue): void {
    this.sources.onEvent(this.queues.length === 1 ? 0 : this.queues.indexOf(queue), queue.headTimestamp, queue.headValue);
  }

  /** Asks the generators, and holds or frees the partitions that are too far ahead. */
  onPeriodicEmit(now: number): void {
    this.nextEmitAt = now + this.sources.interval;
    this.sources.onPeriodicEmit(now, this.isAtEnd);
    const ahead = this.sources.tooFarAhead();
    this.queues.forEach((queue, index) => {
      queue.held = ahead.includes(index);
    });
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
    // A generator may have said more meanwhile.
    if (this.sources.watermark > this.given) return this.propagate(deadline);
  }

  explain(): PartitionWatermark[] {
    return this.sources.explain();
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
    return queue !== undefined && queue.isEmpty && this.lags.lag(queue.topic, queue.partition) === 0;
  };
}

function failed(node: string, error: unknown): unknown {
  if (error instanceof MillraceError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new MillraceError('MILL_PROCESSING', `Node ${node} failed at a watermark: ${message}`, { cause: error, details: { node } });
}
