/**
 * One standby of this thread from the moment it is wanted until it is closed or promoted: opens the state, follows its changelogs, and begins anew after a failure.
 *
 * A failure (a changelog that lost the position, a store that can't be written) closes the state; the next attempt goes on from what is on disk, or restores whole
 * when that is of no use. The state is never touched by two: whoever ends the slot gets it only after the last batch is done.
 */
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import type { Fetcher } from '../kafka/fetcher/fetcher.js';
import { backoffMs, delay } from '../kafka/backoff.js';
import { MillraceError } from '../errors.js';
import type { KafkaPort, TopicPartition } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { beginStore, readChangelogBounds } from './changelog-bounds.js';
import type { StandbyProgress, StandbySuspension, StandbyUpdateListener } from './standby-listener.js';
import { StandbyStore, StandbyTask } from './standby-task.js';
import type { OpenedState, StateOpener } from './state-opener.js';
import type { TaskPlan } from './task-plan.js';

export interface StandbySlotParts {
  readonly planOf: (taskId: string) => Promise<TaskPlan>;
  readonly states: Pick<StateOpener, 'open'>;
  /** The fetcher of all standbys and its port, opened at the first use. */
  readonly source: () => Promise<{ readonly port: Pick<KafkaPort, 'listOffsets'>; readonly fetcher: Fetcher }>;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  readonly clusterId: string | null;
  readonly listener: StandbyUpdateListener;
  readonly logger: Logger;
  /** Runs a piece of work after those before it, of whatever standby. */
  readonly inTurn: (work: () => Promise<void>) => Promise<void>;
  /** Resolves when it is this thread's standbys' turn again; they never take more than a slice at a time. */
  readonly pause: () => Promise<void>;
  readonly clock: () => number;
  readonly onOpened: (task: StandbyTask) => void;
  /** After each batch, and when it begins. */
  readonly onProgress: (task: StandbyTask) => void;
}

/** How long standbys may hold the thread at a time, ms. */
const sliceMs = 2;
const retryPause = { initialMs: 100, maxMs: 10_000 };

export class StandbySlot {
  /** Null until the state is open and its positions are known. */
  task: StandbyTask | null = null;
  private readonly ending = new AbortController();
  private opened: OpenedState | null = null;
  private fail: (error: unknown) => void = () => undefined;
  private readonly done: Promise<void>;
  private pending = 0;
  private idle: () => void = () => undefined;

  constructor(
    readonly id: string,
    private readonly parts: StandbySlotParts,
  ) {
    this.done = this.run();
  }

  get isEnding(): boolean {
    return this.ending.signal.aborted;
  }

  store(partition: TopicPartition): StandbyStore | undefined {
    return this.task?.stores.find((store) => store.isOf(partition));
  }

  /** Stops following. Resolves with the open state for whoever takes the task over; null when there is none, or it was closed. */
  async end(reason: StandbySuspension): Promise<OpenedState | null> {
    const { task } = this;
    this.ending.abort(new MillraceError('MILL_STATE_INVALID', `the standby ${this.id} ends`));
    await this.done;
    if (task !== null) for (const store of task.stores) this.tell('onUpdateSuspended', store.progress(), reason);
    const { opened } = this;
    this.opened = null;
    if (reason === 'promoted') return opened;
    await opened?.state.close({ clean: true }).catch((error: unknown) => {
      this.parts.logger.warn({ taskId: this.id, error: String(error) }, 'a standby was not closed in order; its changelog has all of it');
    });
    return null;
  }

  /** `release` gives the chunk's room back. */
  receive(store: StandbyStore, chunk: FetchedChunk, release: () => void): void {
    const { task } = this;
    this.pending++;
    void this.parts
      .inTurn(async () => {
        if (task !== null && this.task === task) await this.apply(task, store, chunk);
      })
      .catch((error: unknown) => this.fail(error))
      .finally(() => {
        release();
        if (--this.pending === 0) this.idle();
      });
  }

  refused(error: unknown): void {
    this.fail(error);
  }

  private async apply(task: StandbyTask, store: StandbyStore, chunk: FetchedChunk): Promise<void> {
    const { pause, clock } = this.parts;
    const { applier, changelog } = store;
    const before = applier.records;
    applier.open(chunk);
    while (!applier.apply(clock() + sliceMs, clock)) {
      await pause();
      // What was applied of the chunk is not noted: it is applied again.
      if (this.isEnding) return;
    }
    await task.state.restoreFlush(new Map([[changelog.store, applier.position]]));
    store.position = applier.position;
    await task.state.expireRestored(changelog.store);
    this.tell('onBatch', store.progress(applier.records - before));
    this.parts.onProgress(task);
    await pause();
  }

  private async run(): Promise<void> {
    const { signal } = this.ending;
    for (let attempt = 1; !signal.aborted; attempt++) {
      try {
        await this.follow(signal);
      } catch (error) {
        if (this.isEnding) break;
        this.parts.logger.warn({ taskId: this.id, error: String(error), attempt }, 'a standby failed; it begins anew');
        await this.closeBroken();
        await delay(backoffMs(attempt, retryPause, Math.random), signal).catch(() => undefined);
      }
    }
    this.task = null;
  }

  /** Resolves when the slot ends; rejects with what failed. */
  private async follow(signal: AbortSignal): Promise<void> {
    const { parts } = this;
    const plan = await parts.planOf(this.id);
    const { port, fetcher } = await parts.source();
    // What a source topic holds beyond the owner's position is not state yet; such stores are restored from it when the task is taken over.
    const changelogs = plan.changelogs.filter(({ isSourceTopic }) => isSourceTopic !== true);
    const bounds = await readChangelogBounds(port, changelogs);
    signal.throwIfAborted();
    const opened = await parts.states.open(plan);
    this.opened = opened;
    signal.throwIfAborted();
    opened.state.wipeUnlogged();
    const stores = changelogs.map((changelog, index) => {
      const known = bounds[index] ?? { start: 0, end: 0 };
      const start = beginStore({ taskId: this.id, state: opened.state }, changelog, known, parts);
      const end = (): number => Math.max(known.end, fetcher.highWatermark(changelog));
      return new StandbyStore(this.id, opened.state, changelog, parts.isolation, start, end);
    });
    const failed = new Promise<never>((_, reject) => {
      this.fail = reject;
    });
    const ended = new Promise<void>((resolve) => {
      signal.addEventListener('abort', () => resolve(), { once: true });
    });
    const task = new StandbyTask(plan, opened, stores);
    this.task = task;
    parts.onOpened(task);
    try {
      for (const store of stores) {
        fetcher.assign(store.changelog, store.position);
        this.tell('onUpdateStart', store.progress());
      }
      parts.onProgress(task);
      await Promise.race([failed, ended]);
    } finally {
      for (const { changelog } of stores) fetcher.unassign(changelog);
      this.task = null;
      await this.untilIdle();
      if (signal.aborted) task.noteCurrent();
    }
  }

  private untilIdle(): Promise<void> {
    if (this.pending === 0) return Promise.resolve();
    return new Promise((resolve) => {
      this.idle = resolve;
    });
  }

  private async closeBroken(): Promise<void> {
    const { opened } = this;
    this.opened = null;
    await opened?.state.close({ clean: false });
  }

  private tell(event: 'onUpdateStart' | 'onBatch', progress: StandbyProgress): void;
  private tell(event: 'onUpdateSuspended', progress: StandbyProgress, reason: StandbySuspension): void;
  private tell(event: keyof StandbyUpdateListener, progress: StandbyProgress, reason: StandbySuspension = 'migrated'): void {
    try {
      this.parts.listener[event]?.(progress, reason);
    } catch (error) {
      this.parts.logger.warn({ error: String(error), event }, 'the standby listener failed');
    }
  }
}
