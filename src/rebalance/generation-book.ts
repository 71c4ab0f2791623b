/**
 * Which generation a member is in, and which it can be sure of. The coordinator writes a generation down with its assignment: when it moves or restarts before, it is back in the one
 * before, and gives the number to another generation. A static member is counted into that one without its doing; a dynamic one into any by a join of its own that arrives late, and says
 * what it ran then. Only this book tells.
 */
export const noGeneration = -1;

export class GenerationBook {
  /** Of the last join. */
  now = noGeneration;
  /** The last one whose assignment came. */
  private assigned = noGeneration;
  /** The last one that this member has taken part in. */
  private taken = noGeneration;

  constructor(private readonly isStatic: boolean) {}

  /** That commits name: of a static member one that nobody else can be in. One that leaves waits for no assignment. */
  forCommits(isLeaving: boolean): number {
    return this.isStatic && !isLeaving ? this.assigned : this.now;
  }

  /** True when the group may have had a generation in between that counted the member in without its doing: whoever led it knew nothing of what runs here. */
  joined(generation: number): boolean {
    const hasMissed = generation > this.taken + 1;
    this.now = generation;
    this.taken = generation;
    return hasMissed;
  }

  assignmentCame(): void {
    this.assigned = this.now;
  }

  /** What was not assigned yet may never have been. */
  coordinatorLost(): void {
    this.taken = this.assigned;
  }
}
