/**
 * The state machine of one producer: events in, commands out; no clock, no randomness and no I/O of its own.
 *
 * Invariants: one transaction is open at a time and ends before the next one's first request; an acknowledgement in doubt never leads
 * to a commit; after a lost epoch nothing is sent until InitProducerId, which fences and aborts what the old identity left (its abort
 * markers carry a higher epoch, so that a late request of ours is refused wherever it may still be), has given a new identity;
 * an EndTxn is repeated with the same identity until its answer is definite; when a late copy of a request could reach the next transaction,
 * that has a new identity.
 * Idempotent mode is the same without the transaction. `TransactionalProducer` executes the commands.
 *
 *     uninitialised → initialising → ready → inTransaction → flushing → committingOffsets → ending → (renewing →) ready
 *     any of them → aborting → ready;  → fenced → initialising;  → aborting → fatal
 */
import { MillraceError } from '../../errors.js';
import { classify, describeCode, leavesEndInDoubt } from './answer-class.js';
import { CoordinatorCall, type CoordinatorRequest } from './coordinator-call.js';
import type { OutputPartition } from './output-partition.js';
import { ProduceScheduler } from './produce-scheduler.js';
import { aborted, brokerRefused, fatal } from './producer-failure.js';
import type {
  Identity,
  ProducerCommand,
  ProducerEvent,
  ProducerFailure,
  ProducerState,
  TopicPartitionAnswer,
} from './producer-protocol.js';

export interface ProducerMachineOptions {
  /** false: idempotent only, for at-least-once. */
  readonly transactional: boolean;
  /** KIP-890: partitions join a transaction with their first Produce, EndTxn answers with the next epoch. */
  readonly transactionV2: boolean;
  readonly transactionTimeoutMs: number;
  /** Default 120 000: how long a batch or a step of the transaction is tried. */
  readonly deliveryTimeoutMs?: number;
  /** Default 3. */
  readonly maxInFlightPerBroker?: number;
  /** Default 16 MiB. */
  readonly maxRequestBytes?: number;
  /** Default 10 000: how long a topic that the cluster does not know is waited for. */
  readonly missingTopicTimeoutMs?: number;
  /** A number in [0, 1). */
  readonly random: () => number;
}

export class ProducerMachine {
  state: ProducerState = 'uninitialised';
  /** Why the last epoch was lost; null again after `init` or `abort`. */
  failure: ProducerFailure | null = null;
  identity: Identity | null = null;

  private readonly scheduler: ProduceScheduler;
  private readonly deliveryTimeoutMs: number;
  private readonly addsPartitions: boolean;
  private commands: ProducerCommand[] = [];
  private calls = 0;
  private step: CoordinatorCall | null = null;
  /** Node ids, as far as known; `moved`: the one that the client remembers is wrong. */
  private readonly coordinators: Record<'transaction' | 'group', number | 'unknown' | 'moved'> = {
    transaction: 'unknown',
    group: 'unknown',
  };
  /** When the broker first heard of the open transaction; null while none is open. */
  private openSince: number | null = null;
  private adding: readonly OutputPartition[] = [];
  private groupId: string | null = null;
  private isGroupAdded = false;
  private areOffsetsDone = false;
  /** Protocol 1, where transactions of one identity share an epoch: a request whose answer got lost may arrive in a later one, and end that or add to it. */
  private mayComeLate = false;
  private wakeAt = Infinity;

  constructor(private readonly options: ProducerMachineOptions) {
    this.deliveryTimeoutMs = options.deliveryTimeoutMs ?? 120_000;
    this.addsPartitions = options.transactional && !options.transactionV2;
    this.scheduler = new ProduceScheduler({
      transactional: options.transactional,
      maxInFlightPerBroker: options.maxInFlightPerBroker ?? 3,
      maxRequestBytes: options.maxRequestBytes ?? 16 * 1024 * 1024,
      deliveryTimeoutMs: this.deliveryTimeoutMs,
      missingTopicTimeoutMs: options.missingTopicTimeoutMs ?? 10_000,
      random: options.random,
      nextCall: () => ++this.calls,
    });
  }

  /** What is to be done now, in this order. */
  handle(event: ProducerEvent): readonly ProducerCommand[] {
    this.commands = [];
    this.take(event);
    this.advance(event.now);
    this.scheduleWake(event.now, event.kind === 'tick');
    return this.commands;
  }

  private take(event: ProducerEvent): void {
    const { now } = event;
    switch (event.kind) {
      case 'init':
        this.initialise(now);
        return;
      case 'enqueue':
        this.mustBe('enqueue', 'ready', 'inTransaction');
        for (const batch of event.batches) this.scheduler.enqueue(batch, now);
        this.state = 'inTransaction';
        return;
      case 'commit':
        this.mustBe('commit', 'ready', 'inTransaction');
        this.groupId = event.groupId;
        this.areOffsetsDone = event.groupId === null;
        this.state = 'flushing';
        return;
      case 'abort':
        this.abort(now);
        return;
      case 'tick':
        return;
      case 'metadata':
        if (this.scheduler.ownsMetadataCall(event.call)) this.failIf(this.scheduler.metadataAnswered(event.topics, now), now);
        return;
      case 'produced':
        this.failIf(this.scheduler.answered(event.call, event.results, now, this.commands), now);
        return;
      case 'lost':
        if (this.scheduler.ownsMetadataCall(event.call)) this.scheduler.metadataLost(now);
        else if (this.scheduler.owns(event.call)) this.failIf(this.scheduler.lost(event.call, now), now);
        else if (this.step?.call === event.call) this.stepLost(this.step, now);
        return;
      case 'refused': {
        const isStep = this.step?.call === event.call;
        if (!isStep && !this.scheduler.owns(event.call) && !this.scheduler.ownsMetadataCall(event.call)) return;
        const outcome = isStep && this.step?.request === 'endTxn' ? 'unknown' : 'aborted';
        this.fail(fatal(event.code, event.reason, { outcome, inDoubt: true }), now);
        return;
      }
      default:
        if (this.step !== null && this.step.call === event.call) this.stepAnswered(this.step, event);
    }
  }

  private stepAnswered(
    step: CoordinatorCall,
    event: Extract<ProducerEvent, { kind: 'coordinatorFound' | 'identified' | 'answered' | 'ended' }>,
  ): void {
    const { now } = event;
    switch (event.kind) {
      case 'coordinatorFound':
        this.coordinators[step.coordinator] = event.broker;
        step.isFinding = false;
        step.call = -1;
        return;
      case 'identified':
        if (classify('initProducerId', event.errorCode) !== 'ok') {
          this.stepRefused(step, event.errorCode, now);
          return;
        }
        this.identified(event.identity);
        return;
      case 'ended':
        if (classify('endTxn', event.errorCode) !== 'ok') {
          this.stepRefused(step, event.errorCode, now);
          return;
        }
        this.ended(event.next, now);
        return;
      case 'answered': {
        const refusal = firstRefusal(event.results);
        if (refusal !== null) {
          this.stepRefused(step, refusal.errorCode, now, refusal);
          return;
        }
        this.step = null;
        if (step.request === 'addPartitions') this.scheduler.markAdded(this.adding);
        else if (step.request === 'addOffsets') this.isGroupAdded = true;
        else this.areOffsetsDone = true;
      }
    }
  }

  private stepRefused(
    step: CoordinatorCall,
    code: number,
    now: number,
    at: { readonly topic?: string; readonly partition?: number } = {},
  ): void {
    const answer = classify(step.request, code);
    if (step.request === 'endTxn' && leavesEndInDoubt(code) && isRepeatable(answer)) step.inDoubt = true;
    if (!isRepeatable(answer)) {
      const refused = brokerRefused(requestNames[step.request], answer, code, at);
      this.fail(step.inDoubt ? { ...refused, outcome: 'unknown', inDoubt: true } : refused, now);
    } else if (this.isExpired(step, describeCode(code), now)) {
      return;
    } else if (answer === 'concurrent') {
      step.pauseForMarkers(now);
    } else {
      if (answer === 'refind') this.coordinators[step.coordinator] = 'moved';
      step.pauseForCluster(now, this.options.random);
    }
  }

  private stepLost(step: CoordinatorCall, now: number): void {
    if (!step.isFinding && step.request === 'txnOffsetCommit') {
      this.fail(aborted('The answer to TxnOffsetCommit got lost', { inDoubt: true }), now);
      return;
    }
    if (!step.isFinding && step.request === 'endTxn') step.inDoubt = true;
    if (!step.isFinding && this.addsPartitions) this.mayComeLate = true;
    this.coordinators[step.coordinator] = 'moved';
    if (this.isExpired(step, 'no answer', now)) return;
    step.pauseForCluster(now, this.options.random);
  }

  /** Gives a step up whose time is over. */
  private isExpired(step: CoordinatorCall, last: string, now: number): boolean {
    if (now - step.startedAt < this.deliveryTimeoutMs) return false;
    const message = `${requestNames[step.request]} had no definite answer within ${this.deliveryTimeoutMs} ms; the last one: ${last}`;
    if (step.request === 'initProducerId') {
      if (this.state === 'renewing') this.finishEpoch();
      this.step = null;
      this.state = 'uninitialised';
      this.failure = aborted(message);
      this.commands.push({ kind: 'failed', failure: this.failure });
    } else {
      this.fail(aborted(message, step.inDoubt ? { outcome: 'unknown', inDoubt: true } : {}), now);
    }
    return true;
  }

  private identified(identity: Identity): void {
    this.identity = identity;
    this.step = null;
    this.openSince = null;
    this.mayComeLate = false;
    this.scheduler.transactionEnded(true);
    if (this.state === 'renewing') this.finishEpoch();
    else if (this.state === 'aborting' && this.failure?.severity === 'fatal') this.state = 'fatal';
    else this.becomeReady();
  }

  private ended(next: Identity | null, now: number): void {
    this.step = null;
    this.openSince = null;
    const { transactionV2 } = this.options;
    this.scheduler.transactionEnded(transactionV2);
    if (transactionV2 && next !== null) this.identity = next;
    if (transactionV2 ? next !== null : !this.mayComeLate) {
      this.finishEpoch();
      return;
    }
    // The epoch is committed; its owner, who would go on with the next one, hears of it when there is an identity for that.
    this.state = 'renewing';
    this.step = new CoordinatorCall('initProducerId', 'transaction', now);
  }

  private finishEpoch(): void {
    this.state = 'ready';
    this.isGroupAdded = false;
    this.commands.push({ kind: 'committed', nextOffsets: this.scheduler.takeNextOffsets() });
  }

  private initialise(now: number): void {
    this.giveUpCommit();
    // An InitProducerId under way serves as well; a second one could meet the first, late, and be fenced by it.
    const isUnderWay = this.step?.request === 'initProducerId';
    this.failure = null;
    this.scheduler.reset();
    this.state = 'initialising';
    if (!isUnderWay) this.step = new CoordinatorCall('initProducerId', 'transaction', now);
  }

  private abort(now: number): void {
    if (this.state === 'fenced' || this.state === 'fatal' || this.state === 'uninitialised') return;
    const isRenewing = this.state === 'renewing';
    this.giveUpCommit();
    this.failure = null;
    // What is under way gives an identity that has nothing to abort.
    if (isRenewing) this.state = 'aborting';
    else if (this.state !== 'aborting' && this.state !== 'initialising') this.startAbort(now);
  }

  private giveUpCommit(): void {
    if (this.state === 'renewing') this.finishEpoch();
    if (this.state !== 'flushing' && this.state !== 'committingOffsets' && this.state !== 'ending') return;
    const outcome = this.state === 'ending' ? 'unknown' : 'aborted';
    this.commands.push({ kind: 'failed', failure: aborted('The epoch was given up by its owner', { outcome }) });
  }

  private failIf(failure: ProducerFailure | null, now: number): void {
    if (failure !== null) this.fail(failure, now);
  }

  private fail(reason: ProducerFailure, now: number): void {
    if (this.state === 'renewing') this.finishEpoch();
    const failure = reason.severity === 'fenced' && this.hasTimedOut(now) ? timedOut(reason) : reason;
    this.failure = failure;
    this.commands.push({ kind: 'failed', failure });
    if (failure.severity === 'fenced') {
      this.forgetEpoch();
      this.scheduler.reset();
      this.state = 'fenced';
    } else if (this.step?.request === 'initProducerId') {
      this.forgetEpoch();
      this.state = 'fatal';
    } else {
      this.startAbort(now);
    }
  }

  /** InitProducerId aborts what is open. Without anything open, or any sequence without an answer, the identity stays good. */
  private startAbort(now: number): void {
    const hasTraces = this.openSince !== null || this.scheduler.hasUnresolved;
    this.forgetEpoch();
    if (hasTraces) {
      this.scheduler.reset();
      this.state = 'aborting';
      this.step = new CoordinatorCall('initProducerId', 'transaction', now);
    } else {
      this.scheduler.dropUnsent();
      this.scheduler.takeNextOffsets();
      if (this.failure?.severity === 'fatal') this.state = 'fatal';
      else this.becomeReady();
    }
  }

  private forgetEpoch(): void {
    this.step = null;
    this.adding = [];
    this.groupId = null;
    this.isGroupAdded = false;
  }

  private becomeReady(): void {
    this.state = 'ready';
    this.isGroupAdded = false;
    this.commands.push({ kind: 'ready' });
  }

  /** The coordinator has ended the transaction by itself, with an epoch that nobody else has. */
  private hasTimedOut(now: number): boolean {
    return this.openSince !== null && now - this.openSince >= this.options.transactionTimeoutMs;
  }

  private advance(now: number): void {
    if (this.state === 'inTransaction' || this.state === 'flushing') this.produce(now);
    if (this.state === 'flushing' && this.scheduler.isIdle && this.step === null) this.state = 'committingOffsets';
    if (this.state === 'committingOffsets' && this.step === null) {
      if (!this.areOffsetsDone) this.startOffsets(now);
      else if (this.openSince === null) this.finishEpoch();
      else this.state = 'ending';
    }
    if (this.state === 'ending' && this.step === null) this.step = new CoordinatorCall('endTxn', 'transaction', now);
    if (this.step !== null && this.step.call < 0 && this.step.notBefore <= now) this.issue(this.step, now);
  }

  private produce(now: number): void {
    if (this.identity === null) throw new MillraceError('MILL_INVARIANT', `A producer without identity is in state ${this.state}`);
    const failure = this.scheduler.pump(now, this.identity, this.addsPartitions, this.commands);
    if (failure !== null) {
      this.fail(failure, now);
      return;
    }
    if (this.options.transactional && this.openSince === null && this.scheduler.hasUnresolved) this.openSince = now;
    if (!this.addsPartitions || this.step !== null) return;
    const unadded = this.scheduler.unadded();
    if (unadded.length > 0) {
      this.adding = unadded;
      this.step = new CoordinatorCall('addPartitions', 'transaction', now);
    } else if (this.state === 'flushing' && this.mustAddGroup && !this.scheduler.isIdle) {
      this.step = new CoordinatorCall('addOffsets', 'transaction', now);
    }
  }

  private startOffsets(now: number): void {
    const request = this.mustAddGroup ? 'addOffsets' : this.options.transactional ? 'txnOffsetCommit' : 'offsetCommit';
    this.step = new CoordinatorCall(request, request === 'addOffsets' ? 'transaction' : 'group', now);
  }

  private get mustAddGroup(): boolean {
    return this.addsPartitions && !this.areOffsetsDone && !this.isGroupAdded;
  }

  private issue(step: CoordinatorCall, now: number): void {
    const call = ++this.calls;
    step.call = call;
    const needsCoordinator = this.options.transactional || step.request !== 'initProducerId';
    const broker = needsCoordinator ? this.coordinators[step.coordinator] : ANY_BROKER;
    if (typeof broker === 'string') {
      step.isFinding = true;
      this.commands.push({ kind: 'findCoordinator', call, coordinator: step.coordinator, refresh: broker === 'moved' });
      return;
    }
    if (this.options.transactional && step.request !== 'initProducerId') this.openSince ??= now;
    this.commands.push(this.commandOf(step.request, call, broker));
  }

  private commandOf(request: CoordinatorRequest, call: number, broker: number): ProducerCommand {
    if (request === 'initProducerId') return { kind: 'initProducerId', call, broker };
    const { identity, groupId } = this;
    if (request === 'offsetCommit') return { kind: 'commitOffsets', call, broker, identity: null };
    if (identity === null) throw new MillraceError('MILL_INVARIANT', `${requestNames[request]} without an identity`);
    switch (request) {
      case 'addPartitions':
        return {
          kind: 'addPartitions',
          call,
          broker,
          identity,
          partitions: this.adding.map(({ topic, partition }) => ({ topic, partition })),
        };
      case 'addOffsets':
        return { kind: 'addOffsets', call, broker, identity, groupId: groupId ?? '' };
      case 'txnOffsetCommit':
        return { kind: 'commitOffsets', call, broker, identity };
      case 'endTxn':
        return { kind: 'endTxn', call, broker, identity };
    }
  }

  private scheduleWake(now: number, isTick: boolean): void {
    if (isTick) this.wakeAt = Infinity;
    let at = this.state === 'inTransaction' || this.state === 'flushing' ? this.scheduler.nextWake(now) : Infinity;
    if (this.step !== null && this.step.call < 0) at = Math.min(at, this.step.notBefore);
    if (at === this.wakeAt) return;
    this.wakeAt = at;
    if (at < Infinity) this.commands.push({ kind: 'wake', at });
  }

  private mustBe(what: string, ...states: readonly ProducerState[]): void {
    if (this.failure === null && states.includes(this.state)) return;
    throw new MillraceError('MILL_STATE_INVALID', `The producer can’t ${what} in state ${this.state}`);
  }
}

/** Broker id in `initProducerId` commands of idempotent producers: every broker can answer. */
export const ANY_BROKER = -1;

const requestNames: Readonly<Record<CoordinatorRequest, string>> = {
  initProducerId: 'InitProducerId',
  addPartitions: 'AddPartitionsToTxn',
  addOffsets: 'AddOffsetsToTxn',
  txnOffsetCommit: 'TxnOffsetCommit',
  offsetCommit: 'OffsetCommit',
  endTxn: 'EndTxn',
};

/** The answer that explains the refusal: OPERATION_NOT_ATTEMPTED only says that another partition was refused. */
function firstRefusal(results: readonly Partial<TopicPartitionAnswer>[]): { errorCode: number; topic?: string; partition?: number } | null {
  let found: { errorCode: number; topic?: string; partition?: number } | null = null;
  for (const { errorCode = 0, topic, partition } of results) {
    if (errorCode !== 0 && (found === null || found.errorCode === OPERATION_NOT_ATTEMPTED)) found = { errorCode, topic, partition };
  }
  return found;
}

const OPERATION_NOT_ATTEMPTED = 55;

function isRepeatable(answer: ReturnType<typeof classify>): boolean {
  return answer === 'retry' || answer === 'concurrent' || answer === 'refind' || answer === 'refresh';
}

function timedOut(reason: ProducerFailure): ProducerFailure {
  return { ...reason, severity: 'abort', code: 'MILL_TRANSACTION_ABORTED', message: `The transaction timed out: ${reason.message}` };
}
