/**
 * How often records have failed that are tried again from the last commit: their tasks are closed meanwhile, so the thread keeps the count.
 *
 * Bounded: the oldest are forgotten, which at worst lets a record be tried a few times more.
 */
export class RetryLedger {
  private readonly counts = new Map<string, number>();
  /** Failures outside of any record have no offset that tells one from the next: their counts end with the next commit. */
  private readonly timers = new Set<string>();

  count(id: string): number {
    return this.counts.get(id) ?? 0;
  }

  set(id: string, count: number, isTimer: boolean): void {
    this.counts.delete(id);
    this.counts.set(id, count);
    if (isTimer) this.timers.add(id);
    if (this.counts.size <= mostEntries) return;
    for (const oldest of this.counts.keys()) {
      this.forget(oldest);
      return;
    }
  }

  forget(id: string): void {
    this.counts.delete(id);
    this.timers.delete(id);
  }

  /** An epoch was committed. */
  committed(): void {
    for (const id of this.timers) this.forget(id);
  }
}

const mostEntries = 1000;
