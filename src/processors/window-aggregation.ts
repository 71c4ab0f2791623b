/**
 * Base of the aggregations of a stream by key and window, tumbling or hopping (KStreamWindowAggregate).
 *
 * A window takes records until stream time reaches its end plus grace; then it is closed for good and each record for it is
 * dropped and counted. Stream time is the highest timestamp that this operator has seen, kept across restarts with the store, so that a crash
 * never opens a window again. A row's timestamp is the highest of the records in it. Records without a key are dropped and counted; a
 * null value is passed to the aggregator, as Kafka Streams does for windows.
 *
 * Under `onWindowClose` a closed window leaves exactly once, in order of start and key, *before* the record that closed it is written: so no row can
 * expire before it was sent, however far time jumps. (Kafka Streams loses such windows.)
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreChange, TimestampedWindowStore, WindowEntry } from '../stores/store.js';
import type { TimeWindows } from '../time/time-windows.js';
import { Windowed } from '../time/windowed.js';
import { windowStore } from './connected-store.js';
import { resolveEmit, tellsThroughStore, type WindowEmit } from './emit.js';
import { LateRecords, type LateTarget } from './late-records.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext } from './operator.js';
import { OwnValues } from './own-value.js';
import { recordsIn } from './two-stage/part.js';
import type { Awaitable } from './user-functions.js';

export interface WindowAggregationOptions {
  readonly storeName: string;
  readonly windows: TimeWindows;
  readonly emit: WindowEmit;
  /** Default: late records are dropped. */
  readonly late?: LateTarget;
  /** Of the rows. Default: the app's. */
  readonly valueSerde?: Serde<unknown> | null;
}

export abstract class WindowAggregation<K, V, A> extends NodeOperator<K, V> {
  private readonly storeName: string;
  private readonly windows: TimeWindows;
  private readonly configuredEmit: WindowEmit;
  declare private store: TimestampedWindowStore<K, A>;
  declare private late: LateRecords;
  declare private own: OwnValues<A>;
  private readonly lateTarget: LateTarget;
  private readonly valueSerde: Serde<unknown> | null;
  private emit: NonNullable<WindowEmit> = 'onUpdate';
  /** Each write is compared with what was there (`emitOnChange`). */
  private compares = false;
  /** Highest timestamp seen, -1 before the first. */
  private streamTime = -1;
  /** Start of the first window that has not been sent as closed. */
  private nextClosingStart = 0;

  constructor(options: WindowAggregationOptions) {
    super();
    this.storeName = options.storeName;
    this.windows = options.windows;
    this.configuredEmit = options.emit;
    this.lateTarget = options.late ?? null;
    this.valueSerde = options.valueSerde ?? null;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = windowStore(context, this.storeName);
    this.late = new LateRecords(context, this.lateTarget);
    this.own = new OwnValues(context, this.valueSerde);
    this.emit = resolveEmit(this.configuredEmit, context);
    this.compares = tellsThroughStore(this.emit, this.store);
    const observed = this.store.observedTime?.();
    this.streamTime = observed ?? context.streamTime();
    if (observed === undefined || this.emit !== 'onWindowClose') return;
    this.nextClosingStart = this.firstOpenStart(observed);
    this.store.skipClosed(this.nextClosingStart - this.windows.advance);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (timestamp > this.streamTime) {
      this.streamTime = timestamp;
      if (this.emit === 'onWindowClose') {
        const draining = this.emitClosed();
        if (draining !== undefined) return this.updateAfter(draining, this.windows.firstStart(timestamp), key, value, timestamp);
      }
    }
    return this.updateFrom(this.windows.firstStart(timestamp), key, value, timestamp);
  }

  flush(): MaybeAsync {
    if (this.emit === 'onCommit' || this.compares) return this.store.drainChanges(this.forwardChange);
  }

  /** The windows that are still open, as they are now. */
  async onEndOfInput(): Promise<void> {
    if (this.emit !== 'onWindowClose' || this.streamTime < 0) return;
    for await (const [key, start, { value, timestamp }] of this.store.fetchAll(this.nextClosingStart, this.streamTime)) {
      await this.downstream.process(this.windowed(key, start), new Change(value, null), timestamp);
    }
  }

  /** The row after the record; `before === null` when the window has none of this key yet. */
  protected abstract next(before: A | null, value: V, key: K): Awaitable<A | null>;

  private emitClosed(): MaybeAsync {
    const firstOpen = this.firstOpenStart(this.streamTime);
    if (firstOpen <= this.nextClosingStart) return;
    this.nextClosingStart = firstOpen;
    return this.store.drainClosed(firstOpen - this.windows.advance, this.forwardClosed);
  }

  /** Start of the first window that is not closed at that stream time. */
  private firstOpenStart(streamTime: number): number {
    const { size, advance, grace } = this.windows;
    const lastClosed = streamTime - grace - size;
    return lastClosed < 0 ? 0 : lastClosed - (lastClosed % advance) + advance;
  }

  private updateFrom(firstStart: number, key: K, value: V, timestamp: number): MaybeAsync {
    const { size, advance, grace } = this.windows;
    const closedUpTo = this.streamTime - grace;
    for (let start = firstStart; start <= timestamp; start += advance) {
      if (start + size <= closedUpTo) {
        // Windows close in order of start: if its last one is closed, the record is late for all of them.
        if (this.late.areSent && timestamp - (timestamp % advance) + size <= closedUpTo) return this.late.take(key, value, timestamp);
        this.context.dropped('late', recordsIn(value));
        continue;
      }
      const pending = this.updateWindow(start, key, value, timestamp);
      if (pending !== undefined) return this.updateAfter(pending, start + advance, key, value, timestamp);
    }
  }

  private async updateAfter(pending: Promise<void>, nextStart: number, key: K, value: V, timestamp: number): Promise<void> {
    await pending;
    await this.updateFrom(nextStart, key, value, timestamp);
  }

  private updateWindow(start: number, key: K, value: V, timestamp: number): MaybeAsync {
    const entry = this.store.locate(key, start);
    const before = entry.value;
    const newTimestamp = before !== null && entry.timestamp > timestamp ? entry.timestamp : timestamp;
    const next = this.next(before, value, key);
    const after = before === null ? this.own.first(next, value) : next;
    if (isPromiseLike(after)) return this.writeLater(after, start, key, before, newTimestamp);
    return this.write(entry, start, key, after, before, newTimestamp);
  }

  private async writeLater(pending: PromiseLike<A | null>, start: number, key: K, before: A | null, timestamp: number): Promise<void> {
    const after = await pending;
    await this.write(this.store.locate(key, start), start, key, after, before, timestamp);
  }

  private write(entry: WindowEntry<K, A>, start: number, key: K, after: A | null, before: A | null, timestamp: number): MaybeAsync {
    this.store.write(entry, after, timestamp);
    if (this.compares) return this.store.drainChanges(this.forwardChange);
    if (this.emit === 'onUpdate') return this.downstream.process(this.windowed(key, start), new Change(after, before), timestamp);
  }

  private windowed(key: K, start: number): Windowed<K> {
    return new Windowed(key, { start, end: start + this.windows.size });
  }

  private readonly forwardChange = (change: StoreChange<K, A> & { readonly windowStart: number }): MaybeAsync => {
    // Came and went within the epoch: nobody downstream ever saw it.
    if (change.value === null && change.before === null) return;
    return this.downstream.process(
      this.windowed(change.key, change.windowStart),
      new Change(change.value, change.before),
      change.timestamp,
    );
  };

  private readonly forwardClosed = (row: WindowEntry<K, A>): MaybeAsync =>
    this.downstream.process(this.windowed(row.key, row.windowStart), new Change(row.value, null), row.timestamp);
}
