/**
 * One side of a join of two tables by key: looks up what changed on this side in the other table (KTableKTable…Join).
 *
 * The two sides of a join share a rule, told as two questions about the other side's rows and this side's (see `sideRules`). A result's timestamp is the
 * later one of its rows. Changes of a versioned table that are not the latest leave the result as it is: they are dropped and counted (KIP-914).
 */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import type { ValueAndTimestamp } from '../stores/store.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext, type OperatorSupplier } from './operator.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';
import type { Awaitable, RowJoiner } from './user-functions.js';

export type TableJoinKind = 'inner' | 'left' | 'outer';

export interface JoinSideRule {
  /** No result without a row on the other side. */
  readonly needsOther: boolean;
  /** A row on the other side is a result also without one on this side. */
  readonly otherSuffices: boolean;
}

/** The rules of both sides: `left` for changes of the left table, `right` for those of the right one. */
export const sideRules: Readonly<Record<TableJoinKind, { readonly left: JoinSideRule; readonly right: JoinSideRule }>> = {
  inner: { left: { needsOther: true, otherSuffices: false }, right: { needsOther: true, otherSuffices: false } },
  left: { left: { needsOther: false, otherSuffices: false }, right: { needsOther: true, otherSuffices: true } },
  outer: { left: { needsOther: false, otherSuffices: true }, right: { needsOther: false, otherSuffices: true } },
};

export interface TableTableJoinSideOptions<K, V, VO, R> {
  readonly other: TableGetterSupplier<K, VO>;
  /** Gets this side's value first. */
  readonly joiner: RowJoiner<K, V, VO, R>;
  readonly rule: JoinSideRule;
  /** Whether this side's table is versioned. */
  readonly versioned: boolean;
  readonly sendOldValues: boolean;
}

export function tableTableJoinSideOperator<K, V, VO, R>(options: TableTableJoinSideOptions<K, V, VO, R>): OperatorSupplier {
  return () => new TableTableJoinSide(options);
}

class TableTableJoinSide<K, V, VO, R> extends NodeOperator<K, Change<V>> {
  private readonly joiner: RowJoiner<K, V, VO, R>;
  private readonly rule: JoinSideRule;
  private readonly versioned: boolean;
  private readonly sendOldValues: boolean;
  declare private other: TableGetter<K, VO>;

  constructor(private readonly options: TableTableJoinSideOptions<K, V, VO, R>) {
    super();
    this.joiner = options.joiner;
    this.rule = options.rule;
    this.versioned = options.versioned;
    this.sendOldValues = options.sendOldValues;
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.other = this.options.other.open(context);
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (this.versioned && !change.isLatest) {
      this.context.dropped('out-of-order');
      return;
    }
    const row = this.other.get(key);
    if (isPromiseLike(row)) return this.joinLater(row, key, change, timestamp);
    return this.join(row, key, change, timestamp);
  }

  private join(row: ValueAndTimestamp<VO> | null, key: K, change: Change<V>, timestamp: number): MaybeAsync {
    if (row === null && (this.rule.needsOther || (change.newValue === null && change.oldValue === null))) return;
    const other = row === null ? null : row.value;
    const newValue = this.result(change.newValue, other, key);
    const oldValue = this.sendOldValues ? this.result(change.oldValue, other, key) : null;
    const resultTime = row === null ? timestamp : Math.max(timestamp, row.timestamp);
    if (isPromiseLike(newValue) || isPromiseLike(oldValue)) {
      return this.forwardLater(newValue, oldValue, key, change.isLatest, resultTime);
    }
    return this.downstream.process(key, new Change(newValue, oldValue, change.isLatest), resultTime);
  }

  private result(value: V | null, other: VO | null, key: K): Awaitable<R | null> {
    if (value === null && (other === null || !this.rule.otherSuffices)) return null;
    return this.joiner(value, other, key);
  }

  private async joinLater(row: PromiseLike<ValueAndTimestamp<VO> | null>, key: K, change: Change<V>, timestamp: number): Promise<void> {
    await this.join(await row, key, change, timestamp);
  }

  private async forwardLater(
    newValue: Awaitable<R | null>,
    oldValue: Awaitable<R | null>,
    key: K,
    isLatest: boolean,
    timestamp: number,
  ): Promise<void> {
    // Both at once: the second may fail while the first is awaited.
    const [after, before] = await Promise.all([newValue, oldValue]);
    await this.downstream.process(key, new Change(after, before, isLatest), timestamp);
  }
}
