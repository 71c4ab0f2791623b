/**
 * Decides which batches go to which broker when: the Produce half of the producer machine. Pure: it is told the time and the answers.
 *
 * Invariants: at most `maxInFlightPerBroker` requests a broker and `MAX_IN_FLIGHT_PER_PARTITION` batches a partition (so far back the
 * broker recognises repetitions); one batch a partition in a request (the broker refuses more); order within a partition
 * as `OutputPartition` keeps it.
 */
import { backoffMs } from '../../kafka/backoff.js';
import { ErrorCodes } from '../../kafka/error-codes.js';
import type { TopicMetadata } from '../../kafka/port.js';
import { classify, saysTopicMissing } from './answer-class.js';
import { LeaderLookup } from './leader-lookup.js';
import { OutputPartition, type QueuedBatch } from './output-partition.js';
import { batchExpired, batchLost, batchTooLarge, brokerRefused, sequenceBroken } from './producer-failure.js';
import { concurrentPauseMs, retryPause } from './retry-pause.js';
import type { BatchAnswer, BatchRef, Identity, ProducerCommand, ProducerFailure } from './producer-protocol.js';

/** The broker remembers the last five batches of a producer in each partition. */
export const MAX_IN_FLIGHT_PER_PARTITION = 5;

export interface ProduceSchedulerOptions {
  readonly transactional: boolean;
  readonly maxInFlightPerBroker: number;
  readonly maxRequestBytes: number;
  readonly deliveryTimeoutMs: number;
  readonly missingTopicTimeoutMs: number;
  readonly random: () => number;
  readonly nextCall: () => number;
}

interface ProduceCall {
  readonly broker: number;
  readonly sent: ReadonlyMap<number, { readonly partition: OutputPartition; readonly batch: QueuedBatch }>;
}

export class ProduceScheduler {
  private readonly partitions = new Map<string, OutputPartition>();
  /** Partitions with batches waiting or in flight. */
  private readonly busy = new Set<OutputPartition>();
  private readonly calls = new Map<number, ProduceCall>();
  private readonly inFlightOf = new Map<number, number>();
  private readonly leaders: LeaderLookup;

  constructor(private readonly options: ProduceSchedulerOptions) {
    this.leaders = new LeaderLookup(options);
  }

  enqueue(ref: BatchRef, now: number): void {
    const key = `${ref.topic}-${ref.partition}`;
    let partition = this.partitions.get(key);
    if (partition === undefined) {
      partition = new OutputPartition(key, ref.topic, ref.partition);
      this.partitions.set(key, partition);
    }
    partition.enqueue(ref, now);
    this.busy.add(partition);
  }

  /** Sends what may go. `needsAdding`: only partitions that AddPartitionsToTxn has named (protocol v1). */
  pump(now: number, identity: Identity, needsAdding: boolean, commands: ProducerCommand[]): ProducerFailure | null {
    const sending = new Map<number, { partition: OutputPartition; bytes: number }[]>();
    for (const partition of this.busy) {
      const head = partition.pending[0];
      if (head === undefined) continue;
      if (now - head.enqueuedAt >= this.options.deliveryTimeoutMs) return batchExpired(partition, head, this.options.deliveryTimeoutMs);
      if (partition.leader < 0) this.leaders.find(partition);
      if (needsAdding && !partition.added) continue;
      if (partition.sendable(now, MAX_IN_FLIGHT_PER_PARTITION) === null) continue;
      const group = sending.get(partition.leader);
      if (group === undefined) sending.set(partition.leader, [{ partition, bytes: head.ref.byteLength }]);
      else group.push({ partition, bytes: head.ref.byteLength });
    }
    for (const [broker, group] of sending) this.sendTo(broker, group, now, identity, commands);
    this.leaders.ask(now, commands);
    return null;
  }

  /** Partitions with something to send, known to the cluster, that AddPartitionsToTxn has not named yet. */
  unadded(): OutputPartition[] {
    const result: OutputPartition[] = [];
    for (const partition of this.busy)
      if (!partition.added && partition.leader >= 0 && partition.pending.length > 0) result.push(partition);
    return result;
  }

  markAdded(partitions: readonly OutputPartition[]): void {
    for (const partition of partitions) partition.added = true;
  }

  owns(call: number): boolean {
    return this.calls.has(call);
  }

  answered(call: number, results: readonly BatchAnswer[], now: number, commands: ProducerCommand[]): ProducerFailure | null {
    const sent = this.finish(call);
    if (sent === undefined) return null;
    const released: number[] = [];
    let failure: ProducerFailure | null = null;
    for (const { batchId, errorCode, baseOffset } of results) {
      const entry = sent.get(batchId);
      if (entry === undefined) continue;
      const { partition, batch } = entry;
      if (classify('produce', errorCode) === 'ok') {
        partition.acknowledged(batch, baseOffset);
        if (partition.isIdle) this.busy.delete(partition);
        released.push(batchId);
      } else {
        failure ??= this.refused(partition, batch, errorCode, now);
      }
    }
    if (released.length > 0) commands.push({ kind: 'release', batchIds: released });
    return failure;
  }

  /** A Produce without an answer. In a transaction the epoch is lost: another attempt could meet the first one, late, in the next transaction. */
  lost(call: number, now: number): ProducerFailure | null {
    const sent = this.finish(call);
    if (sent === undefined) return null;
    for (const { partition, batch } of sent.values()) {
      if (this.options.transactional) return batchLost(partition);
      batch.inDoubt = true;
      this.putBack(partition, batch, now, backoffMs(partition.failures + 1, retryPause, this.options.random));
      this.leaders.stale(partition);
    }
    return null;
  }

  ownsMetadataCall(call: number): boolean {
    return this.leaders.owns(call);
  }

  metadataAnswered(topics: ReadonlyMap<string, TopicMetadata>, now: number): ProducerFailure | null {
    return this.leaders.answered(topics, this.partitions.values(), this.busy, now);
  }

  metadataLost(now: number): void {
    this.leaders.lost(now);
  }

  get isIdle(): boolean {
    return this.busy.size === 0;
  }

  get hasUnresolved(): boolean {
    for (const partition of this.busy) if (partition.hasUnresolved) return true;
    return false;
  }

  /** When `pump` can do something that it can't now; Infinity when only an answer helps. */
  nextWake(now: number): number {
    let at = this.leaders.nextWake(now);
    for (const partition of this.busy) {
      const head = partition.pending[0];
      if (head === undefined) continue;
      at = Math.min(at, head.enqueuedAt + this.options.deliveryTimeoutMs);
      if (partition.notBefore > now) at = Math.min(at, partition.notBefore);
    }
    return at;
  }

  /** Offset after the last acknowledged record of each partition written in this epoch. */
  takeNextOffsets(): Map<string, number> {
    const result = new Map<string, number>();
    for (const partition of this.partitions.values()) {
      if (partition.nextOffset >= 0) result.set(partition.key, partition.nextOffset);
      partition.nextOffset = -1;
    }
    return result;
  }

  /** The transaction ended: the next one names its partitions anew. */
  transactionEnded(isNewIdentity: boolean): void {
    for (const partition of this.partitions.values()) {
      partition.added = false;
      if (isNewIdentity) partition.restartSequences();
    }
  }

  /** Forgets every batch, and every answer that is still due. */
  reset(): void {
    for (const partition of this.partitions.values()) partition.reset();
    this.busy.clear();
    this.calls.clear();
    this.inFlightOf.clear();
  }

  /** Drops what was never sent; only for an epoch of which nothing was sent, so that no sequence is skipped. */
  dropUnsent(): void {
    for (const partition of this.busy) partition.pending.length = 0;
    this.busy.clear();
  }

  private sendTo(
    broker: number,
    group: readonly { readonly partition: OutputPartition; readonly bytes: number }[],
    now: number,
    identity: Identity,
    commands: ProducerCommand[],
  ): void {
    let waiting = group;
    while (waiting.length > 0 && (this.inFlightOf.get(broker) ?? 0) < this.options.maxInFlightPerBroker) {
      let bytes = 0;
      const sent = new Map<number, { partition: OutputPartition; batch: QueuedBatch }>();
      const batches: { batchId: number; baseSequence: number }[] = [];
      const rest: { partition: OutputPartition; bytes: number }[] = [];
      for (const entry of waiting) {
        if (bytes > 0 && bytes + entry.bytes > this.options.maxRequestBytes) {
          rest.push(entry);
          continue;
        }
        bytes += entry.bytes;
        const batch = entry.partition.send();
        sent.set(batch.ref.id, { partition: entry.partition, batch });
        batches.push({ batchId: batch.ref.id, baseSequence: batch.sequence });
        const next = entry.partition.sendable(now, MAX_IN_FLIGHT_PER_PARTITION);
        if (next !== null) rest.push({ partition: entry.partition, bytes: next.ref.byteLength });
      }
      const call = this.options.nextCall();
      this.calls.set(call, { broker, sent });
      this.inFlightOf.set(broker, (this.inFlightOf.get(broker) ?? 0) + 1);
      commands.push({ kind: 'produce', call, broker, identity, batches });
      waiting = rest;
    }
  }

  private finish(call: number): ProduceCall['sent'] | undefined {
    const found = this.calls.get(call);
    if (found === undefined) return undefined;
    this.calls.delete(call);
    this.inFlightOf.set(found.broker, Math.max(0, (this.inFlightOf.get(found.broker) ?? 1) - 1));
    return found.sent;
  }

  private refused(partition: OutputPartition, batch: QueuedBatch, code: number, now: number): ProducerFailure | null {
    const answer = classify('produce', code);
    switch (answer) {
      case 'concurrent':
        this.putBack(partition, batch, now, concurrentPauseMs(partition.failures + 1));
        return null;
      case 'refresh':
      case 'refind':
        this.leaders.stale(partition);
        if (saysTopicMissing(code)) this.leaders.missing(partition.topic, now);
        this.putBack(partition, batch, now, backoffMs(partition.failures + 1, retryPause, this.options.random));
        return null;
      case 'retry':
        this.putBack(partition, batch, now, backoffMs(partition.failures + 1, retryPause, this.options.random));
        return null;
      case 'outOfOrder':
        if (code === ErrorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER && partition.hasEarlierUnacknowledged(batch)) {
          this.putBack(partition, batch, now, 0);
          return null;
        }
        return sequenceBroken(partition, batch, code);
      case 'tooLarge':
        return batchTooLarge(partition, batch, code);
      default:
        return brokerRefused('Produce', answer, code, partition);
    }
  }

  private putBack(partition: OutputPartition, batch: QueuedBatch, now: number, pauseMs: number): void {
    partition.requeue(batch);
    if (pauseMs > 0) {
      partition.failures++;
      partition.notBefore = Math.max(partition.notBefore, now + pauseMs);
    }
  }
}
