/**
 * Base of the operators that write a key-value table and tell their children what changed in it.
 *
 * Invariant: each written row reaches the children as exactly one Change under `onUpdate`, and as at most one an epoch under `onCommit`
 * (its value at the last barrier and now), also when the write came after a promise.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { StoreChange, StoreEntry, TimestampedKeyValueStore } from '../stores/store.js';
import { keyValueStore } from './connected-store.js';
import { resolveEmit, type TableEmit } from './emit.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext } from './operator.js';

export abstract class TableOperator<K, V, T> extends NodeOperator<K, V> {
  declare protected store: TimestampedKeyValueStore<K, T>;
  private onCommit = false;

  constructor(
    private readonly storeName: string,
    private readonly emit: TableEmit,
  ) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = keyValueStore(context, this.storeName);
    this.onCommit = resolveEmit(this.emit, context) === 'onCommit';
  }

  flush(): MaybeAsync {
    if (this.onCommit) return this.store.drainChanges(this.forwardChange);
  }

  /** Writes the row just located and forwards the change, unless that waits for the barrier. */
  protected update(entry: StoreEntry<K, T>, key: K, value: T | null, before: T | null, timestamp: number): MaybeAsync {
    this.store.write(entry, value, timestamp);
    if (this.onCommit) return;
    return this.downstream.process(key, new Change(value, before), timestamp);
  }

  private readonly forwardChange = (change: StoreChange<K, T>): MaybeAsync => {
    // Came and went within the epoch: nobody downstream ever saw it.
    if (change.value === null && change.before === null) return;
    return this.downstream.process(change.key, new Change(change.value, change.before), change.timestamp);
  };
}
