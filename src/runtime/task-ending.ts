import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Cancellable } from '../processors/operator.js';
import type { InputEnd } from '../transactions/committed-metadata.js';
import type { Topology } from '../topology/nodes.js';
import type { RecordQueue } from './record-queue.js';
import type { TaskInput } from './task-options.js';
import type { TimeStage } from './time-stages.js';

type Punctuator = (timestamp: number) => MaybeAsync;

/**
 * How far a task is with the end of its input: not asked for, under way stage by stage, or done. A stage is ended when nothing before it is unfinished, since what the
 * stage before emitted at its end may have gone through asynchronous calls.
 *
 * A record that comes after the end brings it about again, for those operators alone that the record may have come to. The others have told what they hold: to tell it once more would have no
 * end where results come back as records, as those of foreign-key joins do.
 */
export class TaskEnding {
  /** What was done at the end; null before. */
  reached: InputEnd | null = null;
  private asked: InputEnd = 'read';
  private left: readonly TimeStage[] | null = null;
  /** Nodes that have had records, or may have, since they told their final results. */
  private readonly toTell = new Set<string>();
  /** Records that had been taken of each input when they were last counted in; -1: all that is there is new. */
  private readonly countedIn: number[];
  private streamTimeTold = -1;
  /** Schedules in stream time, by node: they fire once more at the end. */
  private readonly schedules = new Map<string, Set<Punctuator>>();

  private readonly isBounded: boolean;

  /** Goes on where an earlier life of the task was, which may have ended, with nothing to come since. */
  constructor(
    private readonly topology: Topology,
    private readonly inputs: readonly TaskInput[],
  ) {
    this.countedIn = inputs.map(({ ended }) => (ended === 'final' ? 0 : -1));
    const [first = null, ...others] = inputs.map(({ ended = null }) => ended);
    if (others.every((ended) => ended === first)) this.reached = first;
    this.isBounded = inputs.some(({ end }) => end !== undefined);
  }

  /** In a bounded run, behind the end: timers of the wall clock fire no more, since nobody waits for what they would bring. */
  get isOver(): boolean {
    return this.isBounded && this.reached !== null;
  }

  /** Asked again, or for less than was done, it changes nothing. */
  request(end: InputEnd, stages: readonly TimeStage[], queues: readonly RecordQueue[], streamTime: number): void {
    if (this.left !== null || this.reached === 'final' || this.reached === end) return;
    this.asked = end;
    this.left = end === 'final' ? stages : [];
    if (end !== 'final') return;
    // Schedules fire at the time that was reached, whichever records have brought it.
    if (streamTime > this.streamTimeTold) for (const node of this.schedules.keys()) this.addFrom(node);
    this.streamTimeTold = streamTime;
    queues.forEach(({ recordsTaken }, index) => {
      if (recordsTaken === this.countedIn[index]) return;
      this.countedIn[index] = recordsTaken;
      const input = this.inputs[index];
      if (input !== undefined) this.addFrom(input.sourceNode);
    });
  }

  /** Whether the node may hold what it has not told. */
  hasToTell(node: string): boolean {
    return this.toTell.has(node);
  }

  told(node: string): void {
    this.toTell.delete(node);
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

  /** The node, if it is an operator, and all that its records may come to. */
  private addFrom(node: string): void {
    const found = this.topology.nodes.get(node);
    if (found === undefined || found.kind === 'sink' || this.toTell.has(node)) return;
    if (found.kind === 'processor') this.toTell.add(node);
    for (const child of found.children) this.addFrom(child);
  }

  punctuatorsOf(node: string): readonly Punctuator[] {
    return [...(this.schedules.get(node) ?? [])];
  }
}
