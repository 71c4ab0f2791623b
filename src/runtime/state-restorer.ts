import { setMaxListeners } from 'node:events';
import type { Fetcher } from '../kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import { MillraceError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import type { TaskState } from '../stores/task-state.js';
import { ChangelogApplier } from './changelog-applier.js';
import { beginStore, readChangelogBounds, type ChangelogBounds, type ChangelogToRestore } from './changelog-bounds.js';

/** Progress of a store's restore, told to the app's restore listener. */
export interface RestoreProgress {
  readonly taskId: string;
  readonly store: string;
  readonly topic: string;
  readonly partition: number;
  /** First offset read. */
  readonly startOffset: number;
  /** High watermark seen at the start: the restore ends there. */
  readonly endOffset: number;
  readonly position: number;
  readonly recordsRestored: number;
  /** Milliseconds left at the speed so far; null at the beginning. */
  readonly etaMs: number | null;
  /** True when the store's local content could not be used and everything is read again. */
  readonly whole: boolean;
}

/** Told of stores that are restored. What it throws is logged and changes nothing. */
export interface RestoreListener {
  /** Before the first record of a store. */
  onStart?(progress: RestoreProgress): void;
  /** After each batch of records that lies in the store. */
  onBatch?(progress: RestoreProgress): void;
  /** When the store is where its changelog was at the start. */
  onEnd?(progress: RestoreProgress): void;
}

export interface StateRestorerOptions {
  readonly port: KafkaPort;
  readonly openFetcher: (
    onData: (chunk: FetchedChunk) => void,
    onError: (error: MillraceError, partition: TopicPartition | null) => void,
  ) => Fetcher;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  readonly clusterId: string | null;
  readonly listener: RestoreListener;
  readonly logger: Logger;
  readonly now: () => number;
  /** Called while a transaction left open holds a changelog back; fences its owner if that is no longer in the group. */
  readonly fenceDeadOwners: () => Promise<unknown>;
}

/**
 * Brings the stores of a task up to the changelog: only the tail when the local store knows its offset, everything otherwise.
 *
 * It reads up to the high watermark seen at its start, read_committed, and so waits until the last stable offset gets there: an open transaction of a
 * dead owner is fenced rather than outlived. Records are applied chunk by chunk; a chunk's buffer room is given back when it is in the engine, which
 * bounds memory.
 */
export class StateRestorer {
  private readonly running = new Map<string, Restoration>();
  private fetcher: Fetcher | null = null;

  constructor(private readonly options: StateRestorerOptions) {}

  /** Resolves when every changelog is restored; rejects with what failed, or when `signal` aborts. */
  async restore(taskId: string, state: TaskState, changelogs: readonly ChangelogToRestore[], signal: AbortSignal): Promise<void> {
    if (changelogs.length === 0) return;
    const bounds = await readChangelogBounds(this.options.port, changelogs);
    // When one fails the others are stopped and waited for: the caller closes their stores, and may restore the same changelogs again.
    const stop = new AbortController();
    // One listener a store: however many there are, that is no leak.
    setMaxListeners(0, stop.signal);
    // Not AbortSignal.any: Node holds what it returns for as long as somebody listens, here with the whole restore of a task that nobody waits for any more.
    const onAbort = (): void => stop.abort(signal.reason);
    if (signal.aborted) onAbort();
    else signal.addEventListener('abort', onAbort, { once: true });
    const failures: unknown[] = [];
    const restored = changelogs.map(async (changelog, index) => {
      try {
        await this.restoreOne(taskId, state, changelog, bounds[index] as ChangelogBounds, stop.signal);
      } catch (error) {
        failures.push(error);
        stop.abort(error);
      }
    });
    await Promise.all(restored);
    signal.removeEventListener('abort', onAbort);
    if (failures.length > 0) throw failures[0];
  }

  /** Stores that are being restored now. */
  progress(): RestoreProgress[] {
    return [...this.running.values()].map((restoration) => restoration.progress());
  }

  async close(): Promise<void> {
    await this.fetcher?.stop();
    this.fetcher = null;
  }

  private async restoreOne(
    taskId: string,
    state: TaskState,
    changelog: ChangelogToRestore,
    bounds: ChangelogBounds,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, topic, partition } = changelog;
    const { from, whole } = beginStore({ taskId, state }, changelog, bounds, this.options);
    const restoration = new Restoration(taskId, state, changelog, { from, end: bounds.end, whole }, this.options);
    restoration.started();
    if (from < bounds.end) {
      const key = `${topic}-${partition}`;
      this.running.set(key, restoration);
      const fetcher = this.ensureFetcher();
      const onAbort = (): void => {
        restoration.fail(new MillraceError('MILL_STATE_INVALID', `the restore of ${store} was stopped`));
      };
      signal.addEventListener('abort', onAbort, { once: true });
      try {
        if (signal.aborted) onAbort();
        else fetcher.assign({ topic, partition }, from);
        await restoration.done;
      } finally {
        signal.removeEventListener('abort', onAbort);
        fetcher.unassign({ topic, partition });
        this.running.delete(key);
        await restoration.idle();
      }
    }
    await state.endRestore(store, Math.max(restoration.position, from));
    restoration.ended();
  }

  private ensureFetcher(): Fetcher {
    if (this.fetcher !== null) return this.fetcher;
    const fetcher = this.options.openFetcher(
      (chunk) => {
        this.receive(chunk, fetcher);
      },
      (error, partition) => {
        const cause = error.code === 'MILL_OFFSET_OUT_OF_RANGE' || error.code === 'MILL_TOPIC_RECREATED' ? overtaken(error) : error;
        for (const restoration of this.running.values()) if (partition === null || restoration.isOf(partition)) restoration.fail(cause);
      },
    );
    this.fetcher = fetcher;
    fetcher.start();
    return fetcher;
  }

  private receive(chunk: FetchedChunk, fetcher: Fetcher): void {
    const restoration = this.running.get(`${chunk.topic}-${chunk.partition}`);
    if (restoration === undefined) {
      fetcher.consumed(chunk.byteLength, chunk);
      return;
    }
    restoration.enqueue(chunk, () => {
      fetcher.consumed(chunk.byteLength, chunk);
    });
  }
}

/** The changelog was compacted or truncated past the position while it was read: the next attempt restores whole. */
function overtaken(cause: MillraceError): MillraceError {
  return new MillraceError('MILL_STORE_CORRUPTED', `the changelog lost records that a restore was about to read: ${cause.message}`, {
    cause,
    details: cause.details,
  });
}

/** How long a changelog may stand still below its end before dead owners are looked for, ms. */
const heldBackAfterMs = 100;

/** One store being restored: applies chunks one after the other and knows when it is done. */
class Restoration {
  readonly done: Promise<void>;
  private readonly applier: ChangelogApplier;
  private chain: Promise<void> = Promise.resolve();
  private resolve: () => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private settled = false;
  private readonly startedAt: number;
  private heldBack: NodeJS.Timeout | null = null;

  constructor(
    private readonly taskId: string,
    private readonly state: TaskState,
    private readonly changelog: ChangelogToRestore,
    private readonly range: { readonly from: number; readonly end: number; readonly whole: boolean },
    private readonly options: StateRestorerOptions,
  ) {
    this.applier = new ChangelogApplier(state, changelog, options.isolation, range.from);
    this.startedAt = options.now();
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.done.catch(() => undefined);
  }

  get position(): number {
    return this.applier.position;
  }

  isOf(partition: TopicPartition): boolean {
    return partition.topic === this.changelog.topic && partition.partition === this.changelog.partition;
  }

  started(): void {
    this.tell('onStart');
    if (this.range.from < this.range.end) this.watch();
  }

  ended(): void {
    this.options.logger.info({ ...this.progress() }, `restored store ${this.changelog.store} of task ${this.taskId}`);
    this.tell('onEnd');
  }

  enqueue(chunk: FetchedChunk, release: () => void): void {
    this.chain = this.chain
      .then(() => (this.settled ? undefined : this.apply(chunk)))
      .catch((error: unknown) => {
        this.fail(error);
      })
      .then(release);
  }

  fail(error: unknown): void {
    if (this.settle()) this.reject(error);
  }

  private async apply(chunk: FetchedChunk): Promise<void> {
    const { applier } = this;
    applier.open(chunk);
    applier.apply(Infinity, this.options.now);
    await this.state.restoreFlush(new Map([[this.changelog.store, applier.position]]));
    this.tell('onBatch');
    if (applier.position >= this.range.end) {
      if (this.settle()) this.resolve();
    } else {
      this.watch();
    }
  }

  private watch(): void {
    if (this.heldBack !== null) clearTimeout(this.heldBack);
    if (this.settled) return;
    this.heldBack = setTimeout(() => {
      this.options
        .fenceDeadOwners()
        .catch((error: unknown) => {
          this.options.logger.warn(
            { error: String(error), ...this.changelog },
            'could not look for dead owners of open transactions; trying again',
          );
        })
        .finally(() => {
          this.watch();
        });
    }, heldBackAfterMs);
  }

  private settle(): boolean {
    if (this.settled) return false;
    this.settled = true;
    if (this.heldBack !== null) clearTimeout(this.heldBack);
    return true;
  }

  /** Resolves when nothing touches the store any more. */
  idle(): Promise<void> {
    return this.chain;
  }

  /** A listener is no part of the restore: what it throws is logged. */
  private tell(event: keyof RestoreListener): void {
    try {
      this.options.listener[event]?.(this.progress());
    } catch (error) {
      this.options.logger.warn({ error: String(error), event }, 'the restore listener failed');
    }
  }

  progress(): RestoreProgress {
    const { topic, partition, store } = this.changelog;
    const elapsed = this.options.now() - this.startedAt;
    const doneOffsets = this.position - this.range.from;
    const left = Math.max(0, this.range.end - this.position);
    return {
      taskId: this.taskId,
      store,
      topic,
      partition,
      startOffset: this.range.from,
      endOffset: this.range.end,
      position: this.position,
      recordsRestored: this.applier.records,
      etaMs: doneOffsets > 0 ? Math.round((elapsed / doneOffsets) * left) : null,
      whole: this.range.whole,
    };
  }
}
