/** When output of each partition was seen, and how long each went without. */
export class OutputGaps {
  private readonly seenAt: readonly number[][];

  constructor(partitions: number) {
    this.seenAt = Array.from({ length: partitions }, () => []);
  }

  /** At `at`, ms, in the order of time. */
  seen(partition: number, at: number): void {
    this.seenAt[partition]?.push(at);
  }

  /** Whether each partition has had output at or after `at`. */
  allSeenSince(at: number): boolean {
    return this.seenAt.every((times) => (times.at(-1) ?? -Infinity) >= at);
  }

  /** The longest time without output that reaches into the span, ms, over the given partitions: a gap that begins before it or ends after it counts whole. None: NaN. */
  longest(partitions: readonly number[], from: number, to: number): number {
    return Math.max(...(partitions.length === 0 ? [NaN] : partitions.map((partition) => this.longestOf(partition, from, to))));
  }

  private longestOf(partition: number, from: number, to: number): number {
    let longest = 0;
    let before: number | null = null;
    for (const at of this.seenAt[partition] ?? []) {
      if (before !== null && at > from && before < to) longest = Math.max(longest, at - before);
      before = at;
    }
    // Still without output at the end of the span.
    return Math.max(longest, to - Math.max(before ?? from, from));
  }
}
