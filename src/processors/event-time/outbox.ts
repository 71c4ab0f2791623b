/** Results noted while an engine is at work, sent afterwards in the same order. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import type { Downstream } from '../operator.js';

interface Note {
  readonly target: Downstream;
  readonly key: unknown;
  readonly value: unknown;
  readonly timestamp: number;
}

export class Outbox {
  private notes: Note[] = [];

  add(target: Downstream, key: unknown, value: unknown, timestamp: number): void {
    // Records have no time before the epoch, and windows without an end have none of their own.
    this.notes.push({ target, key, value, timestamp: Math.max(0, timestamp) });
  }

  send(): MaybeAsync {
    if (this.notes.length === 0) return;
    const { notes } = this;
    this.notes = [];
    return sendFrom(notes, 0);
  }

  /** Sends what was noted before the engine failed, and then throws `error`. What fails on the way is thrown instead. */
  sendAndFail(error: unknown): MaybeAsync {
    const pending = this.send();
    if (pending === undefined) throw error;
    return pending.then(() => {
      throw error;
    });
  }

  /** @throws MILL_INVARIANT */
  mustBeEmpty(node: string): void {
    if (this.notes.length === 0) return;
    throw new MillraceError('MILL_INVARIANT', `${node} holds ${this.notes.length} results back at a barrier`, { details: { node } });
  }
}

function sendFrom(notes: readonly Note[], first: number): MaybeAsync {
  for (let i = first; i < notes.length; i++) {
    const { target, key, value, timestamp } = notes[i] as Note;
    const pending = target.process(key, value, timestamp);
    if (pending !== undefined) return pending.then(() => sendFrom(notes, i + 1));
  }
}
