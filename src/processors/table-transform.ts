/**
 * Base of the operators that compute one table out of another, row by row: filter, mapValues and transformValues (KTableFilter, KTableMapValues,
 * KTableTransformValues).
 *
 * The result has a store of its own only when it was given a name. `sendOldValues` follows from what is known upstream and wanted downstream; it is
 * asked for when a task is made, since an operator declared later may want old values. Invariant: with old values, the `oldValue` of each change is
 * the row that this table had, computed from the parent's old value or read from the own store.
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { StoreChange, TimestampedKeyValueStore } from '../stores/store.js';
import { keyValueStore, versionedRows } from './connected-store.js';
import { tellsThroughStore } from './emit.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext } from './operator.js';
import type { TableRows, VersionedRows } from './versioned-rows.js';
import type { Awaitable } from './user-functions.js';

export interface TableTransformOptions {
  /** null: the result is not kept. */
  readonly storeName: string | null;
  readonly sendOldValues: () => boolean;
}

export abstract class TableTransform<K, V, R> extends NodeOperator<K, Change<V>> {
  private readonly storeName: string | null;
  protected readonly sendOldValues: boolean;
  private store: TableRows<K, R> | null = null;
  /** Not null: the store, when it keeps versions. */
  private versions: VersionedRows<K, R> | null = null;
  /** Not null: the store, when it compares each write with what was there (`emitOnChange`). */
  private comparing: TimestampedKeyValueStore<K, R> | null = null;

  constructor(options: TableTransformOptions) {
    super();
    this.storeName = options.storeName;
    this.sendOldValues = options.sendOldValues();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    if (this.storeName === null) return;
    this.versions = versionedRows(context, this.storeName);
    if (this.versions !== null) {
      this.store = this.versions;
      return;
    }
    const rows = keyValueStore<K, R>(context, this.storeName);
    this.store = rows;
    if (tellsThroughStore('onUpdate', rows)) this.comparing = rows;
  }

  flush(): MaybeAsync {
    if (this.comparing !== null) return this.comparing.drainChanges(this.forwardChange);
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    this.meta.enter(timestamp);
    const after = this.compute(change.newValue, key);
    if (isPromiseLike(after)) return this.afterLater(after, key, change, timestamp);
    return this.withAfter(after, key, change, timestamp);
  }

  /** The row of this table for a row of the parent, null for one that is not there; null when there is none. */
  protected abstract compute(value: V | null, key: K): Awaitable<R | null>;

  /** Whether a change from nothing to nothing is left out. */
  protected abstract readonly skipsAbsent: boolean;

  private async afterLater(after: PromiseLike<R | null>, key: K, change: Change<V>, timestamp: number): Promise<void> {
    await this.withAfter(await after, key, change, timestamp);
  }

  /** The row before is computed after the new one, and not beside it: a function that keeps state is called once at a time. */
  private withAfter(after: R | null, key: K, { oldValue, isLatest }: Change<V>, timestamp: number): MaybeAsync {
    const before = this.store === null && this.sendOldValues ? this.compute(oldValue, key) : null;
    if (isPromiseLike(before)) return this.beforeLater(after, before, key, isLatest, timestamp);
    return this.forward(after, before, key, isLatest, timestamp);
  }

  private async beforeLater(after: R | null, before: PromiseLike<R | null>, key: K, isLatest: boolean, timestamp: number): Promise<void> {
    await this.forward(after, await before, key, isLatest, timestamp);
  }

  private forward(after: R | null, computedBefore: R | null, key: K, isLatest: boolean, timestamp: number): MaybeAsync {
    if (this.store === null) {
      if (this.skipsAbsent && after === null && computedBefore === null) return;
      return this.downstream.process(key, new Change(after, computedBefore, isLatest), timestamp);
    }
    const row = this.store.locate(key);
    const before = this.sendOldValues ? row.value : null;
    if (this.skipsAbsent && after === null && before === null) return;
    this.store.write(row, after, timestamp);
    if (this.comparing !== null) return this.comparing.drainChanges(this.forwardChange);
    if (this.versions === null) return this.downstream.process(key, new Change(after, before, isLatest), timestamp);
    if (this.versions.wasRejected) {
      this.context.dropped('expired');
      return;
    }
    return this.downstream.process(key, new Change(after, before, this.versions.isLatest), timestamp);
  }

  private readonly forwardChange = (change: StoreChange<K, R>): MaybeAsync =>
    this.downstream.process(change.key, new Change(change.value, change.before), change.timestamp);
}
