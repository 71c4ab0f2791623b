/**
 * The one rule for late records: a record is late for an operator when everything it could have changed there is closed. It is dropped and counted, unless it is to go
 * elsewhere, to a child or to the dead-letter topic; then it goes there once, as it came, and is not counted as dropped.
 */
import { MillraceError } from '../errors.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Downstream, DropReason, OperatorContext } from './operator.js';

/** Where late records go: nowhere, to the dead-letter topic, or to the child of that name. */
export type LateTarget = null | 'deadLetter' | { readonly child: string };

export class LateRecords {
  private readonly side: Downstream | null;
  /** Whether late records go anywhere: operators that count a record for each of its windows ask before they do. */
  readonly areSent: boolean;

  constructor(
    private readonly context: OperatorContext,
    target: LateTarget,
    private readonly reason: DropReason = 'late',
  ) {
    this.areSent = target !== null;
    this.side = target === null || target === 'deadLetter' ? null : context.child(target.child);
    if (target === 'deadLetter' && !context.hasDeadLetterTopic) {
      throw new MillraceError(
        'MILL_CONFIG_INVALID',
        `${context.nodeName} sends late records to the dead-letter topic, but deadLetterTopic is not set`,
        {
          details: { node: context.nodeName },
        },
      );
    }
  }

  /** Takes a record that is late for the whole operator. */
  take(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    if (!this.areSent) {
      this.context.dropped(this.reason);
      return;
    }
    if (this.side !== null) return this.side.process(key, value, timestamp);
    const error = new MillraceError(
      'MILL_LATE_RECORD',
      `${this.context.nodeName} got a record of ${timestamp} after everything it belongs to was closed`,
      {
        details: { node: this.context.nodeName, timestamp },
      },
    );
    return this.context.deadLetter(error, key);
  }
}
