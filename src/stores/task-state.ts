/**
 * All state of one task: its stores over one engine, carried through the epochs together.
 *
 * The runtime calls `freeze` at a barrier, `committed` when the Kafka transaction has ended and `maybeFlush` now and then. Several committed epochs go to the engine
 * in one atomic batch together with their changelog positions and the epoch number. So the engine is always at a committed epoch: equal to Kafka or
 * behind, never ahead, and what a crash costs is the changelog's tail.
 */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { MillraceError } from '../errors.js';
import { additionalRetentionMs } from './changelog-topic.js';
import { withTracking } from './change-tracking.js';
import { CacheBudget } from './cache-budget.js';
import { CommitWaiters } from './commit-waiters.js';
import type { Engine, EngineBatch } from './engine/engine.js';
import { deleteStoreMeta, putCleanEnd, putEpoch, putStoreMeta } from './engine-meta.js';
import type { ChangelogIdentity, EngineMeta } from './engine-meta.js';
import { EpochLog } from './epoch-log.js';
import type { FrozenEpoch } from './epoch-log.js';
import type { EpochLayer, EpochState } from './epoch-state.js';
import { EpochWriter, releaseRows } from './epoch-writer.js';
import { FlushSchedule, isDamage } from './flush-schedule.js';
import { openEngine } from './open-engine.js';
import type { StoreReader } from './reading/store-reader.js';
import { RestoreBuffer } from './restore-buffer.js';
import { engineOf, isPersistent, usable, whyUseless } from './store-resumption.js';
import { SerialQueue } from './serial-queue.js';
import type { StateStore } from './store.js';
import { StoreSizes } from './store-sizes.js';
import { idPrefix } from './store-environment.js';
import type { ChangelogSink } from './store-environment.js';
import type { StoreMarks } from './store-marks.js';
import type { TaskStateOptions } from './task-state-options.js';
import { storeSerdes } from './value-error.js';
import { TaskStore } from './task-store.js';

export type { TaskStateOptions } from './task-state-options.js';

export class TaskState {
  /** Last epoch in the engine, -1 before the first. */
  epoch = -1;
  /** Set when the engine was found unreadable and emptied. */
  wiped: 'corrupted' | null = null;
  readonly sizes: StoreSizes;
  private readonly stores = new Map<string, TaskStore>();
  private readonly states: EpochState[] = [];
  private readonly epochs: EpochLog;
  private readonly queue = new SerialQueue();
  private readonly writer = new EpochWriter();
  private readonly restoring: RestoreBuffer | null;
  private readonly budget: CacheBudget;
  private readonly now: () => number;
  private readonly flushes: FlushSchedule;
  /** Rows that should be gone may still be there: nothing is restored over them. */
  private wipeFailure: Error | null = null;
  private closing: Promise<void> | null = null;
  private readonly waiters: CommitWaiters;

  private constructor(
    private readonly options: TaskStateOptions,
    private readonly engine: Engine | null,
  ) {
    this.epochs = new EpochLog(options.taskId);
    this.waiters = new CommitWaiters(options.taskId);
    this.restoring = engine === null ? null : new RestoreBuffer(engine);
    this.budget = new CacheBudget(options.cacheBytes);
    this.now = options.now ?? Date.now;
    this.sizes = new StoreSizes(engine, this.states, this.restoring, options.now ?? (() => performance.now()));
    const kinds = options.specs.map(({ kind }) => kind);
    this.flushes = new FlushSchedule(options.flushIntervalMs ?? 1000, kinds, engine === null ? null : this.budget, this.now());
  }

  /** Errors: MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO. An unreadable database is emptied, said in the log and in `wiped`. */
  static async open(given: TaskStateOptions): Promise<TaskState> {
    const options = { ...given, specs: given.specs.map((spec) => withTracking(spec, given.emitsOnCommit ?? true)) };
    const { directory } = options;
    if (directory === null || !isPersistent(options)) {
      const state = new TaskState(options, null);
      await state.addStores(null);
      return state;
    }
    const { taskId, engineBytes } = options;
    const { engine, meta, corrupted } = await openEngine({ directory: join(directory, 'db'), taskId, engineBytes });
    const state = new TaskState(options, engine);
    if (corrupted !== null) {
      state.wiped = 'corrupted';
      options.onDamaged?.();
      options.logger.warn(
        { task: options.taskId, err: corrupted },
        'the local state could not be read: it is deleted and restored whole from its changelogs',
      );
    }
    try {
      state.epoch = meta.epoch;
      await state.addStores(meta);
    } catch (error) {
      await engine.close();
      throw error;
    }
    return state;
  }

  /** Bytes changed in the active epoch, estimated: the runtime commits early above a bound. */
  get activeBytes(): number {
    let bytes = 0;
    for (const state of this.states) bytes += state.activeBytes;
    return bytes;
  }

  /** Bytes that rows of LevelDB stores take in memory, those included that are not in LevelDB yet. */
  get cachedBytes(): number {
    return this.budget.used;
  }

  /** Changes what clean rows may take; a smaller bound is reached over the next epochs. */
  set cacheBytes(bytes: number) {
    this.budget.limit = bytes;
  }

  /** Whether some of it outlives the process. */
  get isPersistent(): boolean {
    return this.engine !== null;
  }

  /** Changelog offsets that the stores have reached, summed. */
  get offsetSum(): number {
    let sum = 0;
    for (const { position } of this.stores.values()) sum += position ?? 0;
    return sum;
  }

  /** Bytes given to `restoreRecord` since the last `restoreFlush`. */
  get restorePendingBytes(): number {
    return this.restoring?.bytes ?? 0;
  }

  /** The store of that name as operators see it. Errors: MILL_TOPOLOGY_UNKNOWN_STORE. */
  store(name: string): StateStore {
    return this.taskStore(name).facade;
  }

  /** Reads the store from outside the task. Errors: MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_WRONG_TYPE. */
  reader(name: string): StoreReader {
    return this.taskStore(name).reader;
  }

  /** Resolves with the next epoch that is committed. Errors: MILL_STORE_CLOSED when the task is closed before. */
  whenCommitted(): Promise<void> {
    return this.waiters.wait();
  }

  /** Writes to expired windows of the store since it was opened. */
  expiredWrites(name: string): number {
    return this.taskStore(name).expiredWrites;
  }

  // ---- restore

  /** Changelog offset to go on from; null: restore whole. Another topic id or cluster than the one the position was noted for wipes the store. */
  position(name: string, identity: ChangelogIdentity): number | null {
    const store = this.taskStore(name);
    const { position, changelog, notedAt } = store;
    const reason = position === null ? null : whyUseless(changelog, identity, notedAt, this.now());
    if (reason !== null) {
      const task = this.options.taskId;
      this.options.logger.warn(
        { task, store: name, known: changelog, found: identity, notedAt },
        `${reason}: the store is wiped and restored whole`,
      );
      this.wipeStore(store);
    }
    store.changelog = identity;
    return store.position;
  }

  /** `from` null wipes the store first. */
  beginRestore(name: string, from: number | null): void {
    const store = this.taskStore(name);
    if (from === null) this.wipeStore(store);
    else store.position = from;
  }

  /** Applies one changelog record. The bytes are copied at once; nothing is decoded for LevelDB stores. */
  restoreRecord(
    name: string,
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void {
    const { state } = this.taskStore(name);
    const batch = state.engine === null || this.restoring === null ? null : this.restoring.batch(keyEnd - keyStart + valueEnd - valueStart);
    state.restore(timestamp, key, keyStart, keyEnd, value, valueStart, valueEnd, batch);
  }

  /** Writes what was restored, with the offsets reached (by store name), in one atomic batch: an interrupted restore goes on from there. */
  restoreFlush(nextOffsets: ReadonlyMap<string, number>): Promise<void> {
    const restored = this.freezeRestored();
    const batch = this.restoring?.take() ?? null;
    const reached: TaskStore[] = [];
    for (const [name, offset] of nextOffsets) {
      const store = this.taskStore(name);
      store.position = offset;
      store.marks = store.state.marks();
      reached.push(store);
    }
    if (batch === null) {
      for (const [state, layer] of restored) state.release(layer);
      return Promise.resolve();
    }
    for (const [state, layer] of restored) if (state.engine !== null) layer.writeAll(batch);
    for (const store of reached) this.noteMeta(batch, store);
    return this.queue.run(async () => {
      try {
        if (this.wipeFailure !== null) throw this.wipeFailure;
        await batch.write();
      } finally {
        this.restoring?.written();
      }
      for (const [state, layer] of restored) state.release(layer);
      // A query may have read a row from the engine just before it was written.
      for (const { state } of reached) state.forgetClean();
    });
  }

  private freezeRestored(): (readonly [EpochState, EpochLayer])[] {
    const layers: (readonly [EpochState, EpochLayer])[] = [];
    for (const state of this.states) {
      const layer = state.freezeRestored();
      if (layer !== null) layers.push([state, layer]);
    }
    return layers;
  }

  /** The store is as of `nextOffset` and ready for use. */
  async endRestore(name: string, nextOffset: number): Promise<void> {
    await this.restoreFlush(new Map([[name, nextOffset]]));
  }

  /**
   * Drops what has expired by the records restored so far: no epoch does it in a standby. Windows are closed by the task that runs and nothing in the changelog says so:
   * those that wait for it stay until the changelog drops them too.
   */
  expireRestored(name: string): Promise<void> {
    const store = this.taskStore(name);
    const { retention = 0 } = store.state.spec;
    const closedUpTo = Math.max(store.marks.closedUpTo, store.marks.observed - retention - additionalRetentionMs);
    return this.queue.run(() => this.expire(store, { ...store.marks, closedUpTo }));
  }

  /** Stores without a changelog start over: a standby's task runs elsewhere, and nothing tells what it does to them. */
  wipeUnlogged(): void {
    for (const store of this.stores.values()) if (!store.state.spec.logged) this.wipeStore(store);
  }

  /** The store has all there is in its changelog now, although no record said so for long. */
  noteCurrent(name: string): void {
    this.taskStore(name).notedAt = this.now();
  }

  // ---- epochs

  /** Step 3 of the barrier, synchronous: one changelog record for each row changed in the active epoch; the rows are frozen as `epoch`. */
  freeze(epoch: number, sink: ChangelogSink): void {
    const layers: (readonly [EpochState, EpochLayer])[] = [];
    for (const state of this.states) {
      const layer = state.freeze(state.spec.logged ? sink : null);
      if (layer !== null) layers.push([state, layer]);
    }
    this.epochs.freeze(epoch, layers);
    this.budget.shrink();
  }

  /** The frozen epoch is committed in Kafka. `nextOffsets`: changelog position by store name; stores that are absent keep theirs. */
  committed(epoch: number, nextOffsets: ReadonlyMap<string, number>): void {
    this.epochs.commit(epoch, nextOffsets);
    this.waiters.committed();
  }

  /** Writes the rows of all committed epochs with their positions in one atomic batch. */
  flush(): Promise<void> {
    return this.queue.run(() => this.writeDue());
  }

  /** Bytes of committed rows that wait for the engine. */
  get dueBytes(): number {
    return this.epochs.dueBytes;
  }

  /**
   * Starts a flush when it is time or too much is due. A failure is logged and tried again; when too much waits for the engine, or the engine is damaged, it is thrown here.
   *
   * @param fullness what waits over all tasks, of what may wait; past 1 no more may
   */
  maybeFlush(now: number, fullness = 0): void {
    if (!this.flushes.begins(now, this.dueBytes, fullness) || this.epochs.due().length === 0) return;
    this.flushes.started();
    this.flush().then(
      () => this.flushEnded(null),
      (error: unknown) => this.flushEnded(asError(error)),
    );
  }

  private flushEnded(failure: Error | null): void {
    this.flushes.ended(failure);
    if (failure !== null && this.closing === null) {
      this.options.logger.error({ task: this.options.taskId, err: failure }, 'writing the local state failed; it is tried again');
    }
    this.options.onWritten?.(failure !== null);
  }

  private async writeDue(): Promise<void> {
    const due = this.epochs.due();
    const last = due[due.length - 1];
    if (last === undefined) return;
    const touched = this.notePositions(due);
    if (this.engine !== null) await this.writer.write(this.engine, due, (batch) => this.putMarks(batch, last.epoch, touched));
    this.epoch = last.epoch;
    this.epochs.done(due.length);
    this.sizes.written();
    await releaseRows(due);
    for (const store of touched) await this.expire(store, store.marks);
  }

  /** Takes positions and marks over from the epochs; they are those that the batch is about to write. */
  private notePositions(due: readonly FrozenEpoch[]): Set<TaskStore> {
    const touched = new Set<TaskStore>();
    for (const frozen of due) {
      for (const [state, layer] of frozen.layers) {
        const store = this.taskStore(state.name);
        store.marks = layer.marks;
        touched.add(store);
      }
      for (const [name, offset] of frozen.nextOffsets) {
        const store = this.taskStore(name);
        store.position = offset;
        touched.add(store);
      }
    }
    return touched;
  }

  private putMarks(batch: EngineBatch, epoch: number, touched: ReadonlySet<TaskStore>): void {
    for (const store of touched) this.noteMeta(batch, store);
    putEpoch(batch, epoch);
  }

  private async expire(store: TaskStore, marks: StoreMarks): Promise<void> {
    const { engine, hasSnapshots } = store.state;
    // Rows of a store in memory are nowhere else: a scan under way may still come to them.
    if (engine === null && hasSnapshots) return;
    for (const [from, to] of store.state.expire(marks)) await this.engine?.clear(from, to);
  }

  // ---- the end

  /** Writes what is committed, drops what is not. Errors: a failing engine write, when `clean`; else it is logged. */
  close(options: { readonly clean: boolean }): Promise<void> {
    this.closing ??= this.closeOnce(options.clean);
    return this.closing;
  }

  private async closeOnce(clean: boolean): Promise<void> {
    const { engine, restoring } = this;
    let failure: Error | null = null;
    try {
      await restoring?.take().close();
      await this.flush();
      if (clean && engine !== null) {
        const batch = engine.batch();
        for (const store of this.stores.values()) this.noteMeta(batch, store);
        putCleanEnd(batch);
        await this.queue.run(() => batch.write());
      }
    } catch (error) {
      failure = asError(error);
    }
    await this.shut();
    if (failure === null) return;
    // What is damaged is made anew at the next open.
    if (clean && !isDamage(failure)) throw failure;
    this.options.logger.warn(
      { task: this.options.taskId, err: failure },
      'the committed state could not be written at the end; its changelog has it',
    );
  }

  /** Closes without writing and deletes the task's directory. The next `open` starts empty. */
  async wipe(): Promise<void> {
    this.closing ??= Promise.resolve();
    const { directory } = this.options;
    await this.shut(async () => {
      if (directory !== null) await rm(directory, { recursive: true, force: true });
    });
  }

  /** Whoever waits for the directory gets it last, whatever fails. */
  private async shut(afterwards: () => Promise<void> = () => Promise.resolve()): Promise<void> {
    this.waiters.close();
    for (const state of this.states) state.close();
    try {
      await this.queue.idle();
      await this.engine?.close();
      await afterwards();
    } finally {
      this.options.onClosed?.();
    }
  }

  // ---- stores

  private async addStores(meta: EngineMeta | null): Promise<void> {
    const { budget } = this;
    const ids = meta === null ? [] : [...meta.stores.values()].map((store) => store.id);
    let lastId = Math.max(0, ...ids);
    const batch = this.engine?.batch() ?? null;
    for (const spec of this.options.specs) {
      const engine = engineOf(spec, this.options) === 'leveldb' ? this.engine : null;
      const known = usable(meta?.stores.get(spec.name), spec, engine, meta);
      const store = new TaskStore({
        spec,
        taskId: this.options.taskId,
        id: known?.id ?? ++lastId,
        engine,
        budget,
        ...storeSerdes({ name: spec.name, taskId: this.options.taskId }, this.options.serdes(spec)),
        recordTimestamp: this.options.recordTimestamp ?? this.now,
      });
      if (known !== undefined) store.resume(known);
      this.stores.set(spec.name, store);
      this.states.push(store.state);
      if (engine !== null && batch !== null) this.putMeta(batch, store);
    }
    if (this.engine === null || batch === null || meta === null) return;
    await this.clearStrangers(this.engine, batch, meta);
    await batch.write();
    for (const store of this.stores.values()) if (store.state.engine !== null) await store.state.attach(store.resumed);
    await this.sizes.measure();
  }

  /** Rows of stores that are no longer in the topology, or not usable, under ids that nobody has now. */
  private async clearStrangers(engine: Engine, batch: EngineBatch, meta: EngineMeta): Promise<void> {
    for (const [name, { id }] of meta.stores) {
      const store = this.stores.get(name);
      const persistent = store !== undefined && store.state.engine !== null;
      if (persistent && store.state.id === id) continue;
      if (!persistent) deleteStoreMeta(batch, name);
      await engine.clear(idPrefix(id), idPrefix(id + 1));
    }
  }

  private wipeStore(store: TaskStore): void {
    store.forget();
    const { engine, id } = store.state;
    if (engine === null) return;
    const meta = engine.batch();
    this.putMeta(meta, store);
    const done = this.queue.run(async () => {
      // The position goes first: a crash between the two leaves rows without one, which the next restore wipes again.
      await meta.write();
      await engine.clear(idPrefix(id), idPrefix(id + 1));
    });
    done.catch((error: unknown) => {
      this.wipeFailure = asError(error);
      this.options.logger.error({ task: this.options.taskId, store: store.name, err: error }, 'wiping the store failed');
    });
  }

  /** The store's position is current now. */
  private noteMeta(batch: EngineBatch, store: TaskStore): void {
    store.notedAt = this.now();
    this.putMeta(batch, store);
  }

  private putMeta(batch: EngineBatch, store: TaskStore): void {
    if (store.state.engine !== null) putStoreMeta(batch, store.name, store.meta());
  }

  private taskStore(name: string): TaskStore {
    const store = this.stores.get(name);
    if (store === undefined) {
      throw new MillraceError('MILL_TOPOLOGY_UNKNOWN_STORE', `Task ${this.options.taskId} has no store ${name}`, {
        details: { store: name },
      });
    }
    return store;
  }
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
