/** The engine batch that a restore fills, written with the offsets it reached. One a task; records of its stores may come mixed. */
import type { Engine, EngineBatch } from './engine/engine.js';

export class RestoreBuffer {
  /** Bytes put in since the last write. */
  bytes = 0;
  private pending: EngineBatch | null = null;

  constructor(private readonly engine: Engine) {}

  batch(bytes: number): EngineBatch {
    this.bytes += bytes;
    this.pending ??= this.engine.batch();
    return this.pending;
  }

  /** The batch filled so far; the next record starts another. */
  take(): EngineBatch {
    const batch = this.pending ?? this.engine.batch();
    this.pending = null;
    this.bytes = 0;
    return batch;
  }
}
