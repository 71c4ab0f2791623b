/** The record that a task has in work, as far as it matters for counting calls. */
export interface WorkInTurn {
  /** Null outside of any input record. */
  readonly topic: string | null;
  /** The wall-clock timer that is firing, if one is: the work is done again in another epoch then, but by the same timer. */
  readonly timer: string | null;
  /** Another one for each record that is taken up, and each firing of a wall-clock timer. */
  readonly turn: number;
  /** Another one after each barrier. */
  readonly epoch: number;
}

/**
 * Numbers the calls of one node within a record or a firing of a wall-clock timer, and those outside of both within an epoch: the same call has the same number when the work since the last commit is done again.
 */
export class CallCount {
  private turn = -1;
  private calls = 0;
  private epoch = -1;
  private callsOutside = 0;

  constructor(private readonly work: WorkInTurn) {}

  /** The number of a call that begins, from 0. */
  next(): number {
    const { work } = this;
    if (isOutside(work)) {
      if (work.epoch !== this.epoch) {
        this.epoch = work.epoch;
        this.callsOutside = 0;
      }
      return this.callsOutside++;
    }
    if (work.turn !== this.turn) {
      this.turn = work.turn;
      this.calls = 0;
    }
    return this.calls++;
  }

  /** The number of the call that has begun last. */
  get latest(): number {
    return Math.max(0, (isOutside(this.work) ? this.callsOutside : this.calls) - 1);
  }
}

function isOutside({ topic, timer }: WorkInTurn): boolean {
  return topic === null && timer === null;
}
