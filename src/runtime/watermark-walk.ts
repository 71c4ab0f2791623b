import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Operator } from '../processors/operator.js';
import type { TaskRecord } from './task-record.js';
import type { NamedOperator, TimeStage } from './time-stages.js';

/**
 * Takes a watermark to the operators of one stage, parents first, so that what a parent emits reaches its children before they hear of the watermark themselves. A
 * walk may stop at the deadline and go on later.
 */
export class WatermarkWalk {
  /** The watermark that the operators have, or are being given. */
  given = -Infinity;
  /** The last one that all of them have. */
  done = -Infinity;
  /** The time of what a watermark sets off, ms. "Nothing more comes" is no time: then that of the watermark before. */
  private time = 0;
  /** The operator whose turn it is; -1 when none is. */
  private turn = -1;

  constructor(
    readonly stage: TimeStage,
    private readonly record: TaskRecord,
  ) {}

  get isUnderWay(): boolean {
    return this.turn >= 0;
  }

  /** Where the stage stands when the task is opened. */
  startAt(watermark: number): void {
    this.give(watermark);
    this.done = watermark;
  }

  /** Gives it to the operators once more: what an earlier life had not come to. */
  beginAgain(): void {
    this.done = -Infinity;
    this.turn = 0;
  }

  begin(watermark: number): void {
    this.give(watermark);
    this.turn = 0;
  }

  /** Goes on until all operators have the watermark, or until `deadline` (ms of `performance.now()`), but by one portion at least. */
  goOn(deadline: number): MaybeAsync {
    const { operators } = this.stage;
    for (let node = operators[this.turn]; node !== undefined; node = operators[this.turn]) {
      const { operator } = node;
      if (operator.onWatermark !== undefined) {
        this.record.enterTimer(this.time);
        const pending = this.tell(node);
        if (pending !== undefined) return pending.then(() => this.afterPortion(operator, deadline));
        if (operator.hasDueTimers === true) {
          if (performance.now() >= deadline) return;
          continue;
        }
      }
      this.turn++;
    }
    this.turn = -1;
    this.done = this.given;
  }

  private give(watermark: number): void {
    this.given = watermark;
    if (Number.isFinite(watermark)) this.time = Math.max(0, Math.floor(watermark));
  }

  private afterPortion(operator: Operator, deadline: number): MaybeAsync {
    if (operator.hasDueTimers !== true) this.turn++;
    else if (performance.now() >= deadline) return;
    return this.goOn(deadline);
  }

  /** An error in what the watermark sets off is decided on as that of any timer; what else is due goes on with the next call. */
  private tell({ operator, guard }: NamedOperator): MaybeAsync {
    const tell = (): MaybeAsync => operator.onWatermark?.(this.given);
    return guard === null ? tell() : guard.punctuate(tell, this.record.timestamp);
  }
}
