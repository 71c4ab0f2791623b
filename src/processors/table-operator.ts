/**
 * Base of the operators that write a key-value table and tell their children what changed in it.
 *
 * Invariant: each written row reaches the children as exactly one Change under `onUpdate`, and as at most one an epoch under `onCommit`
 * (its value at the last barrier and now), also when the write came after a promise. With `emitOnChange` writes that change nothing reach nobody.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Serde } from '../serdes/serde.js';
import type { StoreChange, StoreEntry, TimestampedKeyValueStore } from '../stores/store.js';
import { keyValueStore, versionedRows } from './connected-store.js';
import { resolveEmit, tellsThroughStore, type TableEmit } from './emit.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext } from './operator.js';
import type { TableRows, VersionedRows } from './versioned-rows.js';

/** What an operator needs whose rows user functions make. */
export interface AggregationTable {
  readonly storeName: string;
  readonly emit: TableEmit;
  /** Of the rows. Default: the app's. */
  readonly valueSerde?: Serde<unknown> | null;
}

export abstract class TableOperator<K, V, T> extends NodeOperator<K, V> {
  declare protected store: TableRows<K, T>;
  /** Not null: the store, when it keeps versions. Those are told of at once, whatever `emit` says. */
  private versions: VersionedRows<K, T> | null = null;
  /** Not null: the store, when changes wait in it for the barrier. */
  private waiting: TimestampedKeyValueStore<K, T> | null = null;
  /** Not null: the store, when it compares each write with what was there. */
  private comparing: TimestampedKeyValueStore<K, T> | null = null;

  constructor(
    private readonly storeName: string,
    private readonly emit: TableEmit,
  ) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.versions = versionedRows(context, this.storeName);
    if (this.versions !== null) {
      this.store = this.versions;
      return;
    }
    const rows = keyValueStore<K, T>(context, this.storeName);
    this.store = rows;
    const emit = resolveEmit(this.emit, context);
    if (emit === 'onCommit') this.waiting = rows;
    else if (tellsThroughStore(emit, rows)) this.comparing = rows;
  }

  flush(): MaybeAsync {
    const store = this.waiting ?? this.comparing;
    if (store !== null) return store.drainChanges(this.forwardChange);
  }

  /** Writes the row just located and forwards the change, unless that waits for the barrier. */
  protected update(entry: StoreEntry<K, T>, key: K, value: T | null, before: T | null, timestamp: number): MaybeAsync {
    this.store.write(entry, value, timestamp);
    if (this.waiting !== null) return;
    if (this.comparing !== null) return this.comparing.drainChanges(this.forwardChange);
    const { versions } = this;
    if (versions === null) return this.downstream.process(key, new Change(value, before), timestamp);
    if (versions.wasRejected) {
      this.context.dropped('expired');
      return;
    }
    return this.downstream.process(key, new Change(value, before, versions.isLatest), timestamp);
  }

  private readonly forwardChange = (change: StoreChange<K, T>): MaybeAsync => {
    // Came and went within the epoch: nobody downstream ever saw it.
    if (change.value === null && change.before === null) return;
    return this.downstream.process(change.key, new Change(change.value, change.before), change.timestamp);
  };
}
