/**
 * The transaction coordinator: producer ids and epochs, which partitions and groups take part, how a transaction ends. Both protocols: with AddPartitionsToTxn,
 * and KIP-890's (transaction.version 2), where the end of each transaction raises the epoch.
 *
 * Invariants: an identity that is not the current one of its transactional id changes nothing; the outcome is fixed when the end is prepared; the markers reach the
 * participants later, one by one, and until then the id answers CONCURRENT_TRANSACTIONS.
 */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type {
  EndTxnResponse,
  InitProducerIdRequest,
  InitProducerIdResponse,
  PartitionResult,
  ProducerIdentity,
  TopicPartition,
} from '../../kafka/port.js';
import type { SimulationClock } from './simulation-clock.js';

/** Where the markers go. */
export interface TransactionParticipants {
  exists(partition: TopicPartition): boolean;
  markPartition(partition: TopicPartition, producerId: bigint, epoch: number, commit: boolean): void;
  markGroup(groupId: string, producerId: bigint, commit: boolean): void;
}

export interface TransactionCoordinatorOptions {
  readonly clock: SimulationClock;
  /** Milliseconds until one participant has its marker. */
  readonly markerDelayMs: () => number;
  /** Default of brokers: 900 000 ms. */
  readonly maxTransactionTimeoutMs: number;
}

export type TransactionState = 'Empty' | 'Ongoing' | 'PrepareCommit' | 'PrepareAbort' | 'CompleteCommit' | 'CompleteAbort';

interface Transaction {
  readonly id: string;
  producerId: bigint;
  epoch: number;
  /** The epoch before a bump that its owner asked for (KIP-360), so that the request may be repeated; -1: none. */
  epochBefore: number;
  timeoutMs: number;
  state: TransactionState;
  readonly partitions: Map<string, TopicPartition>;
  readonly groups: Set<string>;
  cancelTimeout: () => void;
}

const OPERATION_NOT_ATTEMPTED = 55;
const INVALID_TRANSACTION_TIMEOUT = 50;
const INVALID_REQUEST = 42;
const lastEpoch = 0x7ffe;
const refused = (errorCode: number): InitProducerIdResponse => ({ errorCode, producerId: -1n, producerEpoch: -1 });

export class TransactionCoordinator {
  private readonly transactions = new Map<string, Transaction>();
  private nextProducerId = 0n;

  constructor(
    private readonly participants: TransactionParticipants,
    private readonly options: TransactionCoordinatorOptions,
  ) {}

  /** Transactional ids with a transaction that is open or being ended. */
  get open(): readonly string[] {
    return [...this.transactions.values()].filter(({ state }) => isOpen(state)).map(({ id }) => id);
  }

  stateOf(transactionalId: string): TransactionState | null {
    return this.transactions.get(transactionalId)?.state ?? null;
  }

  initProducerId({ transactionalId, transactionTimeoutMs, current }: InitProducerIdRequest): InitProducerIdResponse {
    if (transactionalId === null) return { errorCode: E.NONE, producerId: this.nextProducerId++, producerEpoch: 0 };
    if (transactionalId === '') return refused(INVALID_REQUEST);
    if (transactionTimeoutMs <= 0 || transactionTimeoutMs > this.options.maxTransactionTimeoutMs)
      return refused(INVALID_TRANSACTION_TIMEOUT);
    const txn = this.transactions.get(transactionalId) ?? this.create(transactionalId, transactionTimeoutMs);
    if (current !== undefined && txn.epoch >= 0) {
      const isKnown = current.producerId === txn.producerId && [txn.epoch, txn.epochBefore].includes(current.producerEpoch);
      if (!isKnown) return refused(E.PRODUCER_FENCED);
    }
    if (isEnding(txn.state)) return refused(E.CONCURRENT_TRANSACTIONS);
    if (txn.state === 'Ongoing') {
      this.fence(txn);
      return refused(E.CONCURRENT_TRANSACTIONS);
    }
    const isRepeated = current !== undefined && current.producerEpoch !== txn.epoch;
    if (!isRepeated) {
      txn.epochBefore = current === undefined ? -1 : txn.epoch;
      this.bump(txn);
    }
    txn.timeoutMs = transactionTimeoutMs;
    txn.state = 'Empty';
    return { errorCode: E.NONE, producerId: txn.producerId, producerEpoch: txn.epoch };
  }

  addPartitions(identity: ProducerIdentity, partitions: readonly TopicPartition[]): PartitionResult[] {
    const unknown = partitions.filter((partition) => !this.participants.exists(partition));
    if (unknown.length > 0) {
      return partitions.map(({ topic, partition }) => {
        const isUnknown = unknown.some((one) => one.topic === topic && one.partition === partition);
        return { topic, partition, errorCode: isUnknown ? E.UNKNOWN_TOPIC_OR_PARTITION : OPERATION_NOT_ATTEMPTED };
      });
    }
    const txn = this.usable(identity);
    if (typeof txn !== 'number') for (const partition of partitions) this.enlist(txn, partition);
    const errorCode = typeof txn === 'number' ? txn : E.NONE;
    return partitions.map(({ topic, partition }) => ({ topic, partition, errorCode }));
  }

  addGroup(identity: ProducerIdentity, groupId: string): number {
    const txn = this.usable(identity);
    if (typeof txn === 'number') return txn;
    this.begin(txn);
    txn.groups.add(groupId);
    return E.NONE;
  }

  /** Whether the partition takes part already; else a late write of a transaction that is over would be appended. */
  verifyPartition(identity: ProducerIdentity, partition: TopicPartition): number {
    return this.verify(identity, (txn) => txn.partitions.has(keyOf(partition)));
  }

  verifyGroup(identity: ProducerIdentity, groupId: string): number {
    return this.verify(identity, (txn) => txn.groups.has(groupId));
  }

  endTxn(identity: ProducerIdentity & { readonly commit: boolean }, v2: boolean): EndTxnResponse {
    const answer = (errorCode: number): EndTxnResponse => ({ errorCode, next: null });
    const { commit } = identity;
    const txn = this.transactions.get(identity.transactionalId);
    if (txn?.producerId !== identity.producerId) return answer(E.INVALID_PRODUCER_ID_MAPPING);
    const isRepeated = v2 && identity.producerEpoch === txn.epoch - 1 && (isEnding(txn.state) || isComplete(txn.state));
    if (identity.producerEpoch !== txn.epoch && !isRepeated) return answer(E.PRODUCER_FENCED);
    const done = (): EndTxnResponse => ({
      errorCode: E.NONE,
      next: v2 ? { producerId: txn.producerId, producerEpoch: txn.epoch } : null,
    });
    const isSameOutcome = commit === (txn.state === 'PrepareCommit' || txn.state === 'CompleteCommit');
    if (txn.state === 'Ongoing') {
      if (v2) this.bump(txn);
      this.prepare(txn, commit);
      return done();
    }
    if (isEnding(txn.state)) return answer(isSameOutcome ? E.CONCURRENT_TRANSACTIONS : E.INVALID_TXN_STATE);
    if (v2 && !isRepeated) {
      // Nothing was written under this epoch: an abort raises it all the same, a commit has nothing to end.
      if (commit) return answer(E.INVALID_TXN_STATE);
      this.bump(txn);
      this.prepare(txn, false);
      return done();
    }
    return isComplete(txn.state) && isSameOutcome ? done() : answer(E.INVALID_TXN_STATE);
  }

  private create(id: string, timeoutMs: number): Transaction {
    const txn: Transaction = {
      id,
      producerId: this.nextProducerId++,
      epoch: -1,
      epochBefore: -1,
      timeoutMs,
      state: 'Empty',
      partitions: new Map(),
      groups: new Set(),
      cancelTimeout: () => undefined,
    };
    this.transactions.set(id, txn);
    return txn;
  }

  private bump(txn: Transaction): void {
    if (txn.epoch >= lastEpoch) {
      txn.producerId = this.nextProducerId++;
      txn.epoch = 0;
    } else txn.epoch++;
  }

  /** The transaction when this identity may write in it now, or why it may not. */
  private usable(identity: ProducerIdentity): Transaction | number {
    const txn = this.transactions.get(identity.transactionalId);
    if (txn?.producerId !== identity.producerId) return E.INVALID_PRODUCER_ID_MAPPING;
    if (txn.epoch !== identity.producerEpoch) return E.PRODUCER_FENCED;
    return isEnding(txn.state) ? E.CONCURRENT_TRANSACTIONS : txn;
  }

  private verify(identity: ProducerIdentity, takesPart: (txn: Transaction) => boolean): number {
    const txn = this.usable(identity);
    if (typeof txn === 'number') return txn;
    return txn.state === 'Ongoing' && takesPart(txn) ? E.NONE : E.TRANSACTION_ABORTABLE;
  }

  private enlist(txn: Transaction, partition: TopicPartition): void {
    this.begin(txn);
    txn.partitions.set(keyOf(partition), { topic: partition.topic, partition: partition.partition });
  }

  private begin(txn: Transaction): void {
    if (txn.state === 'Ongoing') return;
    txn.state = 'Ongoing';
    txn.epochBefore = -1;
    txn.cancelTimeout = this.options.clock.setTimer(() => {
      if (txn.state === 'Ongoing') this.fence(txn);
    }, txn.timeoutMs);
  }

  /** Aborts under the next epoch, so that whoever holds this one can write nothing more. */
  private fence(txn: Transaction): void {
    this.bump(txn);
    txn.epochBefore = -1;
    this.prepare(txn, false);
  }

  private prepare(txn: Transaction, commit: boolean): void {
    txn.cancelTimeout();
    txn.state = commit ? 'PrepareCommit' : 'PrepareAbort';
    const { producerId, epoch } = txn;
    const markers = [
      ...[...txn.partitions.values()].map((partition) => () => this.participants.markPartition(partition, producerId, epoch, commit)),
      ...[...txn.groups].map((groupId) => () => this.participants.markGroup(groupId, producerId, commit)),
    ];
    txn.partitions.clear();
    txn.groups.clear();
    let left = markers.length;
    const written = (): void => {
      if (left === 0) txn.state = commit ? 'CompleteCommit' : 'CompleteAbort';
    };
    for (const write of markers) {
      this.options.clock.setTimer(() => {
        write();
        left--;
        written();
      }, this.options.markerDelayMs());
    }
    written();
  }
}

function keyOf({ topic, partition }: TopicPartition): string {
  return `${topic}-${partition}`;
}

function isEnding(state: TransactionState): boolean {
  return state === 'PrepareCommit' || state === 'PrepareAbort';
}

function isComplete(state: TransactionState): boolean {
  return state === 'CompleteCommit' || state === 'CompleteAbort';
}

function isOpen(state: TransactionState): boolean {
  return state === 'Ongoing' || isEnding(state);
}
