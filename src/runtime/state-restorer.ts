import type { Fetcher } from '../kafka/fetcher/fetcher.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import { MillraceError } from '../errors.js';
import type { Logger } from '../observability/logger.js';
import type { TaskState } from '../stores/task-state.js';

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

export interface ChangelogToRestore extends TopicPartition {
  readonly store: string;
  readonly topicId: string | null;
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
    const bounds = await this.bounds(changelogs);
    // When one fails the others are stopped and waited for: the caller closes their stores, and may restore the same changelogs again.
    const siblings = new AbortController();
    const either = AbortSignal.any([signal, siblings.signal]);
    const restored = changelogs.map(async (changelog, index) => {
      try {
        await this.restoreOne(taskId, state, changelog, bounds[index] as Bounds, either);
      } catch (error) {
        siblings.abort(error);
        throw error;
      }
    });
    await Promise.allSettled(restored);
    if (siblings.signal.aborted) throw siblings.signal.reason;
  }

  /** Stores that are being restored now. */
  progress(): RestoreProgress[] {
    return [...this.running.values()].map((restoration) => restoration.progress());
  }

  async close(): Promise<void> {
    await this.fetcher?.stop();
    this.fetcher = null;
  }

  private async bounds(changelogs: readonly ChangelogToRestore[]): Promise<Bounds[]> {
    const [starts, ends] = await Promise.all([
      this.options.port.listOffsets(changelogs.map(({ topic, partition }) => ({ topic, partition, at: 'earliest' as const }))),
      this.options.port.listOffsets(
        changelogs.map(({ topic, partition }) => ({ topic, partition, at: 'latest' as const, isolation: 'read_uncommitted' as const })),
      ),
    ]);
    const find = (answers: typeof starts, { topic, partition }: TopicPartition): number => {
      const answer = answers.find((candidate) => candidate.topic === topic && candidate.partition === partition);
      if (answer === undefined || answer.errorCode !== 0) {
        throw new MillraceError(
          'MILL_BROKER_ERROR',
          `can’t read the offsets of ${topic}-${partition} (error ${answer?.errorCode ?? 'none'})`,
          {
            details: { topic, partition, brokerErrorCode: answer?.errorCode },
          },
        );
      }
      return answer.offset;
    };
    return changelogs.map((changelog) => ({ start: find(starts, changelog), end: find(ends, changelog) }));
  }

  private async restoreOne(
    taskId: string,
    state: TaskState,
    changelog: ChangelogToRestore,
    bounds: Bounds,
    signal: AbortSignal,
  ): Promise<void> {
    const { store, topic, partition } = changelog;
    const known = state.position(store, { topic, topicId: changelog.topicId, clusterId: this.options.clusterId });
    const tail = known !== null && known >= bounds.start && known <= bounds.end;
    if (known !== null && !tail) {
      this.options.logger.warn(
        { taskId, store, topic, partition, position: known, ...bounds },
        `the changelog no longer holds offset ${known} of store ${store}: its local content is dropped and it is restored whole`,
      );
    }
    const from = tail ? known : bounds.start;
    state.beginRestore(store, tail ? known : null);
    const restoration = new Restoration(taskId, state, changelog, { from, end: bounds.end, whole: !tail }, this.options);
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

interface Bounds {
  readonly start: number;
  readonly end: number;
}

/** How long a changelog may stand still below its end before dead owners are looked for, ms. */
const heldBackAfterMs = 100;

/** One store being restored: applies chunks one after the other and knows when it is done. */
class Restoration {
  position: number;
  readonly done: Promise<void>;
  private recordsRestored = 0;
  private chain: Promise<void> = Promise.resolve();
  private resolve: () => void = () => undefined;
  private reject: (error: unknown) => void = () => undefined;
  private settled = false;
  private readonly startedAt: number;
  private heldBack: NodeJS.Timeout | null = null;
  private readonly cursor = new RecordCursor();

  constructor(
    private readonly taskId: string,
    private readonly state: TaskState,
    private readonly changelog: ChangelogToRestore,
    private readonly range: { readonly from: number; readonly end: number; readonly whole: boolean },
    private readonly options: StateRestorerOptions,
  ) {
    this.position = range.from;
    this.startedAt = options.now();
    this.done = new Promise((resolve, reject) => {
      this.resolve = resolve;
      this.reject = reject;
    });
    this.done.catch(() => undefined);
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
    const { topic, partition, store } = this.changelog;
    const { cursor } = this;
    cursor.open(chunk.records, {
      fetchOffset: chunk.fetchOffset,
      isolation: this.options.isolation,
      abortedTransactions: chunk.abortedTransactions,
      topic,
      partition,
    });
    let count = 0;
    while (cursor.next()) {
      if (cursor.keyStart < 0) continue;
      const value = cursor.valueStart < 0 ? null : cursor.buffer;
      this.state.restoreRecord(
        store,
        cursor.timestamp,
        cursor.buffer,
        cursor.keyStart,
        cursor.keyEnd,
        value,
        cursor.valueStart,
        cursor.valueEnd,
      );
      count++;
    }
    this.position = Math.max(this.position, cursor.nextOffset);
    this.recordsRestored += count;
    await this.state.restoreFlush(new Map([[store, this.position]]));
    this.tell('onBatch');
    if (this.position >= this.range.end) {
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
      recordsRestored: this.recordsRestored,
      etaMs: doneOffsets > 0 ? Math.round((elapsed / doneOffsets) * left) : null,
      whole: this.range.whole,
    };
  }
}
