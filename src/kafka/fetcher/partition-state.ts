/** One assigned partition as the fetcher sees it: where it is, what it waits for, what it last heard. */
import type { TopicPartition } from '../port.js';
import type { PendingFetch } from './broker-lanes.js';
import type { FetchedChunk } from './fetched-chunk.js';

export class PartitionState implements TopicPartition {
  paused = false;
  /** Bytes handed over and not given back. */
  buffered = 0;
  /** The fetch that asks for this position. An answer of any other fetch is stale. */
  pending: PendingFetch | null = null;
  /** The look-up under way of where to go on after OFFSET_OUT_OF_RANGE. */
  resetting: object | null = null;
  /** Id of the topic that `offset` is a position in; null until metadata tell it. */
  topicId: string | null;
  /** The leader said that it does not have this topic: when its name stands for another id now, it was deleted and created again. */
  isDoubted = false;
  /** Reported through `onError`; rests until assigned or sought anew. */
  failed = false;
  failures = 0;
  retryAt = 0;
  lastAnswerAt: number;
  highWatermark = -1;
  lastStableOffset = -1;
  /** Bytes to ask for: more than usual for one fetch when a batch is larger. */
  maxBytes: number;

  constructor(
    readonly topic: string,
    readonly partition: number,
    public offset: number,
    maxBytes: number,
    now: number,
    topicId: string | null,
  ) {
    this.topicId = topicId;
    this.maxBytes = maxBytes;
    this.lastAnswerAt = now;
  }

  /** A new position: whatever is under way for the old one no longer counts. */
  moveTo(offset: number, now: number): void {
    this.offset = offset;
    this.pending = null;
    this.resetting = null;
    this.failed = false;
    this.isDoubted = false;
    this.failures = 0;
    this.retryAt = 0;
    this.lastAnswerAt = now;
  }

  /** Told at once when the position was set anew by policy: whoever commits positions keeps it though no record comes. */
  newPosition(): FetchedChunk {
    const { topic, partition, topicId, offset, highWatermark, lastStableOffset } = this;
    const place = { topic, partition, topicId, fetchOffset: offset, nextOffset: offset };
    const told = { abortedTransactions: [], highWatermark, lastStableOffset, logStartOffset: -1 };
    return { ...place, ...told, records: Buffer.alloc(0), byteLength: 0, reset: true };
  }

  /** True when the next fetch should ask for it, as far as the partition itself is concerned. */
  wants(maxBuffered: number): boolean {
    return !this.paused && !this.failed && this.resetting === null && this.buffered < maxBuffered;
  }
}

export function partitionKey(partition: TopicPartition): string {
  return `${partition.topic}-${partition.partition}`;
}
