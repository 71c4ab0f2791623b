import type { MillraceError } from '../../errors.js';
import type { Logger } from '../../observability/logger.js';
import type { IsolationLevel, TopicPartition } from '../port.js';
import type { FetchedChunk } from './fetched-chunk.js';

/**
 * Where a partition goes on when its position is no longer in the log, or is one in a topic that was deleted and created again. `none` reports
 * MILL_OFFSET_OUT_OF_RANGE, MILL_TOPIC_RECREATED. A number is a timestamp in ms: at the first record that is no older, at the end when there is none.
 */
export type OffsetReset = 'earliest' | 'latest' | 'none' | number;

/** Time as the fetcher sees it; tests hold their own. */
export interface FetcherClock {
  /** Milliseconds that never go back. */
  now(): number;
  setTimeout(callback: () => void, ms: number): unknown;
  clearTimeout(timer: unknown): void;
}

export const systemClock: FetcherClock = {
  now: () => performance.now(),
  setTimeout: (callback, ms) => setTimeout(callback, ms),
  clearTimeout: (timer) => clearTimeout(timer as NodeJS.Timeout),
};

export interface FetcherOptions {
  readonly isolation: IsolationLevel;
  /** Bytes asked for of one partition in one fetch; default 1 MiB. A larger batch still comes, alone. */
  readonly maxBytesPerPartition?: number;
  /** Bytes of one fetch; default 50 MiB. */
  readonly maxBytesPerFetch?: number;
  /** Bytes handed to `onData` and not given back by `consumed`, plus bytes on their way; default 64 MiB. One batch may exceed it. Read anew for each fetch. */
  readonly maxBufferedBytes?: () => number;
  /** Milliseconds that the broker may wait for `minBytes`; default 500. */
  readonly maxWaitMs?: number;
  /** Default 1. */
  readonly minBytes?: number;
  /** Milliseconds without an answer for a partition that is waited for, until that is logged and counted; default 30 000. */
  readonly stallWarningMs?: number;
  readonly autoOffsetReset: (partition: TopicPartition) => OffsetReset;
  readonly logger: Logger;
  readonly clock?: FetcherClock;
  /** For the jitter of pauses: a number in [0, 1). */
  readonly random?: () => number;
  /** Called synchronously, chunk after chunk, per partition in the order of the log. Must not throw. */
  readonly onData: (chunk: FetchedChunk) => void;
  /** What no retry mends. The partition rests until it is assigned or sought anew. */
  readonly onError: (error: MillraceError, partition: TopicPartition | null) => void;
}

/** Counters of the fetches of input, since the app started. */
export interface FetcherMetrics {
  /** Input that is held in memory now, bytes: fetching pauses as `maxBufferedBytes` comes near. */
  bufferedBytes: number;
  /** Fetches sent. */
  requests: number;
  /** Bytes of whole batches received. */
  bytes: number;
  /** Fetches that failed, and partition errors in answers. */
  failures: number;
  /** Positions set anew because they were out of range, or of a topic that is gone. */
  resets: number;
  /** Times that a partition had no answer for `stallWarningMs`. */
  stalls: number;
}
