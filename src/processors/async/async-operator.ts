/**
 * Calls a user's function for each record without waiting for it: several calls run side by side, and the task takes further records meanwhile.
 *
 * What makes it exactly-once: a record is finished when its result has left. At a barrier every unfinished record lies in the operator's store, so it is
 * committed with the offset that lies behind it, and its result later in one epoch with its removal from the store. Whoever opens the task next
 * calls again for what it finds there. While the task lives calls go on across barriers: a record is called twice only when its call failed (`retry`), or when its
 * result was not committed before the task ended or its epoch was lost. A record that is finished within the epoch that read it never touches the store.
 */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { Headers } from '../../bytes/headers.js';
import { MillraceError } from '../../errors.js';
import type { CompiledSerde, Serde } from '../../serdes/serde.js';
import type { TimeOrderedBuffer } from '../../stores/store.js';
import { timeOrderedBuffer } from '../connected-store.js';
import type { Operator, OperatorContext, OperatorSupplier, UnfinishedWork } from '../operator.js';
import { keyIdentity } from '../state/key-identity.js';
import type { TakenRecord } from '../taken-record.js';
import type { CallRules } from './async-options.js';
import { CallAttempts, type CallOutcome } from './call-attempts.js';
import { CallQueue, type QueuedCall } from './call-queue.js';
import type { UnfinishedRow } from './unfinished-row.js';

/** What a function that is called asynchronously is told of its record and of the call. An object of its own for each call. */
export interface AsyncCall {
  /** Aborts when the call takes longer than `timeout`, and when the task ends: hand it to `fetch` and the like. */
  readonly signal: AbortSignal;
  /** 1 for the first call, 2 for the first repetition, … */
  readonly attempt: number;
  /** Topic the record was read from; null for a record born of a timer. */
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  /** Of the record. */
  headers(): Headers;
}

/** The user's part of an asynchronous operator. */
export interface AsyncWork<K, V, R> {
  init?(context: OperatorContext): void;
  /** What the record is called for, as something that a Map can tell apart: records with the same question share a call. Absent or null: each has its own. */
  question?(value: V, key: K): unknown;
  /** The result, when it is known without a call; else null. Changes nothing. */
  answer?(value: V, key: K): { readonly result: R } | null;
  /** May run at any time, several at once: nothing of the task's may be changed in it. */
  call(value: V, key: K, call: AsyncCall): R | PromiseLike<R>;
  /** A call has gone well; the turns of its records are still to come. */
  learn?(result: R): void;
  /** Sends the result on. Runs as the task's work on the record. */
  send(result: R, value: V, key: K, timestamp: number): MaybeAsync;
  close?(): MaybeAsync;
}

export interface AsyncOperatorOptions<K> {
  readonly rules: CallRules;
  readonly storeName: string;
  /** Of the records that come in; null: the app's. */
  readonly keySerde: Serde<K> | null;
}

export function asyncOperator<K, V, R>(options: AsyncOperatorOptions<K>, work: () => AsyncWork<K, V, R>): OperatorSupplier {
  return () => new AsyncOperator(options, work());
}

interface PendingCall<K, V, R> extends QueuedCall {
  readonly row: UnfinishedRow<K, V>;
  /** Place in the order of arrival, and in the store. */
  readonly sequence: number;
  isStored: boolean;
  attempts: CallAttempts<R> | null;
  outcome: CallOutcome<R> | null;
}

class AsyncOperator<K, V, R> implements Operator<K, V>, UnfinishedWork {
  private readonly queue: CallQueue<PendingCall<K, V, R>>;
  declare private context: OperatorContext;
  declare private store: TimeOrderedBuffer<string, UnfinishedRow<K, V>>;
  declare private keySerde: CompiledSerde<K>;
  private sequence = 0;
  private isClosed = false;

  constructor(
    private readonly options: AsyncOperatorOptions<K>,
    private readonly work: AsyncWork<K, V, R>,
  ) {
    this.queue = new CallQueue(options.rules);
  }

  get unfinished(): UnfinishedWork {
    return this;
  }

  init(context: OperatorContext): void {
    this.context = context;
    this.store = timeOrderedBuffer(context, this.options.storeName);
    this.keySerde = context.serde(this.options.keySerde, 'key');
    this.work.init?.(context);
    this.takeUp();
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (this.queue.size === 0 || this.options.rules.order === 'unordered') {
      const known = this.work.answer?.(value, key) ?? null;
      if (known !== null) return this.work.send(known.result, value, key, timestamp);
    }
    this.add({ key, value, timestamp, record: this.context.takeRecord() }, this.sequence++, false);
    this.begin();
  }

  /** At a barrier: what is unfinished now is part of the epoch's state. */
  flush(): MaybeAsync {
    for (const call of this.queue) {
      if (call.isStored) continue;
      this.store.put(call.sequence, 0, '', call.row);
      call.isStored = true;
    }
  }

  async close(): Promise<void> {
    this.isClosed = true;
    const reason = new MillraceError('MILL_STATE_INVALID', 'the task of this call was given up');
    for (const { attempts } of this.queue) attempts?.abandon(reason);
    await this.work.close?.();
  }

  // ---- what the task asks

  get size(): number {
    return this.queue.size;
  }

  get isFull(): boolean {
    return this.queue.isFull;
  }

  get ready(): UnfinishedRow<unknown, unknown> | null {
    return this.queue.ready?.row ?? null;
  }

  get oldest(): TakenRecord | null {
    return this.queue.oldest?.row.record ?? null;
  }

  begin(): void {
    for (let call = this.queue.next(); call !== null; call = this.queue.next()) this.call(call);
  }

  readonly results = {
    process: (): MaybeAsync => {
      const call = this.queue.ready;
      if (call === null) return;
      this.queue.take(call);
      this.context.enterRecord(call.row.record);
      if (call.isStored) this.store.delete(call.sequence, 0, '');
      let sending: MaybeAsync;
      try {
        sending = this.send(call);
      } catch (error) {
        this.sent(call);
        throw error;
      }
      if (sending === undefined) this.sent(call);
      else
        return sending.finally(() => {
          this.sent(call);
        });
    },
  };

  private send({ outcome, row }: PendingCall<K, V, R>): MaybeAsync {
    if (outcome?.kind !== 'result') throw outcome?.error ?? new Error('a call without an outcome');
    return this.work.send(outcome.result, row.value, row.key, row.timestamp);
  }

  private sent(call: PendingCall<K, V, R>): void {
    this.queue.sent(call);
    if (!this.isClosed) this.begin();
  }

  /** What an earlier life of the task left unfinished. Called again once the task runs. */
  private takeUp(): void {
    const left: number[] = [];
    void this.store.drain(
      (sequence) => {
        left.push(sequence);
        return 'skip';
      },
      () => undefined,
    );
    for (const sequence of left) {
      const row = this.store.get(sequence, 0, '');
      if (row !== null) this.add(row, sequence, true);
      this.sequence = sequence + 1;
    }
  }

  private add(row: UnfinishedRow<K, V>, sequence: number, isStored: boolean): void {
    this.queue.add({
      row,
      sequence,
      isStored,
      identity: row.key === null || row.key === undefined ? null : keyIdentity(row.key, this.keySerde.serde),
      question: this.work.question?.(row.value, row.key) ?? null,
      bytes: row.record.bytes,
      hasEnded: false,
      attempts: null,
      outcome: null,
    });
  }

  private call(call: PendingCall<K, V, R>): void {
    const { key, value, timestamp, record } = call.row;
    const { topic, partition, offset } = record;
    const known = this.work.answer?.(value, key) ?? null;
    if (known !== null) {
      // Whoever begins calls goes on with the next one.
      this.end(call, { kind: 'result', result: known.result });
      return;
    }
    const headers = (): Headers => record.headers;
    call.attempts = new CallAttempts<R>({
      rules: this.options.rules,
      port: this.context.calls,
      call: (signal, attempt) => this.work.call(value, key, { signal, attempt, topic, partition, offset, timestamp, headers }),
      done: (outcome) => {
        if (this.isClosed) return;
        if (outcome.kind === 'result') this.work.learn?.(outcome.result);
        this.end(call, outcome);
        this.begin();
      },
    });
    call.attempts.begin();
  }

  private end(call: PendingCall<K, V, R>, outcome: CallOutcome<R>): void {
    for (const each of this.queue.end(call)) {
      each.outcome = outcome;
      if (each !== call) this.context.calls.count('shared');
    }
    this.context.calls.wake();
  }
}
