import type { RecordQueue } from './record-queue.js';

/** What the group must know of the brokers to decide whether an empty partition is worth waiting for. */
export interface PartitionLag {
  /** Records known on the broker and not yet received; null before the first answer. */
  lag(topic: string, partition: number): number | null;
  /** Whether the partition is read to its end, and that was heard from the broker just now: not so while it is paused or back-pressured. */
  isAtEnd(topic: string, partition: number): boolean;
}

/**
 * The input partitions of one task and the rule for which record is next: the partition whose head record has the smallest time (Kafka Streams'
 * PartitionGroup). An empty partition is waited for while the broker is known to hold data for it, or not known not to; after that for
 * `maxTaskIdleMs` more. Stream time is the highest time taken so far and never goes back.
 */
export class PartitionGroup {
  streamTime: number;
  private idleSince: number | null = null;
  private isWaiting = false;

  constructor(
    readonly queues: readonly RecordQueue[],
    private readonly lags: PartitionLag,
    /** Milliseconds; -1 never waits, not even for data known to be there. */
    private readonly maxTaskIdleMs: number,
  ) {
    this.streamTime = queues.reduce((highest, queue) => Math.max(highest, queue.partitionTime), -1);
  }

  /** The queue to take from, or null when there is nothing or the group waits. */
  pick(now: number): RecordQueue | null {
    const { queues } = this;
    this.isWaiting = false;
    if (queues.length === 1) {
      const only = queues[0] as RecordQueue;
      return only.hasHead && !only.held ? only : null;
    }
    let best: RecordQueue | null = null;
    let someEmpty = false;
    for (let i = 0; i < queues.length; i++) {
      const queue = queues[i] as RecordQueue;
      if (queue.held || queue.hasEnded) continue;
      if (!queue.hasHead) someEmpty = true;
      else if (best === null || queue.headTimestamp < best.headTimestamp) best = queue;
    }
    if (best === null) return null;
    if (!someEmpty) {
      this.idleSince = null;
      return best;
    }
    if (this.maxTaskIdleMs < 0 || this.waitedEnough(now)) return best;
    this.isWaiting = this.idleSince !== null;
    return null;
  }

  /** When the idle time of a waiting group ends, ms; null when it has nothing to take or does not wait for the clock. */
  idleDeadline(): number | null {
    return this.idleSince === null || !this.isWaiting ? null : this.idleSince + this.maxTaskIdleMs;
  }

  private waitedEnough(now: number): boolean {
    for (const queue of this.queues) {
      if (queue.hasHead || queue.hasEnded) continue;
      const lag = this.lags.lag(queue.topic, queue.partition);
      if (lag === null || lag > 0) {
        this.idleSince = null;
        return false;
      }
    }
    if (this.maxTaskIdleMs === 0) return true;
    this.idleSince ??= now;
    return now >= this.idleSince + this.maxTaskIdleMs;
  }
}
