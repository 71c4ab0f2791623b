/**
 * Stands in front of each node of a task and says of an error whose fault it is.
 *
 * Operators call their children directly, so an error rises through all nodes above the one that threw it. The lowest guard that sees it is that of the
 * node at fault: it asks what to do and either drops the record there or throws MILL_PROCESSING. Errors that are MillraceErrors already have their
 * address (a serde, the production of a sink, a guard below) and pass through untouched.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { Downstream } from './operator.js';

/**
 * What to do about a record that a user function failed on: 'skip' it, or 'fail'. It may also throw the error to fail with itself.
 * `key` and `value` are null for a punctuation.
 */
export type ProcessingErrorHandler = (
  error: unknown,
  nodeName: string,
  key: unknown,
  value: unknown,
  timestamp: number,
) => 'fail' | 'skip' | Promise<'fail' | 'skip'>;

export class NodeGuard implements Downstream {
  constructor(
    private readonly nodeName: string,
    private readonly node: Downstream,
    private readonly onError: ProcessingErrorHandler,
  ) {}

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    try {
      const pending = this.node.process(key, value, timestamp);
      return pending === undefined ? undefined : this.settle(pending, key, value, timestamp);
    } catch (error) {
      return this.decide(error, key, value, timestamp);
    }
  }

  /** Runs a punctuator of the node under the same guard. */
  punctuate(punctuator: (timestamp: number) => MaybeAsync, timestamp: number): MaybeAsync {
    try {
      const pending = punctuator(timestamp);
      return pending === undefined ? undefined : this.settle(pending, null, null, timestamp);
    } catch (error) {
      return this.decide(error, null, null, timestamp);
    }
  }

  private async settle(pending: Promise<void>, key: unknown, value: unknown, timestamp: number): Promise<void> {
    try {
      await pending;
    } catch (error) {
      await this.decide(error, key, value, timestamp);
    }
  }

  private decide(error: unknown, key: unknown, value: unknown, timestamp: number): MaybeAsync {
    if (error instanceof MillraceError) throw error;
    const verdict = this.onError(error, this.nodeName, key, value, timestamp);
    if (typeof verdict !== 'string') return this.obeyLater(verdict, error);
    this.obey(verdict, error);
  }

  private async obeyLater(verdict: Promise<'fail' | 'skip'>, error: unknown): Promise<void> {
    this.obey(await verdict, error);
  }

  private obey(verdict: 'fail' | 'skip', error: unknown): void {
    if (verdict === 'skip') return;
    const message = error instanceof Error ? error.message : String(error);
    throw new MillraceError('MILL_PROCESSING', `Node ${this.nodeName} failed: ${message}`, {
      cause: error,
      details: { node: this.nodeName },
    });
  }
}
