/**
 * What a Processor may forward at a given moment: the record in work gives the missing fields, and forwards leave in the order of the calls.
 *
 * Invariants: a forward that has to be awaited holds back the later ones of the same record; a record or punctuation is done only when all its
 * forwards are settled; outside of `process` and punctuations nothing can be forwarded.
 */
import { headersFault, noHeaders, type Headers } from '../bytes/headers.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { shown } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import type { Downstream, OperatorContext } from './operator.js';
import { initAtOnce } from './result-at-once.js';

export class ForwardScope {
  private open = false;
  private initialising = false;
  private timestamp = -1;
  private headers: Headers = noHeaders;
  private pending: Promise<void> | null = null;

  constructor(private readonly context: OperatorContext) {}

  /** Runs the `init` of user code, which may use state and forward nothing. @throws MILL_STATE_INVALID when it gives a promise */
  initialise(body: () => unknown): void {
    this.initialising = true;
    try {
      initAtOnce(this.context.nodeName, body());
    } finally {
      this.initialising = false;
    }
  }

  /** User code is at work in the task: what it does belongs to the epoch. */
  get isAtWork(): boolean {
    return this.open || this.initialising;
  }

  /** Runs user code on a record, or on a punctuation, whose record has no headers. */
  run<T>(body: (argument: T) => MaybeAsync, argument: T, timestamp: number, headers: Headers): MaybeAsync {
    this.open = true;
    this.timestamp = timestamp;
    this.headers = headers;
    let result: MaybeAsync;
    try {
      result = body(argument);
    } catch (error) {
      return this.fail(error);
    }
    if (result !== undefined) return this.settle(result);
    if (this.pending !== null) return this.drain();
    this.open = false;
  }

  forward(target: Downstream, key: unknown, value: unknown, timestamp: number | undefined, headers: Headers | undefined): MaybeAsync {
    if (!this.open) {
      throw new MillraceError(
        'MILL_STATE_INVALID',
        `Processor ${this.context.nodeName} calls forward outside of process and punctuations; return a promise from process to forward later.`,
        { details: { node: this.context.nodeName } },
      );
    }
    const time = timestamp ?? this.timestamp;
    if (!(time >= 0) || (time !== this.timestamp && !Number.isSafeInteger(time))) throw this.notATime(time);
    const theirs = headers ?? this.headers;
    if (theirs !== this.headers) this.requireHeaders(theirs);
    if (this.pending !== null) return this.track(this.after(this.pending, target, key, value, time, theirs));
    const sent = this.send(target, key, value, time, theirs);
    return sent === undefined ? undefined : this.track(sent);
  }

  private notATime(time: unknown): MillraceError {
    return new MillraceError(
      'MILL_INVALID_TIMESTAMP',
      `Processor ${this.context.nodeName} forwards a record with timestamp ${shown(time)}: it takes whole milliseconds since 1970.`,
      { details: { node: this.context.nodeName, timestamp: time } },
    );
  }

  private requireHeaders(headers: unknown): void {
    const fault = headersFault(headers);
    if (fault !== null) throw new TypeError(`forward: ${fault}`);
  }

  private send(target: Downstream, key: unknown, value: unknown, timestamp: number, headers: Headers): MaybeAsync {
    if (headers === this.headers) return target.process(key, value, timestamp);
    return this.context.withHeaders(headers, () => target.process(key, value, timestamp));
  }

  private async after(
    earlier: Promise<void>,
    target: Downstream,
    key: unknown,
    value: unknown,
    timestamp: number,
    headers: Headers,
  ): Promise<void> {
    await earlier;
    await this.send(target, key, value, timestamp, headers);
  }

  private track(sent: Promise<void>): Promise<void> {
    // Its failure is told by `drain`; the user may never look at the promise.
    sent.catch(() => undefined);
    this.pending = sent;
    return sent;
  }

  private async settle(result: Promise<void>): Promise<void> {
    try {
      await result;
    } catch (error) {
      return this.fail(error);
    }
    await this.drain();
  }

  private async drain(): Promise<void> {
    try {
      for (let last = this.pending; last !== null; last = this.pending === last ? null : this.pending) await last;
    } finally {
      this.pending = null;
      this.open = false;
    }
  }

  private fail(error: unknown): MaybeAsync {
    if (this.pending !== null) return this.failAfterForwards(error);
    this.open = false;
    throw error;
  }

  /** The user's error wins over one of a forward, but not before the forwards have ended. */
  private async failAfterForwards(error: unknown): Promise<void> {
    await this.drain().catch(() => undefined);
    throw error;
  }
}
