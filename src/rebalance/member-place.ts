/** Longer than a session may last by a broker's defaults (`group.streams.max.session.timeout.ms`): then the place is not a dead process's, ms. */
const patienceMs = 90_000;

/** Epochs that say goodbye: for good, or leaving the place to the next that comes with the same instance id. */
export const leaves = { forGood: -1, thePlace: -2 } as const;

/** A member's place in a streams group, as far as it outlives the process: that of a static member does. */
export class MemberPlace {
  /** Nobody has it, as far as this process had it before. */
  isFree: boolean;
  /** Epoch of the goodbye; null: none is said. */
  goodbye: number | null;
  private occupiedSince: number | null = null;

  constructor(private readonly isStatic: boolean) {
    this.isFree = !isStatic;
    this.goodbye = isStatic ? leaves.thePlace : leaves.forGood;
  }

  /** The group may still have this process in it. */
  lost(): void {
    this.isFree = !this.isStatic;
  }

  taken(): void {
    this.occupiedSince = null;
  }

  /** Somebody else has it: too long by now to be a dead process? */
  occupied(now: number): boolean {
    this.occupiedSince ??= now;
    return now - this.occupiedSince > patienceMs;
  }

  /** `leaveGroup` null: as is the rule for the member. */
  leavesAs(leaveGroup: boolean | null): void {
    if (leaveGroup === true) this.goodbye = leaves.forGood;
    if (leaveGroup === false) this.goodbye = this.isStatic ? leaves.thePlace : null;
  }
}
