/**
 * The last rebalance of a member that leaves in good order with tasks. It asks for it while the tasks go on running, so that the others have heard of it, and have been
 * told what they take over, before anything stands still. Only then does it commit, give everything up and go.
 *
 * Nobody is waited for long: a group that does not come together in time is left at once.
 */
const patience = { heartbeats: 2, ms: 500 };

export class Handover {
  /** Members of the group, this one included, as of the last assignment. */
  members = 0;
  private until: number | null = null;

  get isOn(): boolean {
    return this.until !== null;
  }

  /** When to give the others up; null: it is not on. */
  get endsAt(): number | null {
    return this.until;
  }

  /**
   * False: there is nobody to hand over to, no time for it, or they have been asked before.
   *
   * @param mostMs what whoever waits for the end can spare
   */
  begin(now: number, heartbeatIntervalMs: number, mostMs = Infinity): boolean {
    if (this.members < 2 || this.isOn || mostMs <= 0) return false;
    this.until = now + Math.min(mostMs, patience.heartbeats * heartbeatIntervalMs + patience.ms);
    return true;
  }

  end(): void {
    this.until = null;
  }

  isLate(now: number): boolean {
    return this.until !== null && now >= this.until;
  }
}
