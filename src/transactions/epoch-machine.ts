/**
 * When barriers happen and what follows: the epoch coordinator of one stream thread, as a pure state machine.
 *
 * Events go in through `on`, which returns the commands to carry out; the shell (the stream thread) does the I/O and reports back. The invariants it
 * keeps:
 *
 * - at most one epoch is being committed; meanwhile the next one may be filled, up to the byte bound;
 * - no record is processed between a barrier's start (`seal`) and its end (`sealed`);
 * - a `checkpoint` (before a partition is given up, at close) is answered only when everything processed before it is committed, or lost by a failure;
 *   what is not given up goes on meanwhile;
 * - after a failure nothing is sealed until the shell says `recovered`.
 */
export type EpochEvent =
  /** There is something to commit; `bytes` = what the open epoch holds in memory (dirty state and unsent output). During a barrier it is of the next epoch. */
  | { readonly kind: 'progress'; readonly bytes: number; readonly now: number }
  | { readonly kind: 'tick'; readonly now: number }
  /** A user asked for a commit, or a store is about to pass its bound. */
  | { readonly kind: 'commitRequested' }
  /** Everything processed so far has to be committed at once; answered by `checkpointed`, once for all that are pending. */
  | { readonly kind: 'checkpoint' }
  | { readonly kind: 'sealed'; readonly empty: boolean }
  | { readonly kind: 'committed'; readonly now: number }
  | { readonly kind: 'failed' }
  | { readonly kind: 'recovered'; readonly now: number };

export type EpochCommand =
  /** Settle the tasks, flush their operators, freeze their stores, seal the producer; then report `sealed`. */
  | { readonly kind: 'seal'; readonly epoch: number }
  /** Commit the sealed epoch in the background; then report `committed` or `failed`. */
  | { readonly kind: 'commit'; readonly epoch: number }
  | { readonly kind: 'checkpointed' };

export interface EpochBounds {
  /** Milliseconds between barriers while there is something to commit. */
  readonly commitInterval: number;
  /** Bytes of dirty state and unsent output that bring the barrier forward, and that stop processing while an epoch is in flight. */
  readonly maxUncommittedBytes: () => number;
}

export class EpochMachine {
  /** Number of the epoch being filled. */
  epoch: number;
  private phase: 'filling' | 'sealing' | 'failed' = 'filling';
  private inFlight: number | null = null;
  private dirty = false;
  /** Something came during a barrier, which may have begun without it: a task was opened, whose `init` wrote. */
  private dirtySinceBarrier = false;
  private bytes = 0;
  private requested = false;
  /** Epoch whose commit answers the pending checkpoint. */
  private checkpoint: number | null = null;
  private lastBarrier: number;
  /** Since when there is something to commit; null: nothing. */
  private dirtySince: number | null = null;
  /** Since when the interval is not waited for: somebody asked for a commit, or the bound is reached. */
  private urgentSince: number | null = null;
  private lateMs = 0;

  constructor(
    private readonly bounds: EpochBounds,
    start: { readonly now: number; readonly epoch?: number },
  ) {
    this.epoch = start.epoch ?? 1;
    this.lastBarrier = start.now;
  }

  /** True when records may be processed now. */
  get mayProcess(): boolean {
    return this.phase === 'filling' && !(this.inFlight !== null && this.bytes >= this.bounds.maxUncommittedBytes());
  }

  get isFailed(): boolean {
    return this.phase === 'failed';
  }

  /** How long after it was due the last barrier began, ms: the commit of the epoch before was still under way, or nobody looked at the clock. */
  get startDelay(): number {
    return this.lateMs;
  }

  /** When the next barrier is due, ms; null when there is nothing to commit or one is in flight. */
  nextBarrier(): number | null {
    return this.phase === 'filling' && this.dirty && this.inFlight === null ? this.lastBarrier + this.bounds.commitInterval : null;
  }

  on(event: EpochEvent): EpochCommand[] {
    switch (event.kind) {
      case 'progress':
        this.dirty = true;
        this.dirtySinceBarrier = this.phase === 'sealing';
        this.bytes = event.bytes;
        this.dirtySince ??= event.now;
        this.noteUrgency(event.now);
        return [];
      case 'tick':
        this.noteUrgency(event.now);
        return this.barrierDue(event.now) ? this.seal(event.now) : [];
      case 'commitRequested':
        this.requested = true;
        return [];
      case 'checkpoint':
        return this.beginCheckpoint();
      case 'sealed':
        return this.sealed(event.empty);
      case 'committed':
        return this.committed();
      case 'failed':
        return this.failed();
      case 'recovered':
        return this.recovered(event.now);
    }
  }

  private barrierDue(now: number): boolean {
    if (this.phase !== 'filling' || this.inFlight !== null || !this.dirty) return false;
    return this.isUrgent || now >= this.lastBarrier + this.bounds.commitInterval;
  }

  private get isUrgent(): boolean {
    return this.requested || this.bytes >= this.bounds.maxUncommittedBytes();
  }

  private noteUrgency(now: number): void {
    if (this.phase === 'filling' && this.dirty && this.isUrgent) this.urgentSince ??= now;
  }

  private seal(now: number): EpochCommand[] {
    const byInterval = Math.max(this.lastBarrier + this.bounds.commitInterval, this.dirtySince ?? now);
    this.lateMs = Math.max(0, now - Math.min(byInterval, this.urgentSince ?? now));
    this.dirtySince = null;
    this.urgentSince = null;
    this.phase = 'sealing';
    this.lastBarrier = now;
    return [{ kind: 'seal', epoch: this.epoch }];
  }

  private sealed(empty: boolean): EpochCommand[] {
    if (this.phase !== 'sealing') return [];
    this.phase = 'filling';
    this.dirty = this.dirtySinceBarrier;
    this.dirtySinceBarrier = false;
    this.bytes = 0;
    const { epoch } = this;
    const waitsForNext = this.checkpoint !== null && this.checkpoint > epoch;
    this.requested = waitsForNext;
    if (empty) {
      // The number is used again.
      if (waitsForNext) this.checkpoint = epoch;
      return waitsForNext ? [] : this.answerCheckpoint(epoch);
    }
    this.inFlight = epoch;
    this.epoch++;
    return [{ kind: 'commit', epoch }];
  }

  private committed(): EpochCommand[] {
    const epoch = this.inFlight;
    this.inFlight = null;
    return epoch === null ? [] : this.answerCheckpoint(epoch);
  }

  /** Nothing uncommitted survives a failure, so whoever waits for a commit has nothing to wait for. */
  private failed(): EpochCommand[] {
    this.phase = 'failed';
    this.inFlight = null;
    return this.answerCheckpoint(Infinity);
  }

  private beginCheckpoint(): EpochCommand[] {
    if (this.phase === 'failed') return [{ kind: 'checkpointed' }];
    if (this.dirty || this.phase === 'sealing') {
      this.requested = true;
      this.checkpoint = this.dirtySinceBarrier ? this.epoch + 1 : this.epoch;
      return [];
    }
    if (this.inFlight === null) return [{ kind: 'checkpointed' }];
    this.checkpoint = this.inFlight;
    return [];
  }

  private answerCheckpoint(epoch: number): EpochCommand[] {
    if (this.checkpoint === null || epoch < this.checkpoint) return [];
    this.checkpoint = null;
    return [{ kind: 'checkpointed' }];
  }

  private recovered(now: number): EpochCommand[] {
    this.phase = 'filling';
    this.dirty = false;
    this.dirtySinceBarrier = false;
    this.bytes = 0;
    this.requested = false;
    this.dirtySince = null;
    this.urgentSince = null;
    this.lastBarrier = now;
    this.epoch++;
    return [];
  }
}
