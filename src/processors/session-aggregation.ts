/**
 * Base of the aggregations of a stream by key and session (KStreamSessionWindowAggregate).
 *
 * A record joins every session of its key that is at most `gap` away; those become one. The sessions it replaces are told as deleted before the merged
 * one is told, except that a session of one instant is updated in place. A session takes records until stream time has passed its end by more than
 * gap plus grace; later records are dropped and counted. Stream time is the highest timestamp that this operator has seen, kept across restarts with
 * the store. A result's timestamp is the session's end. Records without a key are dropped and counted; a null value is passed to the aggregator.
 *
 * Under `onWindowClose` each session leaves exactly once, by end, before the record that closed it is handled: no session can expire before it was sent.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { Serde } from '../serdes/serde.js';
import type { SessionRow, SessionStore } from '../stores/store.js';
import type { SessionWindows } from '../time/session-windows.js';
import { Windowed } from '../time/windowed.js';
import { sessionStore } from './connected-store.js';
import { resolveEmit, tellsThroughStore, type WindowEmit } from './emit.js';
import { LateRecords, type LateTarget } from './late-records.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext } from './operator.js';
import { OwnValues } from './own-value.js';
import type { Awaitable } from './user-functions.js';

export interface SessionAggregationOptions {
  readonly storeName: string;
  readonly windows: SessionWindows;
  readonly emit: WindowEmit;
  /** Default: late records are dropped. */
  readonly late?: LateTarget;
  /** Of the rows. Default: the app's. */
  readonly valueSerde?: Serde<unknown> | null;
}

export abstract class SessionAggregation<K, V, A> extends NodeOperator<K, V> {
  private readonly storeName: string;
  private readonly windows: SessionWindows;
  private readonly configuredEmit: WindowEmit;
  declare private store: SessionStore<K, A>;
  declare private late: LateRecords;
  declare private own: OwnValues<A>;
  private readonly lateTarget: LateTarget;
  private readonly valueSerde: Serde<unknown> | null;
  private emit: NonNullable<WindowEmit> = 'onUpdate';
  /** Each write is compared with what was there (`emitOnChange`). */
  private compares = false;
  /** Highest timestamp seen, -1 before the first. */
  private streamTime = -1;

  constructor(options: SessionAggregationOptions) {
    super();
    this.storeName = options.storeName;
    this.windows = options.windows;
    this.configuredEmit = options.emit;
    this.lateTarget = options.late ?? null;
    this.valueSerde = options.valueSerde ?? null;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = sessionStore(context, this.storeName);
    this.late = new LateRecords(context, this.lateTarget);
    this.own = new OwnValues(context, this.valueSerde);
    this.emit = resolveEmit(this.configuredEmit, context);
    this.compares = tellsThroughStore(this.emit, this.store);
    this.streamTime = this.store.observedTime();
    if (this.emit === 'onWindowClose') this.store.skipClosed?.(this.windows.closeTime(this.streamTime) - 1);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    // Sessions that end below it have expired, also when the store has not noticed (a deletion does not move its time on).
    const firstLive = this.streamTime - this.store.retention + 1;
    if (timestamp > this.streamTime) {
      this.streamTime = timestamp;
      const lastClosed = this.windows.closeTime(timestamp) - 1;
      if (this.emit === 'onWindowClose' && lastClosed >= 0) {
        const draining = this.store.drainClosed(lastClosed, this.forwardClosed);
        if (draining !== undefined) return this.updateAfter(draining, key, value, timestamp, firstLive);
      }
    }
    return this.update(key, value, timestamp, firstLive);
  }

  flush(): MaybeAsync {
    if (this.emit === 'onCommit' || this.compares) return this.store.drainChanges(this.forwardChange);
  }

  /** The sessions that are still open, as they are now. */
  async onEndOfInput(): Promise<void> {
    if (this.emit !== 'onWindowClose') return;
    const firstOpen = this.windows.closeTime(this.streamTime);
    for await (const [key, row] of this.store.fetchAll()) if (row.end >= firstOpen) await this.forwardClosed(key, row);
  }

  /** The aggregate of the sessions and the record; `sessions` is empty for the first record of a session. */
  protected abstract next(sessions: readonly SessionRow<A>[], value: V, key: K): Awaitable<A | null>;

  private async updateAfter(pending: Promise<void>, key: K, value: V, timestamp: number, firstLive: number): Promise<void> {
    await pending;
    await this.update(key, value, timestamp, firstLive);
  }

  private update(key: K, value: V, timestamp: number, firstLive: number): MaybeAsync {
    const { gap } = this.windows;
    const near = this.store.findSessions(key, Math.max(timestamp - gap, firstLive), timestamp + gap);
    let start = timestamp;
    let end = timestamp;
    for (let i = 0; i < near.length; i++) {
      const session = near[i] as SessionRow<A>;
      if (session.start < start) start = session.start;
      if (session.end > end) end = session.end;
    }
    if (end < this.windows.closeTime(this.streamTime)) return this.late.take(key, value, timestamp);
    const next = this.next(near, value, key);
    const after = near.length === 0 ? this.own.first(next, value) : next;
    if (isPromiseLike(after)) return this.writeLater(after, key, near, start, end);
    return this.write(key, near, start, end, after ?? null, 0);
  }

  private async writeLater(
    pending: PromiseLike<A | null>,
    key: K,
    near: readonly SessionRow<A>[],
    start: number,
    end: number,
  ): Promise<void> {
    await this.write(key, near, start, end, (await pending) ?? null, 0);
  }

  /** Deletes the sessions from the `at`-th on, then writes the merged one. */
  private write(key: K, near: readonly SessionRow<A>[], start: number, end: number, after: A | null, at: number): MaybeAsync {
    let before: A | null = null;
    // A session of one instant can only have met itself.
    if (start === end) before = near[0]?.value ?? null;
    else {
      for (let i = at; i < near.length; i++) {
        const session = near[i] as SessionRow<A>;
        this.store.put(key, session.start, session.end, null);
        // Compared at the end: a session that comes back with the same times and value did not change.
        if (this.compares) continue;
        const pending = this.tell(key, session.start, session.end, null, session.value);
        if (pending !== undefined) return this.writeAfter(pending, key, near, start, end, after, i + 1);
      }
    }
    this.store.put(key, start, end, after);
    return this.tell(key, start, end, after, before);
  }

  private async writeAfter(
    pending: Promise<void>,
    key: K,
    near: readonly SessionRow<A>[],
    start: number,
    end: number,
    after: A | null,
    at: number,
  ): Promise<void> {
    await pending;
    await this.write(key, near, start, end, after, at);
  }

  private tell(key: K, start: number, end: number, after: A | null, before: A | null): MaybeAsync {
    // A session that ends right where the retention does is not kept: nothing would be left to tell on commit.
    const isKept = end > this.streamTime - this.store.retention;
    if (this.compares && isKept) return this.store.drainChanges(this.forwardChange);
    if (this.emit === 'onUpdate' || (this.emit === 'onCommit' && !isKept))
      return this.downstream.process(new Windowed(key, { start, end }), new Change(after, before), end);
  }

  private readonly forwardChange = (change: {
    readonly key: K;
    readonly start: number;
    readonly end: number;
    readonly value: A | null;
    readonly before: A | null;
  }): MaybeAsync => {
    // Came and went within the epoch: nobody downstream ever saw it.
    if (change.value === null && change.before === null) return;
    const key = new Windowed(change.key, { start: change.start, end: change.end });
    return this.downstream.process(key, new Change(change.value, change.before), change.end);
  };

  private readonly forwardClosed = (key: K, row: SessionRow<A>): MaybeAsync =>
    this.downstream.process(new Windowed(key, { start: row.start, end: row.end }), new Change(row.value, null), row.end);
}
