import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { PartitionGroup } from './partition-group.js';
import type { TaskEnding } from './task-ending.js';
import type { TaskRecord } from './task-record.js';
import type { NamedOperator, TimeStage } from './time-stages.js';

/**
 * Has the operators of a task emit what they hold back, parents first: at every barrier what waits for it, at the end of the input what waits for time, too. No record is in work
 * meanwhile. After a failure it stays on: the task does nothing more.
 */
export class OperatorFlush {
  isOn = false;

  constructor(
    private readonly operators: readonly NamedOperator[],
    private readonly record: TaskRecord,
    private readonly group: PartitionGroup,
    private readonly ending: TaskEnding,
  ) {}

  /** At a barrier. */
  all(): MaybeAsync {
    this.isOn = true;
    const pending = this.from(0);
    if (pending === undefined) {
      this.isOn = false;
      return;
    }
    return pending.then(() => {
      this.isOn = false;
    });
  }

  /**
   * Final results of one stage, as far as `ending` is not through with it: what operators hold, then their stream-time punctuations once more, at the time that was reached. Returns early
   * when one has more to tell than a portion.
   */
  async endStage({ operators }: TimeStage): Promise<void> {
    const { ending } = this;
    for (const { name, operator, guard } of operators) {
      if (!ending.hasToTell(name)) continue;
      const { streamTime } = this.group;
      this.record.enterTimer(Math.max(0, streamTime));
      this.isOn = true;
      await operator.flush?.();
      this.isOn = false;
      await guard?.punctuate(() => operator.onEndOfInput?.(), Math.max(0, streamTime));
      if (operator.hasMoreResults === true) return;
      // Behind a timer that failed and is given up, at the time that the end has brought.
      while (operator.hasDueTimers === true) await guard?.punctuate(() => operator.onWatermark?.(-Infinity), Math.max(0, streamTime));
      if (streamTime >= 0) for (const fire of ending.punctuatorsOf(name)) await fire(streamTime);
      ending.told(name);
    }
    ending.stageEnded();
  }

  private from(index: number): MaybeAsync {
    const { operators } = this;
    for (let i = index; i < operators.length; i++) {
      const operator = operators[i]?.operator;
      if (operator?.flush === undefined) continue;
      this.record.enterTimer(this.group.streamTime);
      const pending = operator.flush();
      if (pending !== undefined) return pending.then(() => this.from(i + 1));
    }
  }
}
