/**
 * How one operator looks up rows of a table that another operator makes: Kafka Streams' value getters.
 *
 * A table with a store is read from the store. One without is computed from the tables that it is made of (a filtered table looks into its parent and
 * filters), so that joining it costs no second copy. Table operators supply their getter to the DSL, which hands it to whoever joins; `open` is called in
 * the `init` of the operator that looks up, for each task.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { TimestampedKeyValueStore, ValueAndTimestamp, VersionedKeyValueStore } from '../stores/store.js';
import { MillraceError } from '../errors.js';
import type { OperatorContext } from './operator.js';
import { windowedStoreGetter } from './windowed-table-getter.js';
import type { Awaitable } from './user-functions.js';

export interface TableGetter<K, V> {
  /** Whether `getAsOf` knows the past. */
  readonly versioned: boolean;
  /** The value as it is now; null when there is no row. A promise only when a user function on the way returned one. */
  getValue(key: K): Awaitable<V | null>;
  /** The row as it is now; null when there is none. */
  get(key: K): Awaitable<ValueAndTimestamp<V> | null>;
  /** The row as it was at `asOf`, for versioned tables; as `get` for others. */
  getAsOf(key: K, asOf: number): Awaitable<ValueAndTimestamp<V> | null>;
}

export interface TableGetterSupplier<K, V> {
  /** Stores that the operator that looks up must be connected to. */
  readonly stores: readonly string[];
  open(context: OperatorContext): TableGetter<K, V>;
}

/** Reads the store of that name: of rows by key, versioned or not, or of windows or sessions, whose keys are `Windowed`. */
export function storeGetter<K, V>(storeName: string): TableGetterSupplier<K, V> {
  return { stores: [storeName], open: (context) => openStore(context, storeName) };
}

/** A table computed row by row from another one. `map` answers null for rows that the table does not have; it must not keep the row it gets. */
export function mappedGetter<K, V, R>(
  parent: TableGetterSupplier<K, V>,
  map: (value: V, key: K, context: OperatorContext) => Awaitable<R | null>,
): TableGetterSupplier<K, R> {
  return { stores: parent.stores, open: (context) => new MappedGetter(parent.open(context), map, context) };
}

function openStore<K, V>(context: OperatorContext, name: string): TableGetter<K, V> {
  const store = context.store(name);
  const windowed = windowedStoreGetter<K, V>(store);
  if (windowed !== null) return windowed;
  if (store.kind === 'timestampedKeyValue') return new TimestampedStoreGetter(store as TimestampedKeyValueStore<K, V>);
  if (store.kind === 'versioned') return new VersionedStoreGetter(store as VersionedKeyValueStore<K, V>);
  throw new MillraceError(
    'MILL_STORE_WRONG_TYPE',
    `Store ${name} is of kind ${store.kind}; ${context.nodeName} looks up rows of a table.`,
    {
      details: { store: name, node: context.nodeName, kind: store.kind },
    },
  );
}

class TimestampedStoreGetter<K, V> implements TableGetter<K, V> {
  readonly versioned = false;

  constructor(private readonly store: TimestampedKeyValueStore<K, V>) {}

  getValue(key: K): V | null {
    return this.store.get(key);
  }

  get(key: K): ValueAndTimestamp<V> | null {
    return this.store.getWithTimestamp(key);
  }

  getAsOf(key: K): ValueAndTimestamp<V> | null {
    return this.store.getWithTimestamp(key);
  }
}

class VersionedStoreGetter<K, V> implements TableGetter<K, V> {
  readonly versioned = true;

  constructor(private readonly store: VersionedKeyValueStore<K, V>) {}

  getValue(key: K): V | null {
    return this.store.get(key)?.value ?? null;
  }

  get(key: K): ValueAndTimestamp<V> | null {
    return this.store.get(key);
  }

  getAsOf(key: K, asOf: number): ValueAndTimestamp<V> | null {
    return this.store.getAsOf(key, asOf);
  }
}

class MappedGetter<K, V, R> implements TableGetter<K, R> {
  readonly versioned: boolean;

  constructor(
    private readonly parent: TableGetter<K, V>,
    private readonly map: (value: V, key: K, context: OperatorContext) => Awaitable<R | null>,
    private readonly context: OperatorContext,
  ) {
    this.versioned = parent.versioned;
  }

  getValue(key: K): Awaitable<R | null> {
    const value = this.parent.getValue(key);
    if (isPromiseLike(value)) return this.mapValueLater(value, key);
    return value === null ? null : this.map(value, key, this.context);
  }

  get(key: K): Awaitable<ValueAndTimestamp<R> | null> {
    const row = this.parent.get(key);
    return isPromiseLike(row) ? this.mapLater(row, key) : this.mapRow(row, key);
  }

  getAsOf(key: K, asOf: number): Awaitable<ValueAndTimestamp<R> | null> {
    const row = this.parent.getAsOf(key, asOf);
    return isPromiseLike(row) ? this.mapLater(row, key) : this.mapRow(row, key);
  }

  private mapRow(row: ValueAndTimestamp<V> | null, key: K): Awaitable<ValueAndTimestamp<R> | null> {
    if (row === null) return null;
    const value = this.map(row.value, key, this.context);
    return isPromiseLike(value) ? rowLater(value, row.timestamp) : rowOf(value, row.timestamp);
  }

  private async mapValueLater(pending: PromiseLike<V | null>, key: K): Promise<R | null> {
    const value = await pending;
    return value === null ? null : this.map(value, key, this.context);
  }

  private async mapLater(row: PromiseLike<ValueAndTimestamp<V> | null>, key: K): Promise<ValueAndTimestamp<R> | null> {
    return this.mapRow(await row, key);
  }
}

function rowOf<R>(value: R | null, timestamp: number): ValueAndTimestamp<R> | null {
  return value === null || value === undefined ? null : { value, timestamp };
}

async function rowLater<R>(value: PromiseLike<R | null>, timestamp: number): Promise<ValueAndTimestamp<R> | null> {
  return rowOf(await value, timestamp);
}
