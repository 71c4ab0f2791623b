/**
 * Carries the machine's requests out over the port and reports each answer as the event of the same call. It decides nothing.
 */
import { KafkaTransportError, MillraceError } from '../../errors.js';
import { ErrorCodes } from '../../kafka/error-codes.js';
import type { CommittedOffset, GroupMemberIdentity, KafkaPort, PartitionResult, ProducerIdentity } from '../../kafka/port.js';
import type { EpochOutput } from './epoch-output.js';
import type { RenewMember } from './epoch-producer.js';
import { ANY_BROKER } from './producer-machine.js';
import type { Identity, ProducerAnswer, ProducerCommand } from './producer-protocol.js';

export type ProducerRequestCommand = Exclude<ProducerCommand, { kind: 'wake' | 'release' | 'ready' | 'committed' | 'failed' }>;

export interface ExecutorOptions {
  readonly transactionalId: string | null;
  readonly transactionTimeoutMs: number;
  /** How long the broker may wait for its replicas, ms. */
  readonly produceTimeoutMs: number;
  readonly now: () => number;
  readonly report: (answer: ProducerAnswer) => void;
}

/** What a commit sends; the machine knows only that there is something. */
export interface EpochOffsets {
  readonly offsets: readonly CommittedOffset[];
  readonly member: GroupMemberIdentity;
  readonly renew: RenewMember | null;
}

/** The broker may be a generation ahead of a member that keeps its tasks. */
const mendedByNextIdentity: ReadonlySet<number> = new Set([ErrorCodes.ILLEGAL_GENERATION, ErrorCodes.REBALANCE_IN_PROGRESS]);

export class CommandExecutor {
  offsets: EpochOffsets | null = null;
  readonly counters = { recordsSent: 0, bytesSent: 0, produceRequests: 0, batchesRepeated: 0 };
  private readonly closing = new AbortController();

  constructor(
    private readonly port: KafkaPort,
    private readonly output: EpochOutput,
    private readonly options: ExecutorOptions,
  ) {}

  run(command: ProducerRequestCommand): void {
    const { report, now } = this.options;
    this.request(command).then(report, (error: unknown) => {
      if (!this.closing.signal.aborted) report(answerFor(command.call, error, now()));
    });
  }

  /** Stops look-ups that wait, and reports no failure any more. */
  close(): void {
    this.closing.abort();
  }

  private async request(command: ProducerRequestCommand): Promise<ProducerAnswer> {
    const { call } = command;
    const { port, options } = this;
    switch (command.kind) {
      case 'findCoordinator': {
        const key = command.coordinator === 'group' ? this.required().member.groupId : this.transactionalId();
        const broker = await port.findCoordinator(command.coordinator, key, { refresh: command.refresh, signal: this.closing.signal });
        return { kind: 'coordinatorFound', now: options.now(), call, broker };
      }
      case 'refreshMetadata': {
        const { topics } = await port.metadata(command.topics, { refresh: command.refresh });
        return { kind: 'metadata', now: options.now(), call, topics };
      }
      case 'initProducerId': {
        const { transactionalId, transactionTimeoutMs } = options;
        const broker = command.broker === ANY_BROKER ? await this.anyBroker() : command.broker;
        const { errorCode, producerId, producerEpoch } = await port.initProducerId(broker, { transactionalId, transactionTimeoutMs });
        return { kind: 'identified', now: options.now(), call, errorCode, identity: { producerId, producerEpoch } };
      }
      case 'addPartitions': {
        const results = await port.addPartitionsToTxn(command.broker, { ...this.sign(command.identity), partitions: command.partitions });
        return { kind: 'answered', now: options.now(), call, results };
      }
      case 'addOffsets': {
        const result = await port.addOffsetsToTxn(command.broker, { ...this.sign(command.identity), groupId: command.groupId });
        return { kind: 'answered', now: options.now(), call, results: [result] };
      }
      case 'commitOffsets': {
        const results = await this.commitOffsets(command);
        return { kind: 'answered', now: options.now(), call, results };
      }
      case 'endTxn': {
        const { errorCode, next } = await port.endTxn(command.broker, { ...this.sign(command.identity), commit: true });
        return { kind: 'ended', now: options.now(), call, errorCode, next };
      }
      case 'produce':
        return this.produce(command);
    }
  }

  /** Sends the offsets until they are taken, or refused for something that another identity of the member does not mend. */
  private async commitOffsets({
    broker,
    identity,
  }: Extract<ProducerRequestCommand, { kind: 'commitOffsets' }>): Promise<readonly PartitionResult[]> {
    const { offsets, renew, ...first } = this.required();
    for (let { member } = first; ;) {
      const results =
        identity === null
          ? await this.port.offsetCommit(broker, { ...member, offsets })
          : await this.port.txnOffsetCommit(broker, { ...member, ...this.sign(identity), offsets });
      const refusal = results.find(({ errorCode }) => mendedByNextIdentity.has(errorCode));
      const next = refusal === undefined || renew === null ? null : await renew(member, refusal.errorCode);
      if (next === null) return results;
      member = next;
    }
  }

  private async produce(command: Extract<ProducerRequestCommand, { kind: 'produce' }>): Promise<ProducerAnswer> {
    const held = command.batches.map(({ batchId, baseSequence }) => {
      const batch = this.output.hold(batchId, command.identity, baseSequence);
      this.count(batch);
      return { ...batch, batchId };
    });
    this.counters.produceRequests++;
    let isLost = true;
    try {
      const response = await this.port.produce(command.broker, {
        transactionalId: this.options.transactionalId,
        acks: -1,
        timeoutMs: this.options.produceTimeoutMs,
        partitions: held.map(({ topic, partition, buffer }) => ({ topic, partition, records: [buffer] })),
      });
      isLost = false;
      const idOf = new Map(held.map(({ topic, partition, batchId }) => [`${topic}-${partition}`, batchId]));
      const results = response.partitions.map(({ topic, partition, errorCode, baseOffset }) => {
        const batchId = idOf.get(`${topic}-${partition}`) ?? -1;
        idOf.delete(`${topic}-${partition}`);
        return { batchId, errorCode, baseOffset };
      });
      if (idOf.size > 0)
        throw new KafkaTransportError(`Broker ${command.broker} answered a Produce without ${[...idOf.keys()].join(', ')}`);
      return { kind: 'produced', now: this.options.now(), call: command.call, results };
    } finally {
      this.output.requestEnded(held, isLost);
    }
  }

  private count(batch: { readonly isRepeated: boolean; readonly recordCount: number; readonly buffer: Buffer }): void {
    this.counters.bytesSent += batch.buffer.length;
    if (batch.isRepeated) this.counters.batchesRepeated++;
    else this.counters.recordsSent += batch.recordCount;
  }

  private async anyBroker(): Promise<number> {
    const { brokers } = await this.port.metadata([]);
    const first = brokers[0];
    if (first === undefined) throw new KafkaTransportError('The metadata names no broker');
    return first.nodeId;
  }

  private sign(identity: Identity): ProducerIdentity {
    return { transactionalId: this.transactionalId(), producerId: identity.producerId, producerEpoch: identity.producerEpoch };
  }

  private transactionalId(): string {
    if (this.options.transactionalId === null) throw new MillraceError('MILL_INVARIANT', 'An idempotent producer has no transaction');
    return this.options.transactionalId;
  }

  private required(): EpochOffsets {
    if (this.offsets === null) throw new MillraceError('MILL_INVARIANT', 'Offsets are to be committed but none were given');
    return this.offsets;
  }
}

function answerFor(call: number, error: unknown, now: number): ProducerAnswer {
  const isMillrace = error instanceof MillraceError;
  if (isMillrace && (error.code === 'MILL_TRANSPORT' || error.code === 'MILL_BROKER_UNREACHABLE')) return { kind: 'lost', now, call };
  const reason = error instanceof Error ? error.message : String(error);
  // What no port told is a fault on this side, as in building the request: the broker was not even asked.
  return { kind: 'refused', now, call, reason, code: isMillrace ? error.code : 'MILL_INVARIANT' };
}
