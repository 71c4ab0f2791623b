/** The user's word on errors that Millrace can't mend, and what becomes of an error when that word is none. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { callback, oneOf, requireArgument, shown } from '../errors/checked-options.js';
import { bareMessage } from '../errors/bare-message.js';

/** What to do after an error that Millrace can't mend by itself: go on from the last commit, as far and as soon as the option `restart` allows, stop this app, or stop every instance of it. */
export type UncaughtErrorAnswer = 'replaceThread' | 'shutdownClient' | 'shutdownApplication';
const answerFault = oneOf('replaceThread', 'shutdownClient', 'shutdownApplication');

/** Asked for each such error. */
export type UncaughtErrorHandler = (error: Error) => UncaughtErrorAnswer;

/** What follows an error. */
export interface Decided {
  readonly answer: UncaughtErrorAnswer;
  /** The error itself; when the handler failed it, one that says so, too, with the other as its cause. */
  readonly error: Error;
}

export class UncaughtErrors {
  /** Null: the option `restart` decides alone. */
  private handler: UncaughtErrorHandler | null = null;

  /** @throws MILL_CONFIG_INVALID */
  setHandler(handler: UncaughtErrorHandler): void {
    requireArgument('setUncaughtErrorHandler: the handler', handler, callback, 'MILL_CONFIG_INVALID');
    this.handler = handler;
  }

  /** @param otherwise what follows when there is no handler. A handler that fails stops the app: nobody can know what it wanted. */
  decide(error: Error, otherwise: UncaughtErrorAnswer): Decided {
    if (this.handler === null) return { answer: otherwise, error };
    let answer: unknown;
    try {
      answer = this.handler(error);
    } catch (thrown) {
      return { answer: 'shutdownClient', error: withFault(error, `failed: ${thrown instanceof Error ? thrown.message : String(thrown)}`) };
    }
    const wanted = answerFault(answer);
    if (wanted === null) return { answer: answer as UncaughtErrorAnswer, error };
    // It may reject, too, and nobody else would take that.
    if (isPromiseLike(answer)) answer.then(undefined, () => undefined);
    return {
      answer: 'shutdownClient',
      error: withFault(error, `answered ${isPromiseLike(answer) ? 'a promise' : shown(answer)} in place of ${wanted}`),
    };
  }
}

function withFault(error: Error, fault: string): Error {
  const told = (message: string): string =>
    `${message} (and the app stops, since the uncaught-error handler that was asked about it ${fault})`;
  if (!(error instanceof MillraceError)) return new Error(told(error.message), { cause: error });
  const { code, details } = error;
  return new MillraceError(code, told(bareMessage(code, error.message)), { cause: error, details });
}
