/**
 * The calls of one record until one succeeds or the last one fails: timeout, repetition and pauses. Time comes through a port.
 *
 * An attempt counts once: what a call does after its timeout, or after `abandon`, is ignored.
 */
import { isPromiseLike } from '../../bytes/maybe-async.js';
import type { Cancellable } from '../operator.js';
import type { CallRules } from './async-options.js';

/** Time and news for calls; kept apart so that tests decide how long a pause takes. */
export interface CallPort {
  /** Runs `run` after a pause between two attempts, ms. */
  pause(ms: number, run: () => void): Cancellable;
  /** Runs `run` when a call has taken `ms`, unless cancelled. */
  timeout(ms: number, run: () => void): Cancellable;
  /** A number in [0, 1). */
  random(): number;
  /** Tells the task that there may be a result to send. */
  wake(): void;
  count(what: CallEvent): void;
}

/**
 * What is counted of calls: `call`, and `end` once for each, `retry`, `timeout`. Of look-ups, `hit` and `missingHit` (in the cache: a row, or that there is none), `miss`, `expired` (a
 * miss, since what the cache had was too old), `shared` (took the answer of another record's call).
 */
export type CallEvent = 'call' | 'end' | 'retry' | 'timeout' | 'hit' | 'missingHit' | 'miss' | 'expired' | 'shared';

export type CallOutcome<R> = { readonly kind: 'result'; readonly result: R } | { readonly kind: 'error'; readonly error: Error };

export interface CallAttemptsOptions<R> {
  readonly rules: Pick<CallRules, 'timeout' | 'attempts' | 'backoff' | 'maxBackoff' | 'retryWhen'>;
  readonly port: CallPort;
  readonly call: (signal: AbortSignal, attempt: number) => R | PromiseLike<R>;
  readonly done: (outcome: CallOutcome<R>) => void;
}

export class CallAttempts<R> {
  private attempt = 0;
  private controller: AbortController | null = null;
  private timer: Cancellable | null = null;
  private isOver = false;

  constructor(private readonly options: CallAttemptsOptions<R>) {}

  begin(): void {
    const { rules, port, call } = this.options;
    const attempt = ++this.attempt;
    const controller = new AbortController();
    this.controller = controller;
    port.count(attempt === 1 ? 'call' : 'retry');
    if (rules.timeout !== Infinity) {
      this.timer = port.timeout(rules.timeout, () => {
        port.count('timeout');
        const error = timeoutError(rules.timeout);
        controller.abort(error);
        this.failed(attempt, error);
      });
    }
    let result: R | PromiseLike<R>;
    try {
      result = call(controller.signal, attempt);
    } catch (error) {
      this.failed(attempt, error);
      return;
    }
    if (!isPromiseLike(result)) this.succeeded(attempt, result);
    else
      result.then(
        (late) => this.succeeded(attempt, late),
        (error: unknown) => this.failed(attempt, error),
      );
  }

  /** Nobody waits for it any more. */
  abandon(reason: Error): void {
    if (this.isOver) return;
    this.isOver = true;
    if (this.attempt > 0) this.options.port.count('end');
    this.timer?.cancel();
    this.controller?.abort(reason);
  }

  private succeeded(attempt: number, result: R): void {
    if (this.ends(attempt)) this.finish({ kind: 'result', result });
  }

  private failed(attempt: number, thrown: unknown): void {
    if (!this.ends(attempt)) return;
    const { rules, port } = this.options;
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    let again: boolean;
    try {
      again = attempt < rules.attempts && rules.retryWhen(error, attempt);
    } catch (fault) {
      this.finish({ kind: 'error', error: fault instanceof Error ? fault : new Error(String(fault)) });
      return;
    }
    if (!again) this.finish({ kind: 'error', error });
    else this.timer = port.pause(this.pauseAfter(attempt), () => this.begin());
  }

  /** False for what comes from an attempt that has ended before. */
  private ends(attempt: number): boolean {
    if (this.isOver || attempt !== this.attempt || this.controller === null) return false;
    this.controller = null;
    this.timer?.cancel();
    this.timer = null;
    return true;
  }

  private finish(outcome: CallOutcome<R>): void {
    this.isOver = true;
    this.options.port.count('end');
    this.options.done(outcome);
  }

  private pauseAfter(attempt: number): number {
    const { rules, port } = this.options;
    const doubled = Math.min(rules.maxBackoff, rules.backoff * 2 ** Math.min(attempt - 1, 30));
    return Math.round(doubled * (0.8 + 0.4 * port.random()));
  }
}

function timeoutError(ms: number): Error {
  const error = new Error(`the call did not end within ${ms} ms`);
  error.name = 'TimeoutError';
  return error;
}
