/**
 * The two fetches that may be on their way to one broker, and which of them may be sent next.
 *
 * `main` is a long poll over all partitions of the broker. It can't be called back, so what becomes fetchable while it is parked (assigned,
 * resumed, given room again) goes with `quick`, which waits only a few milliseconds at the broker. When the long poll is back it waits for
 * the quick one and takes its partitions in. Lanes need connections that do not wait for one another, which `KafkaPort.fetch` promises.
 */
import type { PartitionState } from './partition-state.js';

/** Milliseconds that a quick fetch may be parked. */
export const QUICK_WAIT_MS = 10;
/** A main fetch younger than this is probably on its way back with data: no use in a quick one beside it. */
export const QUICK_AFTER_MS = 3;

export type LaneName = 'main' | 'quick';

export interface PendingFetch {
  readonly lane: LaneName;
  readonly sentAt: number;
  readonly partitions: readonly PartitionState[];
  /** Bytes that the answer may have. */
  readonly reserved: number;
}

export class BrokerLanes {
  main: PendingFetch | null = null;
  quick: PendingFetch | null = null;
  /** Until then the broker wants no fetch (quota). */
  throttledUntil = 0;

  /** The lane to send with now, or the time to ask again; null: when a pending fetch is back. */
  next(now: number): LaneName | number | null {
    if (now < this.throttledUntil) return this.throttledUntil;
    if (this.main === null) return this.quick === null ? 'main' : null;
    if (this.quick !== null) return null;
    const quickAt = this.main.sentAt + QUICK_AFTER_MS;
    return now >= quickAt ? 'quick' : quickAt;
  }

  /** False when the fetch was given up in the meantime. */
  take(fetch: PendingFetch): boolean {
    if (this[fetch.lane] !== fetch) return false;
    this[fetch.lane] = null;
    return true;
  }
}
