/** Warns of and counts partitions that are waited for and get no answer: the fetcher must never stand still in silence. */
import type { Logger } from '../../observability/logger.js';
import type { FetcherClock, FetcherMetrics } from './fetcher-options.js';
import type { PartitionState } from './partition-state.js';

export interface StallWatchdogOptions {
  readonly clock: FetcherClock;
  readonly stallWarningMs: number;
  readonly metrics: FetcherMetrics;
  readonly logger: Logger;
  readonly partitions: () => Iterable<PartitionState>;
  /** False for a partition that rests for a reason of its own: paused, failed, its consumer is slow. */
  readonly isWaitedFor: (state: PartitionState) => boolean;
}

export class StallWatchdog {
  private timer: unknown = null;

  constructor(private readonly options: StallWatchdogOptions) {}

  start(): void {
    const now = this.options.clock.now();
    for (const state of this.options.partitions()) state.lastAnswerAt = now;
    this.schedule();
  }

  stop(): void {
    this.options.clock.clearTimeout(this.timer);
  }

  private schedule(): void {
    this.timer = this.options.clock.setTimeout(() => {
      this.look();
      this.schedule();
    }, this.options.stallWarningMs / 2);
  }

  private look(): void {
    const { clock, stallWarningMs, metrics, logger } = this.options;
    const now = clock.now();
    for (const state of this.options.partitions()) {
      const waited = now - state.lastAnswerAt;
      if (this.options.isWaitedFor(state) && waited < stallWarningMs) continue;
      if (this.options.isWaitedFor(state)) {
        metrics.stalls++;
        const { topic, partition, offset } = state;
        logger.warn({ topic, partition, offset, waited }, `no answer for ${topic}-${partition} for ${Math.round(waited)} ms`);
      }
      state.lastAnswerAt = now;
    }
  }
}
