import type { BatchAnswer, Identity, ProducerAnswer, ProducerCommand } from '../../../src/transactions/producer/producer-protocol.js';
import { topicMetadata } from './machine-driver.js';

export interface LogEntry {
  readonly batchId: number;
  readonly producerId: bigint;
  readonly producerEpoch: number;
  readonly sequence: number;
  readonly recordCount: number;
  readonly offset: number;
  status: 'open' | 'committed' | 'aborted';
}

interface PartitionLog {
  readonly entries: LogEntry[];
  endOffset: number;
  /** By producer id: highest epoch seen (markers included) and the sequence after the last batch in it. */
  readonly producers: Map<bigint, { epoch: number; nextSequence: number }>;
}

export interface SentBatch {
  readonly id: number;
  readonly partition: number;
  readonly recordCount: number;
}

type Answer = ProducerAnswer extends infer A ? (A extends unknown ? Omit<A, 'now' | 'call'> : never) : never;

/**
 * A cluster of one broker as far as one producer sees it: logs with producer state, and a transaction coordinator whose markers take
 * some requests to be written. It behaves as Kafka does under both protocols; what it finds wrong it keeps in `violations`.
 */
export class BrokerModel {
  readonly logs = new Map<number, PartitionLog>();
  readonly violations: string[] = [];
  committedOffsets: number[] = [];
  private readonly batches = new Map<number, SentBatch>();
  private producerId = 100n;
  private epoch = -1;
  private state: 'empty' | 'ongoing' | 'committing' | 'aborting' | 'committed' | 'aborted' = 'empty';
  private readonly inTransaction = new Set<number>();
  private hasGroup = false;
  private pendingOffsets: number | null = null;
  private markersIn = 0;

  constructor(
    private readonly transactional: boolean,
    private readonly v2: boolean,
    /** Requests that meet CONCURRENT_TRANSACTIONS before the markers of a transaction are written. */
    private readonly markerDelay: () => number,
  ) {}

  register(batch: SentBatch): void {
    this.batches.set(batch.id, batch);
  }

  /** Finishes what the coordinator has begun. */
  settle(): void {
    this.markersIn = 0;
    this.writeMarkers();
  }

  carryOut(command: ProducerCommand, offsets: number): Answer {
    switch (command.kind) {
      case 'findCoordinator':
        return { kind: 'coordinatorFound', broker: 0 };
      case 'refreshMetadata':
        return { kind: 'metadata', topics: new Map(command.topics.map((topic) => [topic, topicMetadata(topic, 8)])) };
      case 'initProducerId': {
        const errorCode = this.initProducerId();
        return { kind: 'identified', errorCode, identity: { producerId: this.producerId, producerEpoch: this.epoch } };
      }
      case 'addPartitions': {
        const errorCode = this.join(command.identity, ...command.partitions.map(({ partition }) => partition));
        return { kind: 'answered', results: [{ errorCode }] };
      }
      case 'addOffsets': {
        const errorCode = this.join(command.identity);
        if (errorCode === 0) this.hasGroup = true;
        return { kind: 'answered', results: [{ errorCode }] };
      }
      case 'commitOffsets':
        return { kind: 'answered', results: [{ errorCode: this.commitOffsets(command.identity, offsets) }] };
      case 'endTxn': {
        const errorCode = this.endTxn(command.identity);
        return {
          kind: 'ended',
          errorCode,
          next: this.v2 && errorCode === 0 ? { producerId: this.producerId, producerEpoch: this.epoch } : null,
        };
      }
      case 'produce':
        return {
          kind: 'produced',
          results: command.batches.map(({ batchId, baseSequence }) => this.append(command.identity, batchId, baseSequence)),
        };
      default:
        throw new Error(`not a request: ${command.kind}`);
    }
  }

  private initProducerId(): number {
    if (!this.transactional) {
      this.producerId++;
      this.epoch = 0;
      return 0;
    }
    if (this.state === 'ongoing') {
      this.epoch++;
      this.begin('aborting');
      return 51;
    }
    if (this.areMarkersDue()) return 51;
    this.epoch++;
    this.state = 'empty';
    return 0;
  }

  /** AddPartitionsToTxn, and what Produce and TxnOffsetCommit do by themselves under protocol 2. */
  private join({ producerId, producerEpoch }: Identity, ...partitions: number[]): number {
    if (producerId !== this.producerId || producerEpoch !== this.epoch) return 90;
    if (this.areMarkersDue()) return 51;
    this.state = 'ongoing';
    for (const partition of partitions) this.inTransaction.add(partition);
    return 0;
  }

  private commitOffsets(identity: Identity | null, offsets: number): number {
    if (identity === null) {
      this.committedOffsets.push(offsets);
      return 0;
    }
    if (this.v2) {
      const joined = this.join(identity);
      if (joined !== 0) return joined;
    } else {
      if (identity.producerEpoch !== this.epoch) return 47;
      if (this.state !== 'ongoing' || !this.hasGroup) return 48;
    }
    this.pendingOffsets = offsets;
    return 0;
  }

  private endTxn({ producerEpoch }: Identity): number {
    const isRepeated = this.v2 && producerEpoch === this.epoch - 1 && (this.state === 'committing' || this.state === 'committed');
    if (producerEpoch !== this.epoch && !isRepeated) return 90;
    switch (this.state) {
      case 'ongoing':
        if (this.v2) this.epoch++;
        this.begin('committing');
        return 0;
      case 'committing':
        return this.areMarkersDue() ? 51 : 0;
      case 'committed':
        return 0;
      default:
        return 48;
    }
  }

  private append(identity: Identity, batchId: number, sequence: number): BatchAnswer {
    const batch = this.batches.get(batchId);
    if (batch === undefined) throw new Error(`unknown batch ${batchId}`);
    const refused = (errorCode: number): BatchAnswer => ({ batchId, errorCode, baseOffset: -1 });
    const log = this.log(batch.partition);
    const known = log.producers.get(identity.producerId);
    if (known !== undefined && known.epoch > identity.producerEpoch) return refused(47);
    if (this.transactional) {
      if (this.v2) {
        const joined = this.join(identity, batch.partition);
        if (joined !== 0) return refused(joined === 90 ? 47 : joined);
      } else if (identity.producerEpoch !== this.epoch || this.state !== 'ongoing' || !this.inTransaction.has(batch.partition)) {
        return refused(identity.producerEpoch === this.epoch ? 48 : 47);
      }
    }
    const earlier = log.entries.find(
      (entry) => entry.producerId === identity.producerId && entry.producerEpoch === identity.producerEpoch && entry.sequence === sequence,
    );
    if (earlier !== undefined) {
      if (earlier.batchId !== batchId)
        this.violations.push(`sequence ${sequence} of epoch ${identity.producerEpoch} stands for ${earlier.batchId} and ${batchId}`);
      return { batchId, errorCode: 0, baseOffset: earlier.offset };
    }
    const expected = known?.epoch === identity.producerEpoch ? known.nextSequence : 0;
    // A broker that knows nothing of the producer takes whatever sequence comes first.
    if (known !== undefined && sequence !== expected) return refused(45);
    const { producerId, producerEpoch } = identity;
    const { recordCount } = batch;
    const status = this.transactional ? 'open' : 'committed';
    log.entries.push({ batchId, producerId, producerEpoch, sequence, recordCount, offset: log.endOffset, status });
    log.producers.set(producerId, { epoch: producerEpoch, nextSequence: sequence + recordCount });
    log.endOffset += recordCount;
    return { batchId, errorCode: 0, baseOffset: log.endOffset - recordCount };
  }

  private begin(end: 'committing' | 'aborting'): void {
    this.state = end;
    this.markersIn = this.markerDelay();
  }

  private areMarkersDue(): boolean {
    if (this.state !== 'committing' && this.state !== 'aborting') return false;
    if (this.markersIn-- > 0) return true;
    this.writeMarkers();
    return false;
  }

  private writeMarkers(): void {
    if (this.state !== 'committing' && this.state !== 'aborting') return;
    const status = this.state === 'committing' ? 'committed' : 'aborted';
    for (const partition of this.inTransaction) {
      const log = this.log(partition);
      for (const entry of log.entries) if (entry.status === 'open') entry.status = status;
      const known = log.producers.get(this.producerId);
      if (known === undefined || known.epoch < this.epoch) log.producers.set(this.producerId, { epoch: this.epoch, nextSequence: 0 });
      log.endOffset++;
    }
    for (const [partition, log] of this.logs) {
      if (log.entries.some((entry) => entry.status === 'open'))
        this.violations.push(`partition ${partition} has records outside of a transaction`);
    }
    if (status === 'committed' && this.pendingOffsets !== null) this.committedOffsets.push(this.pendingOffsets);
    this.pendingOffsets = null;
    this.hasGroup = false;
    this.inTransaction.clear();
    this.state = status;
  }

  private log(partition: number): PartitionLog {
    let log = this.logs.get(partition);
    if (log === undefined) this.logs.set(partition, (log = { entries: [], endOffset: 0, producers: new Map() }));
    return log;
  }
}
