/**
 * The words between the producer machine and its shell: what can happen (events) and what is to be done (commands).
 *
 * Every command that goes to a broker carries a `call` number; the shell answers with one event of the same number. The machine
 * ignores answers whose number it no longer waits for, so a late answer of an aborted transaction can do no harm.
 */
import type { ErrorCode } from '../../errors.js';
import type { TopicMetadata } from '../../kafka/port.js';

/** A broker-side identity: sequences count from 0 within one. */
export interface Identity {
  readonly producerId: bigint;
  readonly producerEpoch: number;
}

/** One record batch as the machine sees it. The bytes stay in the shell, found by `id`; ids rise in the order of appending. */
export interface BatchRef {
  readonly id: number;
  readonly topic: string;
  readonly partition: number;
  readonly recordCount: number;
  readonly byteLength: number;
}

export interface BatchAnswer {
  readonly batchId: number;
  readonly errorCode: number;
  /** -1 when the broker does not know it (DUPLICATE_SEQUENCE of an old batch). */
  readonly baseOffset: number;
}

export interface TopicPartitionAnswer {
  readonly topic: string;
  readonly partition: number;
  readonly errorCode: number;
}

export type ProducerEvent =
  /** A fresh identity is wanted: fences every earlier owner of the transactional id, this one included. */
  | { readonly kind: 'init'; readonly now: number }
  /** Batches that are told together go together: one request a broker instead of one a batch. */
  | { readonly kind: 'enqueue'; readonly now: number; readonly batches: readonly BatchRef[] }
  /** No more batches in this epoch; `groupId` is null when no offsets go with it. */
  | { readonly kind: 'commit'; readonly now: number; readonly groupId: string | null }
  | { readonly kind: 'abort'; readonly now: number }
  | { readonly kind: 'tick'; readonly now: number }
  | ProducerAnswer;

export type ProducerAnswer =
  | { readonly kind: 'coordinatorFound'; readonly now: number; readonly call: number; readonly broker: number }
  | { readonly kind: 'metadata'; readonly now: number; readonly call: number; readonly topics: ReadonlyMap<string, TopicMetadata> }
  | { readonly kind: 'identified'; readonly now: number; readonly call: number; readonly errorCode: number; readonly identity: Identity }
  /** AddPartitionsToTxn, AddOffsetsToTxn, TxnOffsetCommit, OffsetCommit: one answer a partition, or one without a partition. */
  | { readonly kind: 'answered'; readonly now: number; readonly call: number; readonly results: readonly Partial<TopicPartitionAnswer>[] }
  | { readonly kind: 'ended'; readonly now: number; readonly call: number; readonly errorCode: number; readonly next: Identity | null }
  | { readonly kind: 'produced'; readonly now: number; readonly call: number; readonly results: readonly BatchAnswer[] }
  /** The connection broke or the request timed out: it may or may not have been carried out. */
  | { readonly kind: 'lost'; readonly now: number; readonly call: number }
  /** The port threw something else than a transport error: nothing that a retry mends. */
  | { readonly kind: 'refused'; readonly now: number; readonly call: number; readonly reason: string; readonly code: ErrorCode };

export type ProducerCommand =
  | { readonly kind: 'findCoordinator'; readonly call: number; readonly coordinator: 'transaction' | 'group'; readonly refresh: boolean }
  | { readonly kind: 'refreshMetadata'; readonly call: number; readonly topics: readonly string[]; readonly refresh: boolean }
  | { readonly kind: 'initProducerId'; readonly call: number; readonly broker: number }
  | {
      readonly kind: 'addPartitions';
      readonly call: number;
      readonly broker: number;
      readonly identity: Identity;
      readonly partitions: readonly { readonly topic: string; readonly partition: number }[];
    }
  | { readonly kind: 'addOffsets'; readonly call: number; readonly broker: number; readonly identity: Identity; readonly groupId: string }
  | { readonly kind: 'commitOffsets'; readonly call: number; readonly broker: number; readonly identity: Identity | null }
  | { readonly kind: 'endTxn'; readonly call: number; readonly broker: number; readonly identity: Identity }
  | {
      readonly kind: 'produce';
      readonly call: number;
      readonly broker: number;
      readonly identity: Identity;
      readonly batches: readonly { readonly batchId: number; readonly baseSequence: number }[];
    }
  /** Send a `tick` at `at` (ms, same clock as `now`); a later one replaces an earlier one. */
  | { readonly kind: 'wake'; readonly at: number }
  /** These batches are acknowledged or given up: their memory may be used again once no request holds it. */
  | { readonly kind: 'release'; readonly batchIds: readonly number[] }
  /** There is an identity and no transaction: answers `init` and `abort`. */
  | { readonly kind: 'ready' }
  /** Answers `commit`. */
  | { readonly kind: 'committed'; readonly nextOffsets: ReadonlyMap<string, number> }
  | { readonly kind: 'failed'; readonly failure: ProducerFailure };

/** Why an epoch, or the producer, is lost. */
export interface ProducerFailure {
  /** abort: the epoch is gone, the producer mends itself. fenced: somebody took the id over; `init` starts anew. fatal: close it. */
  readonly severity: 'abort' | 'fenced' | 'fatal';
  readonly code: ErrorCode;
  readonly message: string;
  /** `unknown`: the transaction may be committed; read the committed offsets again (require_stable) to know. */
  readonly outcome: 'aborted' | 'unknown';
  /** The group no longer knows the member in this generation: rejoin. */
  readonly memberFenced: boolean;
  /** Some acknowledgement is missing: records may stand in the log although the epoch failed. */
  readonly inDoubt: boolean;
  readonly brokerErrorCode?: number;
  readonly topic?: string;
  readonly partition?: number;
}

export type ProducerState =
  | 'uninitialised'
  | 'initialising'
  | 'ready'
  | 'inTransaction'
  | 'flushing'
  | 'committingOffsets'
  | 'ending'
  /** The epoch is committed, the identity for the next one is on its way. */
  | 'renewing'
  | 'aborting'
  | 'fenced'
  | 'fatal';
