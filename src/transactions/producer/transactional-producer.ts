/**
 * The producer of one stream thread: executes `ProducerMachine` over a `KafkaPort` and keeps the bytes. One epoch is filled while the sealed one before it
 * is being committed; everything that decides about a transaction is in the machine. The epoch coordinator calls it.
 */
import { MillraceError } from '../../errors.js';
import { defaultCodecs } from '../../kafka/compression/codecs.js';
import type { CompressionType } from '../../kafka/compression/compression-type.js';
import type { KafkaPort } from '../../kafka/port.js';
import type { RecordBatchBuilder } from '../../kafka/record-batch/record-batch-builder.js';
import { silentLogger, type Logger } from '../../observability/logger.js';
import { CommandExecutor, type EpochOffsets } from './command-executor.js';
import { EpochOutput } from './epoch-output.js';
import type { EpochProducer, EpochResult, ProducerMetrics, SealedEpoch } from './epoch-producer.js';
import { systemClock, type ProducerClock } from './producer-clock.js';
import { aborted, fatal, toError } from './producer-failure.js';
import { ProducerMachine, type ProducerMachineOptions } from './producer-machine.js';
import type { BatchRef, ProducerCommand, ProducerEvent, ProducerFailure } from './producer-protocol.js';
import { TopicLimits } from './topic-limits.js';

export interface TransactionalProducerOptions extends Pick<
  ProducerMachineOptions,
  'deliveryTimeoutMs' | 'maxInFlightPerBroker' | 'maxRequestBytes' | 'missingTopicTimeoutMs'
> {
  /** Connected: what the cluster supports is read when the producer is made. */
  readonly port: KafkaPort;
  /** null: idempotent only, for at-least-once. */
  readonly transactionalId: string | null;
  /** Default 10 000 ms. */
  readonly transactionTimeoutMs?: number;
  /** Bytes of a partition's output from which `sendReady` sends it; default 524 288. */
  readonly batchBytes?: number;
  /** Bytes of buffers kept for reuse; default 32 MiB. */
  readonly pooledBytes?: number;
  /** Default 30 000 ms: how long a broker may wait for its replicas. */
  readonly produceTimeoutMs?: number;
  /** Default none. */
  readonly compression?: CompressionType;
  /** The epoch was lost, at any moment; `failed` is the same. */
  readonly onAbort?: (reason: MillraceError) => void;
  readonly logger?: Logger;
  readonly clock?: ProducerClock;
  /** Default Math.random. */
  readonly random?: () => number;
}

interface Waiter<T> {
  readonly resolve: (value: T) => void;
  readonly reject: (reason: Error) => void;
}

interface Totals {
  recordCount: number;
  byteLength: number;
}

const CLOSE_TIMEOUT_MS = 5_000;

export class TransactionalProducer implements EpochProducer {
  readonly transactionalId: string | null;
  failed: MillraceError | null = null;

  private readonly machine: ProducerMachine;
  private readonly output: EpochOutput;
  private readonly executor: CommandExecutor;
  private readonly limits: TopicLimits;
  private readonly clock: ProducerClock;
  private readonly logger: Logger;
  private readonly batchBytes: number;
  private readonly owner: string;
  private readonly onAbort: ((reason: MillraceError) => void) | undefined;

  /** Of the epoch being filled. */
  private totals: Totals = { recordCount: 0, byteLength: 0 };
  /** The epoch between its barrier and its end. */
  private sealed: SealedEpoch | null = null;
  private committing: Waiter<ReadonlyMap<string, number>> | null = null;
  /** Resolves when `committing` does, in either way. */
  private settling: Promise<void> = Promise.resolve();
  private waitingForReady: Waiter<void>[] = [];
  private cancelWake: () => void = () => undefined;
  private isClosed = false;
  private readonly counters = { epochsCommitted: 0, epochsFailed: 0, timesFenced: 0, lastCommitMs: 0 };

  constructor(options: TransactionalProducerOptions) {
    const { port, transactionalId } = options;
    const transactionTimeoutMs = options.transactionTimeoutMs ?? 10_000;
    const transactional = transactionalId !== null;
    this.transactionalId = transactionalId;
    this.owner = transactionalId ?? 'without transactions';
    this.clock = options.clock ?? systemClock;
    this.logger = options.logger ?? silentLogger;
    this.batchBytes = options.batchBytes ?? 512 * 1024;
    this.onAbort = options.onAbort;
    this.limits = new TopicLimits(port.admin, this.logger);
    const { compression = 'none' } = options;
    // What is missing is told before anything is written.
    if (compression !== 'none') defaultCodecs.get(compression);
    this.output = new EpochOutput(this.limits, { transactional, compression, pooledBytes: options.pooledBytes });
    this.machine = new ProducerMachine({
      ...options,
      transactional,
      transactionV2: transactional && port.transactionV2,
      transactionTimeoutMs,
      random: options.random ?? Math.random,
    });
    this.executor = new CommandExecutor(port, this.output, {
      transactionalId,
      transactionTimeoutMs,
      produceTimeoutMs: options.produceTimeoutMs ?? 30_000,
      now: () => this.clock.now(),
      report: (answer) => this.deliver(answer),
    });
  }

  async init(): Promise<void> {
    this.mustBeOpen();
    this.forgetEpochs();
    await this.becomesReady({ kind: 'init', now: this.clock.now() });
  }

  prepareTopics(topics: readonly string[]): Promise<void> {
    return this.limits.prepare(topics);
  }

  builder(topic: string, partition: number): RecordBatchBuilder {
    return this.output.builder(topic, partition);
  }

  get bufferedBytes(): number {
    return this.output.bufferedBytes;
  }

  sendReady(): void {
    const { state } = this.machine;
    if (this.isSealedPending || this.failed !== null || (state !== 'ready' && state !== 'inTransaction')) return;
    const ready = this.output.cut(this.batchBytes);
    if (ready.length > 0) this.sealed = null;
    this.enqueue(ready);
  }

  sealEpoch(): SealedEpoch {
    this.mustBeOpen();
    if (this.isSealedPending) throw new MillraceError('MILL_STATE_INVALID', 'An epoch is sealed while the one before it has not ended');
    if (this.failed === null) this.enqueue(this.output.cut(1));
    const totals = this.totals;
    this.totals = { recordCount: 0, byteLength: 0 };
    const sealed: SealedEpoch = {
      isEmpty: totals.recordCount === 0,
      commit: (offsets, member, renew) => this.commit(sealed, totals, { offsets, member, renew: renew ?? null }),
    };
    this.sealed = sealed;
    return sealed;
  }

  /** An empty epoch that nobody committed is over when the next one begins. */
  private get isSealedPending(): boolean {
    return this.sealed !== null && !(this.sealed.isEmpty && this.committing === null);
  }

  async abort(): Promise<void> {
    this.mustBeOpen();
    const { failed } = this;
    if (failed !== null && failed.details['severity'] !== 'abort') throw failed;
    await this.giveUp();
  }

  async close(): Promise<void> {
    if (this.isClosed) return;
    const { state } = this.machine;
    const mayBeOpen = state !== 'uninitialised' && state !== 'fenced' && state !== 'fatal' && state !== 'initialising';
    if (mayBeOpen) {
      const aborting = this.giveUp().catch((error: unknown) => {
        this.logger.warn({ err: error, transactionalId: this.transactionalId }, 'the open transaction was not aborted at close');
      });
      let cancel: () => void = () => undefined;
      const timeout = new Promise<void>((resolve) => (cancel = this.clock.after(CLOSE_TIMEOUT_MS, resolve)));
      await Promise.race([aborting, timeout]);
      cancel();
    }
    this.isClosed = true;
    this.cancelWake();
    this.executor.close();
    this.output.drop();
    const closed = new MillraceError('MILL_STATE_INVALID', `The producer ${this.owner} was closed`);
    this.committing?.reject(closed);
    this.settleReady((waiter) => waiter.reject(closed));
  }

  metrics(): ProducerMetrics {
    return { ...this.executor.counters, ...this.counters };
  }

  private async giveUp(): Promise<void> {
    // Only an EndTxn under way can still decide the epoch, and one that is decided is told; everything else may be given up at once.
    const { state } = this.machine;
    if (state === 'ending' || state === 'renewing') await this.settling;
    this.forgetEpochs();
    await this.becomesReady({ kind: this.machine.state === 'uninitialised' ? 'init' : 'abort', now: this.clock.now() });
  }

  private async commit(sealed: SealedEpoch, totals: Totals, epochOffsets: EpochOffsets): Promise<EpochResult> {
    const { offsets, member } = epochOffsets;
    this.mustBeOpen();
    if (this.failed !== null) throw this.failed;
    if (this.sealed !== sealed || this.committing !== null) {
      throw new MillraceError('MILL_STATE_INVALID', 'An epoch is committed that was given up, or twice');
    }
    const startedAt = this.clock.now();
    this.executor.offsets = epochOffsets;
    const acknowledged = new Promise<ReadonlyMap<string, number>>((resolve, reject) => {
      this.committing = { resolve, reject };
    });
    this.settling = acknowledged.then(
      () => undefined,
      () => undefined,
    );
    this.dispatch({ kind: 'commit', now: startedAt, groupId: offsets.length === 0 ? null : member.groupId });
    const nextOffsets = await acknowledged;
    if (offsets.length > 0 || totals.recordCount > 0) {
      this.counters.epochsCommitted++;
      this.counters.lastCommitMs = this.clock.now() - startedAt;
    }
    return { nextOffsets, ...totals };
  }

  private enqueue(batches: readonly BatchRef[]): void {
    if (batches.length === 0) return;
    for (const batch of batches) {
      this.totals.recordCount += batch.recordCount;
      this.totals.byteLength += batch.byteLength;
    }
    this.dispatch({ kind: 'enqueue', now: this.clock.now(), batches });
  }

  private becomesReady(event: ProducerEvent): Promise<void> {
    return new Promise((resolve, reject) => {
      this.waitingForReady.push({ resolve, reject });
      this.dispatch(event);
    });
  }

  /** As `dispatch`, for events that nobody waits for: a fault of ours ends the producer, not the process. */
  private deliver(event: ProducerEvent): void {
    try {
      this.dispatch(event);
    } catch (error) {
      this.fail(fatal('MILL_INVARIANT', error instanceof Error ? error.message : String(error)), false);
    }
  }

  private dispatch(event: ProducerEvent): void {
    if (this.isClosed) return;
    for (const command of this.machine.handle(event)) this.execute(command);
  }

  private execute(command: ProducerCommand): void {
    switch (command.kind) {
      case 'wake':
        this.wakeAt(command.at);
        return;
      case 'release':
        for (const id of command.batchIds) this.output.release(id);
        return;
      case 'ready':
        this.settleReady((waiter) => waiter.resolve());
        return;
      case 'committed': {
        const { committing } = this;
        this.committing = null;
        this.sealed = null;
        committing?.resolve(command.nextOffsets);
        return;
      }
      case 'failed':
        this.fail(command.failure, this.machine.failure === null);
        return;
      default:
        this.executor.run(command);
        return;
    }
  }

  /** @param isOwnDoing the caller itself gave the epoch up, so there is nothing to tell but to the pending commit */
  private fail(failure: ProducerFailure, isOwnDoing: boolean): void {
    const error = toError(failure, this.owner);
    const { committing } = this;
    this.committing = null;
    committing?.reject(error);
    if (isOwnDoing) return;
    this.failed = error;
    this.counters.epochsFailed++;
    if (failure.severity === 'fenced') this.counters.timesFenced++;
    this.logger.warn({ ...error.details, transactionalId: this.transactionalId }, error.message);
    this.settleReady((waiter) => waiter.reject(error));
    this.onAbort?.(error);
  }

  /** Drops what is buffered and sealed: it came from an epoch that is lost. */
  private forgetEpochs(): void {
    this.failed = null;
    this.sealed = null;
    this.totals = { recordCount: 0, byteLength: 0 };
    this.output.drop();
    const { committing } = this;
    this.committing = null;
    committing?.reject(toError(aborted('The epoch was given up by its owner'), this.owner));
  }

  private wakeAt(at: number): void {
    this.cancelWake();
    this.cancelWake = this.clock.after(Math.max(0, at - this.clock.now()), () => {
      this.deliver({ kind: 'tick', now: this.clock.now() });
    });
  }

  private settleReady(settle: (waiter: Waiter<void>) => void): void {
    const waiting = this.waitingForReady;
    this.waitingForReady = [];
    for (const waiter of waiting) settle(waiter);
  }

  private mustBeOpen(): void {
    if (this.isClosed) throw new MillraceError('MILL_STATE_INVALID', `The producer ${this.owner} is closed`);
  }
}
