/** A user's asynchronous processor: a call outside the task, then the task's work on what it gave. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import type { Headers } from '../../bytes/headers.js';
import type { OperatorContext } from '../operator.js';
import type { OperatorStateStore } from '../operator-state/operator-states.js';
import { UserContext } from '../user-context.js';
import type { ProcessorContext, Record } from '../processor.js';
import type { AsyncCall, AsyncWork } from './async-operator.js';
import { CallScope } from './call-scope.js';

/**
 * Two steps for each record: a call outside the task, then the task's work on what it gave.
 *
 * @typeParam R what a call gives
 */
export interface AsyncProcessor<KIn, VIn, R, KOut = never, VOut = never> {
  /** Called once, before any record, with the stores restored. */
  init?(context: ProcessorContext<KOut, VOut>): void;
  /**
   * The work outside: several of these run at once. It may read the processor's stores at its beginning; whatever it changes in them has no epoch and may be
   * lost or done twice, so changes belong into `process`. `context.forward` is refused in it.
   */
  call(record: Record<KIn, VIn>, call: AsyncCall): R | PromiseLike<R>;
  /** The record's turn in the task: stores, timers and `forward` as in a `Processor`, committed in one epoch with the end of the record. */
  process(record: Record<KIn, VIn>, result: R): MaybeAsync;
  /** Called once when the task is closed, also after a failure. Must not forward. */
  close?(): MaybeAsync;
}

export class AsyncProcessorWork<KIn, VIn, R, KOut, VOut> implements AsyncWork<KIn, VIn, R> {
  declare private context: OperatorContext;
  declare private scope: CallScope;

  constructor(
    private readonly processor: AsyncProcessor<KIn, VIn, R, KOut, VOut>,
    private readonly operatorStates: readonly OperatorStateStore[],
  ) {}

  init(context: OperatorContext): void {
    this.context = context;
    this.scope = new CallScope(context);
    const user = new UserContext<KOut, VOut>(context, this.scope, this.operatorStates);
    this.scope.initialise(() => this.processor.init?.(user));
  }

  call(value: VIn, key: KIn, call: AsyncCall): R | PromiseLike<R> {
    return this.scope.outside(() => this.processor.call({ key, value, timestamp: call.timestamp, headers: call.headers() }, call));
  }

  send(result: R, value: VIn, key: KIn, timestamp: number): MaybeAsync {
    const headers: Headers = this.context.record.headers();
    const record = { key, value, timestamp, headers };
    return this.scope.run((argument: Record<KIn, VIn>) => this.processor.process(argument, result), record, timestamp, headers);
  }

  close(): MaybeAsync {
    return this.processor.close?.();
  }
}

/** Sends what a mapping function gave: a pair a record of the result. */
export class AsyncMapperWork<K, V, R> implements AsyncWork<K, V, R> {
  declare private context: OperatorContext;

  constructor(
    private readonly fn: (value: V, key: K, call: AsyncCall) => R | PromiseLike<R>,
    private readonly pairs: (result: R, key: K) => Iterable<readonly [unknown, unknown]>,
  ) {}

  init(context: OperatorContext): void {
    this.context = context;
  }

  call(value: V, key: K, call: AsyncCall): R | PromiseLike<R> {
    return this.fn(value, key, call);
  }

  send(result: R, _value: V, key: K, timestamp: number): MaybeAsync {
    return this.sendRest(this.pairs(result, key)[Symbol.iterator](), timestamp);
  }

  private sendRest(pairs: Iterator<readonly [unknown, unknown]>, timestamp: number): MaybeAsync {
    for (let next = pairs.next(); next.done !== true; next = pairs.next()) {
      const pending = this.context.downstream.process(next.value[0], next.value[1], timestamp);
      if (pending !== undefined) return pending.then(() => this.sendRest(pairs, timestamp));
    }
  }
}
