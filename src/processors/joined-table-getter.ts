/** Rows of a join of two tables that has no store: both sides are looked up and joined again. Never versioned, also when both sides are (KIP-914). */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { ValueAndTimestamp } from '../stores/store.js';
import type { OperatorContext } from './operator.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';
import type { TableJoinKind } from './table-table-join.js';
import type { Awaitable, RowJoiner } from './user-functions.js';

export interface JoinedGetterOptions<K, V, VO, R> {
  readonly left: TableGetterSupplier<K, V>;
  readonly right: TableGetterSupplier<K, VO>;
  readonly joiner: RowJoiner<K, V, VO, R>;
  readonly kind: TableJoinKind;
}

export function joinedGetter<K, V, VO, R>(options: JoinedGetterOptions<K, V, VO, R>): TableGetterSupplier<K, R> {
  const { left, right, joiner, kind } = options;
  return {
    stores: [...new Set([...left.stores, ...right.stores])],
    open: (context: OperatorContext) => new JoinedGetter(left.open(context), right.open(context), joiner, kind),
  };
}

type Row<V> = ValueAndTimestamp<V> | null;

class JoinedGetter<K, V, VO, R> implements TableGetter<K, R> {
  readonly versioned = false;

  constructor(
    private readonly left: TableGetter<K, V>,
    private readonly right: TableGetter<K, VO>,
    private readonly joiner: RowJoiner<K, V, VO, R>,
    private readonly kind: TableJoinKind,
  ) {}

  getValue(key: K): Awaitable<R | null> {
    const row = this.get(key);
    return isPromiseLike(row) ? valueLater(row) : (row?.value ?? null);
  }

  get(key: K): Awaitable<Row<R>> {
    const left = this.left.get(key);
    if (isPromiseLike(left)) return this.getLater(left, key);
    return this.withLeft(left, key);
  }

  getAsOf(key: K): Awaitable<Row<R>> {
    return this.get(key);
  }

  private withLeft(left: Row<V>, key: K): Awaitable<Row<R>> {
    if (left === null && this.kind !== 'outer') return null;
    const right = this.right.get(key);
    if (isPromiseLike(right)) return this.joinLater(left, right, key);
    return this.join(left, right, key);
  }

  private join(left: Row<V>, right: Row<VO>, key: K): Awaitable<Row<R>> {
    if (right === null && (left === null || this.kind === 'inner')) return null;
    const value = this.joiner(left === null ? null : left.value, right === null ? null : right.value, key);
    const timestamp = Math.max(left === null ? -1 : left.timestamp, right === null ? -1 : right.timestamp);
    return isPromiseLike(value) ? rowLater(value, timestamp) : rowOf(value, timestamp);
  }

  private async getLater(left: PromiseLike<Row<V>>, key: K): Promise<Row<R>> {
    return this.withLeft(await left, key);
  }

  private async joinLater(left: Row<V>, right: PromiseLike<Row<VO>>, key: K): Promise<Row<R>> {
    return this.join(left, await right, key);
  }
}

async function valueLater<R>(row: PromiseLike<Row<R>>): Promise<R | null> {
  return (await row)?.value ?? null;
}

function rowOf<R>(value: R | null, timestamp: number): Row<R> {
  return value === null || value === undefined ? null : { value, timestamp };
}

async function rowLater<R>(value: PromiseLike<R | null>, timestamp: number): Promise<Row<R>> {
  return rowOf(await value, timestamp);
}
