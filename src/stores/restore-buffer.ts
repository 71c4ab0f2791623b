/** The engine batch that a restore fills, written with the offsets it reached. One a task; records of its stores may come mixed. */
import type { Engine, EngineBatch } from './engine/engine.js';

export class RestoreBuffer {
  /** Bytes put in since the last write. */
  bytes = 0;
  private pending: EngineBatch | null = null;
  private writing = 0;

  constructor(private readonly engine: Engine) {}

  batch(bytes: number): EngineBatch {
    this.bytes += bytes;
    this.pending ??= this.engine.batch();
    return this.pending;
  }

  /** The engine has all that was restored. */
  get isEmpty(): boolean {
    return this.pending === null && this.writing === 0;
  }

  /** The batch filled so far, until `written`; the next record starts another. */
  take(): EngineBatch {
    const batch = this.pending ?? this.engine.batch();
    this.pending = null;
    this.bytes = 0;
    this.writing++;
    return batch;
  }

  /** What was taken is in the engine, or never will be. */
  written(): void {
    this.writing--;
  }
}
