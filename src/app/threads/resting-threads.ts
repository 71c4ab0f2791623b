import { delay } from '../../kafka/backoff.js';

/**
 * Threads that have crashed, until they come back: while it is not decided whether they do, and in their pause. They keep their numbers meanwhile and rest side by side, so that none
 * waits for another, and nobody who adds or removes a thread waits for them.
 */
export class RestingThreads {
  private readonly resting = new Map<number, AbortController>();

  get size(): number {
    return this.resting.size;
  }

  /** The highest number; -1 when none rests. */
  get last(): number {
    return Math.max(-1, ...this.resting.keys());
  }

  has(index: number): boolean {
    return this.resting.has(index);
  }

  /** It has crashed: whoever is asked may think about it for long. */
  crashed(index: number): void {
    this.giveUp(index);
    this.resting.set(index, new AbortController());
  }

  /**
   * Resolves after the pause; the thread rests on until `wake`. Rejects when it is given up before, or `closed` aborts.
   *
   * @param pauseMs ms
   */
  async rest(index: number, pauseMs: number, closed: AbortSignal): Promise<void> {
    const own = this.resting.get(index);
    if (own === undefined) throw removed(index);
    try {
      await delay(pauseMs, AbortSignal.any([own.signal, closed]));
    } catch (error) {
      if (this.resting.get(index) === own) this.resting.delete(index);
      throw error;
    }
  }

  /** It is about to be begun. False: it was given up after its pause. */
  wake(index: number): boolean {
    return this.resting.delete(index);
  }

  /** It does not come back. */
  giveUp(index: number): void {
    const own = this.resting.get(index);
    this.resting.delete(index);
    own?.abort(removed(index));
  }
}

function removed(index: number): Error {
  return new Error(`thread ${index} was removed while it rested`);
}
