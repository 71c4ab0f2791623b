/**
 * The bytes of the producer: one builder an output partition, and the batches cut from them until they are acknowledged.
 *
 * Invariants: a batch's memory goes back to the pool only when it is acknowledged or given up *and* no request holds it; after a lost
 * request it never does, since the connection may still be reading it. Batch ids rise in the order in which batches were cut.
 */
import { MillraceError } from '../../errors.js';
import type { CompressionType } from '../../kafka/compression/compression-type.js';
import { BatchMemory } from '../../kafka/record-batch/batch-memory.js';
import type { EncodedBatches } from '../../kafka/record-batch/encoded-batches.js';
import { RecordBatchBuilder } from '../../kafka/record-batch/record-batch-builder.js';
import type { BatchRef, Identity } from './producer-protocol.js';
import type { TopicLimits } from './topic-limits.js';

/** Batches cut from a builder at once: they are stamped together, so their sequences follow each other. */
interface Cut {
  readonly batches: EncodedBatches;
  readonly builder: RecordBatchBuilder;
  stampedFor: Identity | null;
  unreleased: number;
  requests: number;
  isLost: boolean;
}

interface OutgoingBatch {
  readonly topic: string;
  readonly partition: number;
  readonly buffer: Buffer;
  readonly recordCount: number;
  readonly cut: Cut;
  /** Place within the cut. */
  readonly index: number;
  isSent: boolean;
}

interface Slot {
  readonly topic: string;
  readonly partition: number;
  readonly builder: RecordBatchBuilder;
}

export class EpochOutput {
  /** Bytes cut and not yet handed to a request. */
  private unsentBytes = 0;
  private readonly slots: Slot[] = [];
  private readonly byTopic = new Map<string, RecordBatchBuilder[]>();
  private readonly outgoing = new Map<number, OutgoingBatch>();
  private lastId = 0;
  private readonly memory: BatchMemory;

  constructor(
    private readonly limits: TopicLimits,
    private readonly options: { readonly transactional: boolean; readonly compression?: CompressionType; readonly pooledBytes?: number },
  ) {
    this.memory = new BatchMemory(options.pooledBytes);
  }

  builder(topic: string, partition: number): RecordBatchBuilder {
    return this.byTopic.get(topic)?.[partition] ?? this.open(topic, partition);
  }

  get bufferedBytes(): number {
    let bytes = this.unsentBytes;
    for (const { builder } of this.slots) bytes += builder.byteLength;
    return bytes;
  }

  /** Cuts what builders with at least `minBytes` hold. */
  cut(minBytes: number): BatchRef[] {
    const refs: BatchRef[] = [];
    for (const slot of this.slots) {
      if (slot.builder.byteLength < minBytes) continue;
      const batches = slot.builder.take();
      if (batches !== null) this.register(slot, batches, refs);
    }
    return refs;
  }

  /** The bytes of a batch for a request, stamped. `requestEnded` has to follow. */
  hold(id: number, identity: Identity, baseSequence: number): OutgoingBatch & { readonly isRepeated: boolean } {
    const batch = this.outgoing.get(id);
    if (batch === undefined) throw new MillraceError('MILL_INVARIANT', `Batch ${id} is to be sent but was given up`);
    const { cut } = batch;
    if (cut.stampedFor !== identity) {
      if (batch.index !== 0) throw new MillraceError('MILL_INVARIANT', `Batch ${id} is sent before those in front of it`);
      cut.batches.stamp({ ...identity, transactional: this.options.transactional }, baseSequence);
      cut.stampedFor = identity;
    }
    const isRepeated = batch.isSent;
    if (!isRepeated) this.unsentBytes -= batch.buffer.length;
    batch.isSent = true;
    cut.requests++;
    return { ...batch, isRepeated };
  }

  requestEnded(held: readonly { readonly cut: Cut }[], isLost: boolean): void {
    for (const { cut } of held) {
      cut.requests--;
      cut.isLost ||= isLost;
      recycleIfFree(cut);
    }
  }

  release(id: number): void {
    const batch = this.outgoing.get(id);
    if (batch === undefined) return;
    this.outgoing.delete(id);
    if (!batch.isSent) this.unsentBytes -= batch.buffer.length;
    batch.cut.unreleased--;
    recycleIfFree(batch.cut);
  }

  /** Gives everything up, in builders and on its way. */
  drop(): void {
    this.cut(0);
    for (const id of [...this.outgoing.keys()]) this.release(id);
  }

  private open(topic: string, partition: number): RecordBatchBuilder {
    const { compression } = this.options;
    const builder = new RecordBatchBuilder({ maxBatchBytes: this.limits.maxBatchBytes(topic), compression, memory: this.memory });
    const builders = this.byTopic.get(topic) ?? [];
    builders[partition] = builder;
    this.byTopic.set(topic, builders);
    this.slots.push({ topic, partition, builder });
    return builder;
  }

  private register({ topic, partition, builder }: Slot, batches: EncodedBatches, refs: BatchRef[]): void {
    const cut: Cut = { batches, builder, stampedFor: null, unreleased: batches.batches.length, requests: 0, isLost: false };
    for (const [index, { buffer, recordCount }] of batches.batches.entries()) {
      const id = ++this.lastId;
      this.outgoing.set(id, { topic, partition, buffer, recordCount, cut, index, isSent: false });
      this.unsentBytes += buffer.length;
      refs.push({ id, topic, partition, recordCount, byteLength: buffer.length });
    }
  }
}

function recycleIfFree(cut: Cut): void {
  if (cut.unreleased === 0 && cut.requests === 0 && !cut.isLost) cut.builder.recycle(cut.batches);
}
