/** What the epoch coordinator of a stream thread sees of its producer; `TransactionalProducer` is the one implementation. */
import type { MillraceError } from '../../errors.js';
import type { CommittedOffset, GroupMemberIdentity } from '../../kafka/port.js';
import type { RecordBatchBuilder } from '../../kafka/record-batch/record-batch-builder.js';

export interface EpochProducer {
  /** null: idempotent only (at-least-once). */
  readonly transactionalId: string | null;
  /** Why the epoch is lost, or null. Until `abort` or `init`, nothing is sent and `commit` rejects with it. */
  readonly failed: MillraceError | null;
  /** Bytes buffered and not yet handed to a request, all partitions. */
  readonly bufferedBytes: number;

  /**
   * InitProducerId: fences every earlier owner of the id and aborts what it left open, waiting until that is done. Drops what is buffered.
   * Starts a fenced producer anew as well.
   *
   * @throws MILL_AUTHORIZATION, MILL_BROKER_ERROR; MILL_TRANSACTION_ABORTED when there was no answer within the delivery timeout
   */
  init(): Promise<void>;

  /** Reads `max.message.bytes` of topics that are about to be written, once a topic. Call it before `builder`. */
  prepareTopics(topics: readonly string[]): Promise<void>;

  /**
   * The builder of an output partition; what is appended belongs to the epoch being filled. The same object for as long as the producer
   * lives, so callers may keep it.
   */
  builder(topic: string, partition: number): RecordBatchBuilder;

  /** Sends what passed `batchBytes`. Does nothing while a sealed epoch's transaction is open: there is one at a time. */
  sendReady(): void;

  /**
   * The barrier: what was appended so far belongs to the epoch returned, and starts on its way; the next epoch only buffers until that one ended.
   *
   * @throws MILL_STATE_INVALID while an earlier epoch is sealed and not ended
   */
  sealEpoch(): SealedEpoch;

  /**
   * Drops what is buffered and what is sealed, aborts the transaction if one is open, and gets a new identity where the old one can't be used again. Waits for an
   * EndTxn that is under way. After it the producer is as after `init`.
   *
   * @throws MILL_PRODUCER_FENCED when another owner took over: `init` starts anew. Fatal codes.
   */
  abort(): Promise<void>;

  /** Aborts an open transaction (for at most 5 s) and stops. */
  close(): Promise<void>;

  /** Counters since the start. */
  metrics(): ProducerMetrics;
}

export interface SealedEpoch {
  /** Nothing was produced in it. */
  readonly isEmpty: boolean;
  /**
   * Awaits every acknowledgement, commits the offsets and ends the transaction. Without output and offsets it does nothing.
   *
   * The group's generation fences a zombie only through `offsets`: an epoch with output should always have at least one.
   *
   * @throws MILL_TRANSACTION_ABORTED (`details.outcome` 'aborted' | 'unknown': after 'unknown', call `abort` and read the committed offsets again;
   * `details.memberFenced`: rejoin the group), MILL_PRODUCER_FENCED, MILL_RECORD_TOO_LARGE, MILL_TOPIC_MISSING, other fatal codes. `details.severity` is
   * 'abort' | 'fenced' | 'fatal'.
   */
  commit(offsets: readonly CommittedOffset[], member: GroupMemberIdentity, renew?: RenewMember): Promise<EpochResult>;
}

/**
 * Asked when the group refuses the offsets with ILLEGAL_GENERATION or REBALANCE_IN_PROGRESS: the identity to send the same offsets under again, or null when
 * the member no longer owns the tasks; the epoch is lost then. Must not reject.
 */
export type RenewMember = (refused: GroupMemberIdentity, errorCode: number) => Promise<GroupMemberIdentity | null>;

export interface EpochResult {
  /**
   * Last acknowledged offset + 1 of the output partitions written in this epoch, by `${topic}-${partition}`. Never ahead of the log; behind it, or
   * absent, in the rare case that the broker no longer knew where a repeated batch stands.
   */
  readonly nextOffsets: ReadonlyMap<string, number>;
  readonly recordCount: number;
  readonly byteLength: number;
}

/** Counters of the output, changelogs included, since the app started. */
export interface ProducerMetrics {
  readonly recordsSent: number;
  /** Bytes of record batches as sent, repetitions included. */
  readonly bytesSent: number;
  readonly produceRequests: number;
  /** Batches sent again after a retriable answer. */
  readonly batchesRepeated: number;
  readonly epochsCommitted: number;
  readonly epochsFailed: number;
  readonly timesFenced: number;
  /** Milliseconds from `commit` to its answer, of the last epoch that was not empty. */
  readonly lastCommitMs: number;
}
