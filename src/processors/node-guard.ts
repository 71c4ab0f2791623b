/**
 * Stands in front of each node of a task and says of an error whose fault it is.
 *
 * Operators call their children directly, so an error rises through all nodes above the one that threw it. The lowest guard that sees it is that of the
 * node at fault: it asks what to do and either drops the record there, calls the node again, or throws MILL_PROCESSING. Errors that are MillraceErrors already have their
 * address (a serde, the production of a sink, a guard below) and pass through untouched.
 *
 * An error that passes a guard has left work half done below it, and user code above may catch it where it called `forward`: `onFatal` hears of it, so that the task ends all the same.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { CallCount } from './call-count.js';
import { FailedRow } from './failed-row.js';
import type { Downstream } from './operator.js';

/** What a user function failed on. `key` and `value` are null for a punctuation, unless it is a timer of a key or has to do with a row that waited (`FailedRow`). */
export interface NodeFailure {
  readonly error: unknown;
  readonly node: string;
  readonly key: unknown;
  readonly value: unknown;
  /** It is not the record in work that failed, but one that had waited (`FailedRow`). */
  readonly isOfWaiting: boolean;
  readonly timestamp: number;
  /** 1 the first time, more when the node was called again. */
  readonly attempt: number;
  /** Which call of the node within the record in work, from 0; always 0 when nobody counts. */
  readonly call: number;
  /** The node has done nothing yet that calling it again would do twice. */
  readonly repeatable: boolean;
}

export type ProcessingVerdict = 'fail' | 'skip' | 'retry';

/**
 * What to do about it: 'skip' the record, call the node again ('retry', only if `repeatable`), or 'fail'. It may also throw the error to fail with itself.
 */
export type ProcessingErrorHandler = (failure: NodeFailure) => ProcessingVerdict | Promise<ProcessingVerdict>;

/** Hears of an error of the engine that leaves a node, before anybody above can catch it. */
export type FatalErrorListener = (error: MillraceError) => void;

type Punctuator = (timestamp: number) => MaybeAsync;

export class NodeGuard implements Downstream {
  constructor(
    private readonly nodeName: string,
    private readonly node: Downstream,
    private readonly onError: ProcessingErrorHandler,
    private readonly onFatal: FatalErrorListener = () => undefined,
  ) {}

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    try {
      const pending = this.node.process(key, value, timestamp);
      return pending === undefined ? undefined : this.settle(pending, key, value, timestamp, null, 1, 0);
    } catch (error) {
      return this.decide(error, key, value, timestamp, null, 1, 0);
    }
  }

  /** Runs a punctuator of the node under the same guard. */
  punctuate(punctuator: Punctuator, timestamp: number): MaybeAsync {
    return this.call(null, null, timestamp, punctuator, 1, 0);
  }

  /** Number of the call that has begun last within the record in work. */
  get latestCall(): number {
    return 0;
  }

  /** Whether the node can be called again with the same record, as it is now. */
  protected get repeatable(): boolean {
    return false;
  }

  protected call(
    key: unknown,
    value: unknown,
    timestamp: number,
    punctuator: Punctuator | null,
    attempt: number,
    call: number,
  ): MaybeAsync {
    try {
      const pending = punctuator === null ? this.node.process(key, value, timestamp) : punctuator(timestamp);
      return pending === undefined ? undefined : this.settle(pending, key, value, timestamp, punctuator, attempt, call);
    } catch (error) {
      return this.decide(error, key, value, timestamp, punctuator, attempt, call);
    }
  }

  private async settle(
    pending: Promise<void>,
    key: unknown,
    value: unknown,
    timestamp: number,
    punctuator: Punctuator | null,
    attempt: number,
    call: number,
  ): Promise<void> {
    try {
      await pending;
    } catch (error) {
      await this.decide(error, key, value, timestamp, punctuator, attempt, call);
    }
  }

  private decide(
    error: unknown,
    key: unknown,
    value: unknown,
    timestamp: number,
    punctuator: Punctuator | null,
    attempt: number,
    call: number,
  ): MaybeAsync {
    if (error instanceof MillraceError) {
      this.onFatal(error);
      throw error;
    }
    const isOfWaiting = error instanceof FailedRow;
    const of = isOfWaiting ? error : { error, key, value };
    const obey = (verdict: ProcessingVerdict): MaybeAsync => {
      if (verdict === 'skip') return;
      if (verdict === 'retry') return this.call(key, value, timestamp, punctuator, attempt + 1, call);
      throw this.failed(of.error);
    };
    const { nodeName, repeatable } = this;
    const failure = { error: of.error, node: nodeName, key: of.key, value: of.value, isOfWaiting, timestamp, attempt, call, repeatable };
    const verdict = this.onError(failure);
    return typeof verdict === 'string' ? obey(verdict) : verdict.then(obey);
  }

  private failed(error: unknown): MillraceError {
    const message = error instanceof Error ? error.message : String(error);
    return new MillraceError('MILL_PROCESSING', `Node ${this.nodeName} failed: ${message}`, {
      cause: error,
      details: { node: this.nodeName },
    });
  }
}

/** What a node without stores has done about the record in work: it has passed something on, or nothing. */
export class Passing {
  passedOn = false;

  /** `target`, with a note of what goes through it. */
  watched(target: Downstream): Downstream {
    return {
      process: (key, value, timestamp) => {
        this.passedOn = true;
        return target.process(key, value, timestamp);
      },
    };
  }
}

/** Counts the calls of its node, so that each has tries of its own. Only where a handler may ask for them: the count costs every record a little. */
export class CountingGuard extends NodeGuard {
  constructor(
    nodeName: string,
    node: Downstream,
    onError: ProcessingErrorHandler,
    private readonly calls: CallCount,
    onFatal?: FatalErrorListener,
  ) {
    super(nodeName, node, onError, onFatal);
  }

  override get latestCall(): number {
    return this.calls.latest;
  }

  override process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    return this.call(key, value, timestamp, null, 1, this.calls.next());
  }

  override punctuate(punctuator: Punctuator, timestamp: number): MaybeAsync {
    return this.call(null, null, timestamp, punctuator, 1, this.calls.next());
  }
}

/** The guard of a node that may be called again as long as it has passed nothing on. Only where a handler may ask for it: the note costs a call a record. */
export class RepeatingGuard extends CountingGuard {
  constructor(
    nodeName: string,
    node: Downstream,
    onError: ProcessingErrorHandler,
    calls: CallCount,
    private readonly passing: Passing,
    onFatal?: FatalErrorListener,
  ) {
    super(nodeName, node, onError, calls, onFatal);
  }

  protected override get repeatable(): boolean {
    return !this.passing.passedOn;
  }

  override process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    this.passing.passedOn = false;
    return super.process(key, value, timestamp);
  }

  override punctuate(punctuator: Punctuator, timestamp: number): MaybeAsync {
    this.passing.passedOn = false;
    return super.punctuate(punctuator, timestamp);
  }
}
