/**
 * Closed record batches of one partition, ready to be sent but for the producer's identity. The identity is filled in last and can be
 * filled in again: after an epoch bump the same batches go out under the new epoch with new sequences.
 */
import { crc32c } from '../../bytes/crc32c.js';
import * as layout from './batch-layout.js';

export interface EncodedBatches {
  readonly recordCount: number;
  /** What goes over the wire: after compression, headers included. */
  readonly byteLength: number;
  readonly maxTimestamp: number;
  readonly batches: readonly EncodedBatch[];
  /**
   * Fills in producer id, epoch, base sequences, the transactional bit and the checksums; may be called again.
   *
   * @param identity null: not idempotent (`baseSequence` is not used)
   * @param baseSequence sequence of the first record, 0 … 2^31−1
   * @returns the sequence after the last record; 2^31−1 is followed by 0, as Kafka counts
   */
  stamp(identity: BatchIdentity | null, baseSequence: number): number;
}

export interface EncodedBatch {
  readonly buffer: Buffer;
  readonly recordCount: number;
}

export interface BatchIdentity {
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly transactional: boolean;
}

const MAX_SEQUENCE = 0x7fff_ffff;

export class BuiltBatches implements EncodedBatches {
  readonly recordCount: number;
  readonly byteLength: number;

  /** @param memory the pooled buffers that the batches stand in; the builder takes them back in `recycle` */
  constructor(
    readonly batches: readonly EncodedBatch[],
    readonly maxTimestamp: number,
    private memory: readonly Buffer[],
  ) {
    this.recordCount = batches.reduce((sum, batch) => sum + batch.recordCount, 0);
    this.byteLength = batches.reduce((sum, batch) => sum + batch.buffer.length, 0);
  }

  stamp(identity: BatchIdentity | null, baseSequence: number): number {
    let sequence = baseSequence;
    for (const { buffer, recordCount } of this.batches) {
      stampBatch(buffer, identity, identity === null ? -1 : sequence);
      sequence = sequenceAfter(sequence, recordCount);
    }
    return sequence;
  }

  /** Gives the memory up, once: a second call yields none, so that no buffer is pooled twice. */
  giveUpMemory(): readonly Buffer[] {
    const { memory } = this;
    this.memory = [];
    return memory;
  }
}

/** The sequence `count` records after `sequence`. */
export function sequenceAfter(sequence: number, count: number): number {
  return sequence > MAX_SEQUENCE - count ? count - (MAX_SEQUENCE - sequence) - 1 : sequence + count;
}

function stampBatch(buffer: Buffer, identity: BatchIdentity | null, sequence: number): void {
  const attributes = buffer.readInt16BE(layout.ATTRIBUTES_AT) & ~layout.TRANSACTIONAL_BIT;
  buffer.writeInt16BE(attributes | (identity?.transactional ? layout.TRANSACTIONAL_BIT : 0), layout.ATTRIBUTES_AT);
  buffer.writeBigInt64BE(identity?.producerId ?? -1n, layout.PRODUCER_ID_AT);
  buffer.writeInt16BE(identity?.producerEpoch ?? -1, layout.PRODUCER_EPOCH_AT);
  buffer.writeInt32BE(sequence, layout.BASE_SEQUENCE_AT);
  buffer.writeUInt32BE(crc32c(buffer, layout.ATTRIBUTES_AT), layout.CRC_AT);
}
