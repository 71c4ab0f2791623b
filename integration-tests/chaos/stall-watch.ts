import { setTimeout as delay } from 'node:timers/promises';
import type { TopicTail } from '../faults/topic-tail.js';

const lookMs = 200;

export interface Stall {
  readonly partition: number;
  readonly from: number;
  readonly ms: number;
}

/** How long each partition of an output goes without a new committed record while its input is written. */
export class StallWatch {
  readonly stalls: Stall[] = [];
  private readonly lastAt = new Map<number, number>();
  private seen = 0;

  constructor(
    private readonly output: TopicTail,
    private readonly now: () => number,
  ) {}

  /** Looks until the signal is given. */
  async run(signal: AbortSignal): Promise<void> {
    while (!signal.aborted) {
      // While a broker is away there is nothing to be read.
      await this.output.poll().catch(() => undefined);
      this.look();
      await delay(lookMs);
    }
    const end = this.now();
    for (const [partition, from] of this.lastAt) this.stalls.push({ partition, from, ms: end - from });
  }

  /** The longest ones first. */
  get longest(): readonly Stall[] {
    return this.stalls.toSorted((a, b) => b.ms - a.ms);
  }

  /** Whether each of the partitions has had output since. */
  hasOutputSince(time: number, partitions: number): boolean {
    return this.lastAt.size === partitions && [...this.lastAt.values()].every((at) => at > time);
  }

  private look(): void {
    const { records } = this.output;
    const now = this.now();
    for (; this.seen < records.length; this.seen++) {
      const partition = records[this.seen]?.partition ?? 0;
      const from = this.lastAt.get(partition);
      if (from === now) continue;
      if (from !== undefined) this.stalls.push({ partition, from, ms: now - from });
      this.lastAt.set(partition, now);
    }
  }
}
