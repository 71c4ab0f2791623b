/**
 * Base of the aggregations of a stream by key and sliding window (KStreamSlidingWindowAggregate).
 *
 * A record at `t` makes the window that ends at it, `[t-d, t]`, and, when later records lie near enough, the one that begins after it, `[t+1, t+1+d]`; and it
 * takes part in every other window that holds `t`. A window is made from the rows at hand, not from the records: the window that begins after a record
 * has the same records as an older row near it. Records with `t < d` share the window `[0, d]`. A window takes records until stream time has passed its
 * end by more than the grace; a record is dropped and counted for each window that has closed. A row's timestamp is the highest of its records, and
 * the rules lean on it. Records without a key or value are dropped and counted.
 *
 * First all rows of a record are read and the steps are planned, then they are carried out in order: so a user function may be awaited between any two.
 * Under `onWindowClose` each window leaves exactly once, by start and key, before the record that closed it is handled.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { Serde } from '../serdes/serde.js';
import type { SlidingWindowRow, SlidingWindowStore } from '../stores/store.js';
import type { SlidingWindows } from '../time/sliding-windows.js';
import { Windowed } from '../time/windowed.js';
import { slidingWindowStore } from './connected-store.js';
import { resolveEmit, tellsThroughStore, type WindowEmit } from './emit.js';
import { LateRecords, type LateTarget } from './late-records.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext } from './operator.js';
import { OwnValues } from './own-value.js';
import { planSlidingSteps, type SlidingStep } from './sliding-steps.js';
import type { Awaitable } from './user-functions.js';

export interface SlidingAggregationOptions {
  readonly storeName: string;
  readonly windows: SlidingWindows;
  readonly emit: WindowEmit;
  /** Default: late records are dropped. */
  readonly late?: LateTarget;
  /** Of the rows. Default: the app's. */
  readonly valueSerde?: Serde<unknown> | null;
}

export abstract class SlidingAggregation<K, V, A> extends NodeOperator<K, V> {
  private readonly storeName: string;
  private readonly windows: SlidingWindows;
  private readonly configuredEmit: WindowEmit;
  declare private store: SlidingWindowStore<K, A>;
  declare private late: LateRecords;
  declare private own: OwnValues<A>;
  private readonly lateTarget: LateTarget;
  private readonly valueSerde: Serde<unknown> | null;
  private emit: NonNullable<WindowEmit> = 'onUpdate';
  /** Each write is compared with what was there (`emitOnChange`). */
  private compares = false;
  /** Highest timestamp seen, -1 before the first. */
  private streamTime = -1;

  constructor(options: SlidingAggregationOptions) {
    super();
    this.storeName = options.storeName;
    this.windows = options.windows;
    this.configuredEmit = options.emit;
    this.lateTarget = options.late ?? null;
    this.valueSerde = options.valueSerde ?? null;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = slidingWindowStore(context, this.storeName);
    this.late = new LateRecords(context, this.lateTarget);
    this.own = new OwnValues(context, this.valueSerde);
    this.emit = resolveEmit(this.configuredEmit, context);
    this.compares = tellsThroughStore(this.emit, this.store);
    this.streamTime = this.store.observedTime();
    if (this.emit === 'onWindowClose') this.store.skipClosed?.(this.lastClosedStart());
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    if (timestamp > this.streamTime) {
      this.streamTime = timestamp;
      if (this.emit === 'onWindowClose' && this.lastClosedStart() >= 0) {
        const draining = this.store.drainClosed(this.lastClosedStart(), this.forwardClosed);
        if (draining !== undefined) return this.updateAfter(draining, key, value, timestamp);
      }
    }
    return this.update(key, value, timestamp);
  }

  flush(): MaybeAsync {
    if (this.emit === 'onCommit' || this.compares) return this.store.drainChanges(this.forwardChange);
  }

  /** The windows that are still open, as they are now. */
  async onEndOfInput(): Promise<void> {
    if (this.emit !== 'onWindowClose' || this.streamTime < 0) return;
    const rows = this.store.fetchAll(Math.max(0, this.lastClosedStart() + 1), this.streamTime + 1);
    for await (const [key, row] of rows) await this.forwardClosed(key, row);
  }

  /** The row after the record; `before === null` when the window has no other record. */
  protected abstract next(before: A | null, value: V, key: K): Awaitable<A | null>;

  private lastClosedStart(): number {
    return this.streamTime - this.windows.grace - this.windows.timeDifference - 1;
  }

  private async updateAfter(pending: Promise<void>, key: K, value: V, timestamp: number): Promise<void> {
    await pending;
    await this.update(key, value, timestamp);
  }

  private update(key: K, value: V, timestamp: number): MaybeAsync {
    const { timeDifference, grace } = this.windows;
    if (timestamp + timeDifference < this.streamTime - grace) return this.late.take(key, value, timestamp);
    const rows = this.store.rows(key, Math.max(0, timestamp - 2 * timeDifference), timestamp + 1);
    const steps = planSlidingSteps(rows, timestamp, timeDifference);
    if (this.late.areSent && steps.every((step) => !step.addsRecord || this.isClosed(step))) return this.late.take(key, value, timestamp);
    const owned = this.owned(steps, 0);
    if (isPromiseLike(owned)) return Promise.resolve(owned).then((later) => this.carryOut(later, 0, key, value, timestamp));
    return this.carryOut(owned, 0, key, value, timestamp);
  }

  /** New rows that begin as another row is get its value as it is before this record, and share no object with it. */
  private owned(steps: SlidingStep<A>[], from: number): Awaitable<SlidingStep<A>[]> {
    for (let i = from; i < steps.length; i++) {
      const step = steps[i] as SlidingStep<A>;
      if (!step.isNew || step.aggregate === null) continue;
      const aggregate = this.own.copy(step.aggregate);
      if (isPromiseLike(aggregate)) {
        return aggregate.then((later) => {
          steps[i] = { ...step, aggregate: later };
          return this.owned(steps, i + 1);
        });
      }
      if (aggregate !== step.aggregate) steps[i] = { ...step, aggregate };
    }
    return steps;
  }

  private carryOut(steps: readonly SlidingStep<A>[], from: number, key: K, value: V, timestamp: number): MaybeAsync {
    for (let i = from; i < steps.length; i++) {
      const pending = this.step(steps[i] as SlidingStep<A>, key, value, timestamp);
      if (pending !== undefined) return this.carryOutAfter(pending, steps, i + 1, key, value, timestamp);
    }
  }

  private async carryOutAfter(
    pending: Promise<void>,
    steps: readonly SlidingStep<A>[],
    from: number,
    key: K,
    value: V,
    timestamp: number,
  ): Promise<void> {
    await pending;
    await this.carryOut(steps, from, key, value, timestamp);
  }

  private step(step: SlidingStep<A>, key: K, value: V, timestamp: number): MaybeAsync {
    if (!step.addsRecord) return this.write(key, step.start, step.aggregate, null, step.timestamp);
    if (this.isClosed(step)) {
      this.context.dropped('late');
      return;
    }
    const next = this.next(step.aggregate, value, key);
    const after = step.aggregate === null ? this.own.first(next, value) : next;
    const newTimestamp = step.aggregate !== null && step.timestamp > timestamp ? step.timestamp : timestamp;
    // A record may make one window twice: as the one after the record before it, and as the one that ends with it.
    const before = step.isNew ? (this.store.fetch(key, step.start)?.value ?? null) : step.aggregate;
    if (isPromiseLike(after)) return this.writeLater(after, key, step.start, before, newTimestamp);
    return this.write(key, step.start, after ?? null, before, newTimestamp);
  }

  private isClosed(step: SlidingStep<A>): boolean {
    return step.start + this.windows.timeDifference < this.streamTime - this.windows.grace;
  }

  private async writeLater(pending: PromiseLike<A | null>, key: K, start: number, before: A | null, timestamp: number): Promise<void> {
    await this.write(key, start, (await pending) ?? null, before, timestamp);
  }

  private write(key: K, start: number, after: A | null, before: A | null, timestamp: number): MaybeAsync {
    this.store.put(key, start, after, timestamp);
    if (this.compares) return this.store.drainChanges(this.forwardChange);
    if (this.emit === 'onUpdate') return this.downstream.process(this.windowed(key, start), new Change(after, before), timestamp);
  }

  private windowed(key: K, start: number): Windowed<K> {
    return new Windowed(key, { start, end: start + this.windows.timeDifference });
  }

  private readonly forwardChange = (change: {
    readonly key: K;
    readonly windowStart: number;
    readonly value: A | null;
    readonly timestamp: number;
    readonly before: A | null;
  }): MaybeAsync => {
    // Came and went within the epoch: nobody downstream ever saw it.
    if (change.value === null && change.before === null) return;
    const key = this.windowed(change.key, change.windowStart);
    return this.downstream.process(key, new Change(change.value, change.before), change.timestamp);
  };

  private readonly forwardClosed = (key: K, row: SlidingWindowRow<A>): MaybeAsync =>
    this.downstream.process(this.windowed(key, row.windowStart), new Change(row.value, null), row.timestamp);
}
