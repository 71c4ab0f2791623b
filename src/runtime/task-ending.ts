import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Cancellable } from '../processors/operator.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { TaskInput } from './task-options.js';
import type { TimeStage } from './time-stages.js';

type Punctuator = (timestamp: number) => MaybeAsync;

/**
 * How far a task is with the end of its input: not asked for, under way stage by stage, or done. A stage is ended when nothing before it is unfinished, since what the
 * stage before emitted at its end may have gone through asynchronous calls.
 */
export class TaskEnding {
  /** What was done at the end; null before. */
  reached: InputEnd | null = null;
  private asked: InputEnd = 'read';
  private left: readonly TimeStage[] | null = null;
  /** Operators of the first stage left that have ended. */
  operatorsEnded = 0;
  /** Schedules in stream time, by node: they fire once more at the end. */
  private readonly schedules = new Map<string, Set<Punctuator>>();

  private readonly isBounded: boolean;

  /** Goes on where an earlier life of the task was, which may have ended, with nothing to come since. */
  constructor(inputs: readonly TaskInput[]) {
    const [first = null, ...others] = inputs.map(({ ended = null }) => ended);
    if (others.every((ended) => ended === first)) this.reached = first;
    this.isBounded = inputs.some(({ end }) => end !== undefined);
  }

  /** In a bounded run, behind the end: timers of the wall clock fire no more, since nobody waits for what they would bring. */
  get isOver(): boolean {
    return this.isBounded && this.reached !== null;
  }

  /** Asked again, or for less than was done, it changes nothing. */
  request(end: InputEnd, stages: readonly TimeStage[]): void {
    if (this.left !== null || this.reached === 'final' || this.reached === end) return;
    this.asked = end;
    this.left = stages;
    this.operatorsEnded = 0;
  }

  /** A record came: the end is still to come. */
  reset(): void {
    this.left = null;
    this.reached = null;
  }

  /** The stage to end now, or that the end has just been reached; null when there is nothing to do: not asked for, done before, or calls are unfinished. */
  next(unfinished: number): TimeStage | 'reached' | null {
    if (this.left === null) return null;
    const [stage] = this.left;
    if (stage === undefined) {
      if (unfinished > 0) return null;
      this.left = null;
      this.reached = this.asked;
      return 'reached';
    }
    return stage.gates.some(({ size }) => size > 0) ? null : stage;
  }

  /** The first stage that is left has told all that its operators held. */
  stageEnded(): void {
    this.operatorsEnded = 0;
    this.left = this.left?.slice(1) ?? null;
  }

  watch(node: string, punctuator: Punctuator, scheduled: Cancellable): Cancellable {
    const ofNode = this.schedules.get(node) ?? new Set();
    ofNode.add(punctuator);
    this.schedules.set(node, ofNode);
    return {
      cancel: () => {
        ofNode.delete(punctuator);
        scheduled.cancel();
      },
    };
  }

  punctuatorsOf(node: string): readonly Punctuator[] {
    return [...(this.schedules.get(node) ?? [])];
  }
}
