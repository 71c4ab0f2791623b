/** Between two looks at the group: while somebody is on the move, and when all is quiet, ms. */
const pauseMs = { moving: 2000, quiet: 30_000 };
const soonMs = 500;
/** After so long without an answer another one is asked for, ms: in doubt, no heartbeat is sent before. */
const patienceMs = 5000;

/** The looks at the group's description: the one under way, and when the next is due. */
export class GroupLook {
  private attempt: number | null = null;
  private beats = 0;
  private begunAt = 0;
  /** null: not asked for. */
  dueAt: number | null = null;

  get isUnderWay(): boolean {
    return this.attempt !== null;
  }

  is(attempt: number): boolean {
    return this.attempt === attempt;
  }

  /** `beats`: heartbeats sent and answered so far. */
  begin(attempt: number, beats: number, now: number): void {
    this.attempt = attempt;
    this.beats = beats;
    this.begunAt = now;
    this.dueAt = null;
  }

  /** Whether it shows what is: no heartbeat has changed anything since it was begun. Then the next is due after a while, else soon. */
  end(beats: number, groupSettled: boolean, now: number): boolean {
    this.attempt = null;
    const isCurrent = beats === this.beats;
    this.dueAt = now + (isCurrent ? (groupSettled ? pauseMs.quiet : pauseMs.moving) : soonMs);
    return isCurrent;
  }

  hangs(now: number): boolean {
    return this.attempt !== null && now - this.begunAt >= patienceMs;
  }

  at(now: number): void {
    this.dueAt = now;
  }

  /** What is under way does not count. */
  again(now: number): void {
    this.attempt = null;
    this.dueAt = now + soonMs;
  }
}
