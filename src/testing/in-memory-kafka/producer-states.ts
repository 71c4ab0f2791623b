/**
 * What a partition knows of the producers that write to it: epoch, the last five batches, the open transaction. Decides whether a batch is next in
 * line, a repetition, out of order or of a fenced producer, as Kafka's ProducerStateManager does.
 */
import { ErrorCodes } from '../../kafka/error-codes.js';
import type { LogBatch } from './log-batch.js';

/** How many batches back a repetition is recognised. */
const rememberedBatches = 5;
const lastPossibleSequence = 0x7fff_ffff;

interface ProducerState {
  epoch: number;
  readonly batches: { readonly baseSequence: number; readonly lastSequence: number; readonly baseOffset: number }[];
  /** First offset of the open transaction. */
  openFrom: number | null;
}

export interface CompletedTransaction {
  readonly producerId: bigint;
  readonly firstOffset: number;
  readonly lastOffset: number;
}

export class ProducerStates {
  private readonly producers = new Map<bigint, ProducerState>();

  /** The first offset that an open transaction holds back. */
  get firstUnstableOffset(): number | null {
    let first: number | null = null;
    for (const { openFrom } of this.producers.values()) if (openFrom !== null && (first === null || openFrom < first)) first = openFrom;
    return first;
  }

  hasOpenTransaction(producerId: bigint, epoch: number): boolean {
    const state = this.producers.get(producerId);
    return state !== undefined && state.openFrom !== null && state.epoch === epoch;
  }

  /** Base offset of the batch that this one repeats, or null. */
  repetitionOf(batch: LogBatch): number | null {
    const state = this.producers.get(batch.producerId);
    if (state === undefined || state.epoch !== batch.producerEpoch) return null;
    const same = state.batches.find(
      ({ baseSequence, lastSequence }) => baseSequence === batch.baseSequence && lastSequence === batch.lastSequence,
    );
    return same?.baseOffset ?? null;
  }

  /** 0, or why the batch may not be appended. */
  check(batch: LogBatch): number {
    if (batch.producerId < 0n) return ErrorCodes.NONE;
    const state = this.producers.get(batch.producerId);
    if (state === undefined) return ErrorCodes.NONE;
    if (batch.producerEpoch < state.epoch) return ErrorCodes.INVALID_PRODUCER_EPOCH;
    if (!this.isInSequence(state, batch)) return ErrorCodes.OUT_OF_ORDER_SEQUENCE_NUMBER;
    if (state.openFrom !== null && !batch.isTransactional) return ErrorCodes.INVALID_TXN_STATE;
    return ErrorCodes.NONE;
  }

  private isInSequence(state: ProducerState, batch: LogBatch): boolean {
    if (batch.producerEpoch !== state.epoch) return batch.baseSequence === 0;
    const last = state.batches[state.batches.length - 1]?.lastSequence ?? -1;
    return batch.baseSequence === last + 1 || (batch.baseSequence === 0 && last === lastPossibleSequence);
  }

  appended(batch: LogBatch): void {
    if (batch.producerId < 0n) return;
    const state = this.at(batch.producerId, batch.producerEpoch);
    state.batches.push({ baseSequence: batch.baseSequence, lastSequence: batch.lastSequence, baseOffset: batch.baseOffset });
    if (state.batches.length > rememberedBatches) state.batches.shift();
    if (batch.isTransactional) state.openFrom ??= batch.baseOffset;
  }

  /** INVALID_PRODUCER_EPOCH for a marker of an epoch that is over. */
  checkMarker(producerId: bigint, epoch: number): number {
    return epoch < (this.producers.get(producerId)?.epoch ?? -1) ? ErrorCodes.INVALID_PRODUCER_EPOCH : ErrorCodes.NONE;
  }

  /** The transaction that the marker at `offset` ends, or null when the producer has none open here. */
  ended(producerId: bigint, epoch: number, offset: number): CompletedTransaction | null {
    const state = this.at(producerId, epoch);
    const { openFrom } = state;
    state.openFrom = null;
    return openFrom === null ? null : { producerId, firstOffset: openFrom, lastOffset: offset };
  }

  private at(producerId: bigint, epoch: number): ProducerState {
    const known = this.producers.get(producerId);
    if (known === undefined) {
      const state: ProducerState = { epoch, batches: [], openFrom: null };
      this.producers.set(producerId, state);
      return state;
    }
    if (known.epoch !== epoch) {
      known.epoch = epoch;
      known.batches.length = 0;
    }
    return known;
  }
}
