/**
 * Gives each row of a table the key of its group, on the way to a repartition topic (KTableRepartitionMap).
 *
 * A change of a row is told to its groups as values to subtract and to add. When the row stays in its group, both go out as one change, so that the
 * group never shows the state in between (KIP-904); when it moves, the old group is told first. A mapper that answers null, or a null key or value,
 * leaves the row out of all groups. Out-of-order changes of a versioned table are left out.
 */
import { isDeepStrictEqual } from 'node:util';
import { kindOf } from './carried-value.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorSupplier } from './operator.js';
import type { Awaitable, TableGrouper } from './user-functions.js';

export interface TableRegroupOptions<K, V, KR, VR> {
  readonly mapper: TableGrouper<K, V, KR, VR>;
  /** Whether the parent is a versioned table. */
  readonly versioned: boolean;
}

type Pair<KR, VR> = readonly [KR, VR] | null;

export function tableRegroupOperator<K, V, KR, VR>(options: TableRegroupOptions<K, V, KR, VR>): OperatorSupplier {
  return () => new TableRegroupOperator(options);
}

class TableRegroupOperator<K, V, KR, VR> extends NodeOperator<K, Change<V>> {
  private readonly mapper: TableGrouper<K, V, KR, VR>;
  private readonly versioned: boolean;

  constructor(options: TableRegroupOptions<K, V, KR, VR>) {
    super();
    this.mapper = options.mapper;
    this.versioned = options.versioned;
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    if (this.versioned && !change.isLatest) return;
    this.meta.enter(timestamp);
    const { newValue, oldValue } = change;
    const added: Awaitable<Pair<KR, VR>> = newValue === null || newValue === undefined ? null : this.mapper(newValue, key, this.meta);
    const removed: Awaitable<Pair<KR, VR>> = oldValue === null || oldValue === undefined ? null : this.mapper(oldValue, key, this.meta);
    if (isPromiseLike(added) || isPromiseLike(removed)) return this.forwardLater(removed, added, timestamp);
    return this.forward(removed, added, timestamp);
  }

  private async forwardLater(removed: Awaitable<Pair<KR, VR>>, added: Awaitable<Pair<KR, VR>>, timestamp: number): Promise<void> {
    const [before, after] = await Promise.all([removed, added]);
    await this.forward(before, after, timestamp);
  }

  private forward(removed: Pair<KR, VR>, added: Pair<KR, VR>, timestamp: number): MaybeAsync {
    const subtracts = isWhole(removed);
    const adds = isWhole(added);
    if (subtracts && adds && sameKey(removed[0], added[0])) {
      return this.downstream.process(removed[0], new Change(added[1], removed[1]), timestamp);
    }
    if (subtracts) {
      const pending = this.downstream.process(removed[0], new Change<VR>(null, removed[1]), timestamp);
      if (pending !== undefined) return this.addAfter(pending, added, timestamp);
    }
    if (adds) return this.downstream.process(added[0], new Change<VR>(added[1], null), timestamp);
  }

  private async addAfter(pending: Promise<void>, added: Pair<KR, VR>, timestamp: number): Promise<void> {
    await pending;
    if (isWhole(added)) await this.downstream.process(added[0], new Change<VR>(added[1], null), timestamp);
  }
}

function isWhole<KR, VR>(pair: Pair<KR, VR>): pair is readonly [KR, VR] {
  if (pair !== null && !Array.isArray(pair))
    throw new TypeError(`groupBy: the mapper gave ${kindOf(pair)}: it must give an array of key and value, or null`);
  return pair !== null && !isAbsent(pair[0]) && !isAbsent(pair[1]);
}

function isAbsent(part: unknown): boolean {
  return part === null || part === undefined;
}

/** Should two equal keys be taken for different ones, the results are the same, in two steps. */
function sameKey(one: unknown, other: unknown): boolean {
  return one === other || (typeof one === 'object' && isDeepStrictEqual(one, other));
}
