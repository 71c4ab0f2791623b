/**
 * The sending order of one output partition.
 *
 * Invariants: batches get their sequences in the order of appending and keep them for as long as the identity lives; they are sent
 * in that order, also when sent again. To keep it, a partition with a refused batch sends nothing until every batch still in flight
 * is answered; those behind the gap come back as out of order and follow the first one again.
 */
import type { BatchRef } from './producer-protocol.js';

export interface QueuedBatch {
  readonly ref: BatchRef;
  readonly enqueuedAt: number;
  /** -1 until it is sent for the first time. */
  sequence: number;
  /** An attempt of it was lost on the way: it may stand in the log. */
  inDoubt: boolean;
}

export class OutputPartition {
  /** Broker that leads it; -1 while not known. */
  leader = -1;
  /** AddPartitionsToTxn named it in the open transaction (protocol v1). */
  added = false;
  /** Not sent to before this time (ms). */
  notBefore = 0;
  /** Refused attempts in a row. */
  failures = 0;
  /** Offset after the last acknowledged record in this epoch; -1 when there is none. */
  nextOffset = -1;
  readonly pending: QueuedBatch[] = [];
  readonly inFlight: QueuedBatch[] = [];
  private nextSequence = 0;

  constructor(
    readonly key: string,
    readonly topic: string,
    readonly partition: number,
  ) {}

  enqueue(ref: BatchRef, now: number): void {
    this.pending.push({ ref, enqueuedAt: now, sequence: -1, inDoubt: false });
  }

  /** The batch that may go now, or null. */
  sendable(now: number, maxInFlight: number): QueuedBatch | null {
    const head = this.pending[0];
    if (head === undefined || this.leader < 0 || this.notBefore > now || this.inFlight.length >= maxInFlight) return null;
    const isRepeated = head.sequence >= 0;
    return isRepeated && this.inFlight.length > 0 ? null : head;
  }

  /** Takes the head of `pending` into flight and numbers it. */
  send(): QueuedBatch {
    const batch = this.pending.shift();
    if (batch === undefined) throw new RangeError('nothing to send');
    if (batch.sequence < 0) {
      batch.sequence = this.nextSequence;
      this.nextSequence = (this.nextSequence + batch.ref.recordCount) % SEQUENCE_SPACE;
    }
    this.inFlight.push(batch);
    return batch;
  }

  acknowledged(batch: QueuedBatch, baseOffset: number): void {
    this.removeInFlight(batch);
    this.failures = 0;
    this.notBefore = 0;
    if (baseOffset >= 0) this.nextOffset = Math.max(this.nextOffset, baseOffset + batch.ref.recordCount);
  }

  /** Puts a refused or lost batch back where its sequence belongs. */
  requeue(batch: QueuedBatch): void {
    this.removeInFlight(batch);
    let at = 0;
    while (at < this.pending.length && (this.pending[at] as QueuedBatch).ref.id < batch.ref.id) at++;
    this.pending.splice(at, 0, batch);
  }

  /** Whether a batch with an earlier sequence is not acknowledged yet: then an out-of-order answer only tells of that one. */
  hasEarlierUnacknowledged(batch: QueuedBatch): boolean {
    for (const other of this.inFlight) if (other.ref.id < batch.ref.id) return true;
    for (const other of this.pending) if (other.ref.id < batch.ref.id) return true;
    return false;
  }

  /** Whether an answer is due, or a numbered batch waits to be sent again: the identity's sequences then have a hole. */
  get hasUnresolved(): boolean {
    return this.inFlight.length > 0 || (this.pending[0]?.sequence ?? -1) >= 0;
  }

  get isIdle(): boolean {
    return this.pending.length === 0 && this.inFlight.length === 0;
  }

  /** A new identity: sequences count from 0. What was queued is forgotten. */
  reset(): void {
    this.pending.length = 0;
    this.inFlight.length = 0;
    this.failures = 0;
    this.notBefore = 0;
    this.nextOffset = -1;
    this.added = false;
    this.nextSequence = 0;
  }

  restartSequences(): void {
    this.nextSequence = 0;
  }

  private removeInFlight(batch: QueuedBatch): void {
    const at = this.inFlight.indexOf(batch);
    if (at >= 0) this.inFlight.splice(at, 1);
  }
}

/** Sequences are non-negative 32-bit integers and wrap to 0. */
const SEQUENCE_SPACE = 2 ** 31;
