/**
 * Forwards of an `AsyncProcessor`: those of its `process` and timers pass, those of a `call` are refused, also when `call` goes on while another record's `process` is
 * awaited and the processor, whose context is one for both, could not be told apart from it. A call that has ended refuses nothing: libraries may keep its context for later callbacks.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import type { Headers } from '../../bytes/headers.js';
import { isPromiseLike, type MaybeAsync } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import { ForwardScope } from '../forward-scope.js';
import type { Downstream, OperatorContext } from '../operator.js';

interface Call {
  hasEnded: boolean;
}

const calls = new AsyncLocalStorage<Call | null>();

export class CallScope extends ForwardScope {
  constructor(private readonly node: OperatorContext) {
    super(node);
  }

  /** Runs a user's `call`. */
  outside<R>(body: () => R | PromiseLike<R>): R | PromiseLike<R> {
    const call: Call = { hasEnded: false };
    const end = (): void => {
      call.hasEnded = true;
    };
    let result: R | PromiseLike<R>;
    try {
      result = calls.run(call, body);
    } catch (error) {
      end();
      throw error;
    }
    if (!isPromiseLike(result)) {
      end();
      return result;
    }
    result.then(end, end);
    return result;
  }

  override get isAtWork(): boolean {
    return super.isAtWork && !isInCall();
  }

  /** The record's turn, or a timer's, may begin within a call of another record. */
  override run<T>(body: (argument: T) => MaybeAsync, argument: T, timestamp: number, headers: Headers): MaybeAsync {
    return calls.run(null, () => super.run(body, argument, timestamp, headers));
  }

  override forward(
    target: Downstream,
    key: unknown,
    value: unknown,
    timestamp: number | undefined,
    headers: Headers | undefined,
  ): MaybeAsync {
    if (isInCall()) {
      const { nodeName } = this.node;
      throw new MillraceError('MILL_STATE_INVALID', `Processor ${nodeName} calls forward in call; forward what it gives in process.`, {
        details: { node: nodeName },
      });
    }
    return super.forward(target, key, value, timestamp, headers);
  }
}

function isInCall(): boolean {
  return calls.getStore()?.hasEnded === false;
}
