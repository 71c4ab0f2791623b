/**
 * The hook around every processor of a topology, those of the DSL included (Kafka Streams' `ProcessorWrapper`, KIP-1112): for tracing, measuring, testing.
 *
 * Without a wrapper nothing of this is in the way of a record. A wrapped node is called through one object more; `proceed` is one function for its whole life.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Downstream, Operator, OperatorContext, UnfinishedWork } from './operator.js';
import { FixedRecordMeta, RecordMetaView, type RecordMeta } from './record-meta.js';

/** The processor that is about to be wrapped. */
export interface WrappedProcessor {
  /** Name of the node, as `topology.describe()` shows it. */
  readonly name: string;
  readonly taskId: string;
  readonly partition: number;
  /** Stores that are connected to it. */
  readonly stores: readonly string[];
}

/** What runs around one processor of one task. Each part is optional; what it does not call `proceed` for does not happen. */
export interface ProcessorAround {
  /**
   * Around each record. `value` is what the engine hands on: between table operators a `Change`. Hand all three arguments on to `proceed`; return or await what it gives. Of an asynchronous operator it
   * runs around the taking in; what is made of the result of its call is for `result`.
   */
  process?(
    key: unknown,
    value: unknown,
    timestamp: number,
    proceed: (key: unknown, value: unknown, timestamp: number) => MaybeAsync,
    meta: RecordMeta,
  ): MaybeAsync;
  /**
   * Of asynchronous operators: around the turn of a record's result, which is sent on, or handed to `process` of an `AsyncProcessor`. `key`, `value`, `timestamp` and
   * `meta` are the record's, as `process` saw them. The call itself runs outside: at any time, beside others.
   */
  result?(key: unknown, value: unknown, timestamp: number, proceed: () => MaybeAsync, meta: RecordMeta): MaybeAsync;
  /** Around each callback of `context.schedule`. Timers of event time are not among them. */
  punctuate?(timestamp: number, proceed: (timestamp: number) => MaybeAsync): MaybeAsync;
  /** Around what it emits at a commit. Called for every processor, also for those that hold nothing back. */
  flush?(proceed: () => MaybeAsync): MaybeAsync;
  /** After its `close`. */
  closed?(): void;
}

/** Called once for each processor of each task, when the task is opened. null or undefined: this one is left alone. */
export type ProcessorWrapper = (processor: WrappedProcessor) => ProcessorAround | null | undefined;

/** Every member that an operator may have: one that is not handed on would be lost without a word, and with it final results, watermarks or unfinished calls. */
type EveryMember = { readonly [Member in keyof Required<Operator>]: Operator[Member] };

export class WrappedOperator implements EveryMember {
  declare private meta: RecordMetaView;
  private readonly proceed: (key: unknown, value: unknown, timestamp: number) => MaybeAsync;
  private readonly proceedFlush: () => MaybeAsync;
  private results: WrappedWork | null = null;

  constructor(
    private readonly operator: Operator,
    private readonly around: ProcessorAround,
  ) {
    this.proceed = (key, value, timestamp: number | undefined) => {
      if (key === undefined || value === undefined || timestamp === undefined) throw notProceeded();
      return operator.process(key, value, timestamp);
    };
    this.proceedFlush = () => operator.flush?.();
  }

  /** Who wraps records sees their values. */
  get ignoresValue(): boolean {
    return this.around.process === undefined && this.operator.ignoresValue === true;
  }

  get keepsRecords(): boolean {
    return this.operator.keepsRecords === true;
  }

  get unfinished(): Operator['unfinished'] {
    const { unfinished } = this.operator;
    if (unfinished === undefined || this.around.result === undefined) return unfinished;
    this.results ??= new WrappedWork(unfinished, this.around);
    return this.results;
  }

  get hasDueTimers(): boolean {
    return this.operator.hasDueTimers === true;
  }

  init(context: OperatorContext): void {
    this.meta = new RecordMetaView(context.record);
    this.operator.init(context);
  }

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    const { around } = this;
    if (around.process === undefined) return this.operator.process(key, value, timestamp);
    this.meta.enter(timestamp);
    return around.process(key, value, timestamp, this.proceed, this.meta);
  }

  flush(): MaybeAsync {
    const { around } = this;
    return around.flush === undefined ? this.proceedFlush() : around.flush(this.proceedFlush);
  }

  onWatermark(watermark: number): MaybeAsync {
    return this.operator.onWatermark?.(watermark);
  }

  onEndOfInput(): MaybeAsync {
    return this.operator.onEndOfInput?.();
  }

  get holdsResults(): boolean {
    return this.operator.holdsResults === true;
  }

  get hasMoreResults(): boolean {
    return this.operator.hasMoreResults === true;
  }

  close(): MaybeAsync {
    const closing = this.operator.close?.();
    if (closing === undefined) {
      this.around.closed?.();
      return;
    }
    return closing.then(() => this.around.closed?.());
  }
}

/** An undefined value would go on as a tombstone. */
function notProceeded(): TypeError {
  return new TypeError(
    'the process of a processorWrapper called proceed without key, value and timestamp: hand on what it got, null for none',
  );
}

/** Every member that such work may have, for the same reason. */
type EveryWorkMember = { readonly [Member in keyof Required<UnfinishedWork>]: UnfinishedWork[Member] };

class WrappedWork implements EveryWorkMember {
  constructor(
    private readonly work: UnfinishedWork,
    private readonly around: ProcessorAround,
  ) {}

  get size(): number {
    return this.work.size;
  }

  get isFull(): boolean {
    return this.work.isFull;
  }

  get ready(): UnfinishedWork['ready'] {
    return this.work.ready;
  }

  get oldest(): UnfinishedWork['oldest'] {
    return this.work.oldest;
  }

  begin(): void {
    this.work.begin();
  }

  readonly results: Downstream = {
    process: (key, value, timestamp) => {
      const proceed = (): MaybeAsync => this.work.results.process(key, value, timestamp);
      const { ready } = this;
      if (ready === null || this.around.result === undefined) return proceed();
      return this.around.result(key, value, timestamp, proceed, new FixedRecordMeta(ready.record, timestamp));
    },
  };
}
