/** Right side of a foreign-key join: answers a subscription with the row that it asks for (SubscriptionJoinProcessor). The answer's time is the later one of both. */
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { Instruction, type Subscription, type SubscriptionResponse } from '../serdes/subscription.js';
import type { ValueAndTimestamp } from '../stores/store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';

export function foreignKeyAnswerOperator<KO, VO>(table: TableGetterSupplier<KO, VO>): OperatorSupplier {
  return () => new ForeignKeyAnswer(table);
}

class ForeignKeyAnswer<K, KO, VO> extends NodeOperator<KO | null, Subscription<K>> {
  declare private table: TableGetter<KO, VO>;

  constructor(private readonly supplier: TableGetterSupplier<KO, VO>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.table = this.supplier.open(context);
  }

  process(foreignKey: KO | null, subscription: Subscription<K>, timestamp: number): MaybeAsync {
    if (subscription.instruction === Instruction.deleteKeyNoPropagate) return;
    const row = foreignKey === null || foreignKey === undefined ? null : this.table.get(foreignKey);
    if (isPromiseLike(row)) return this.answerLater(row, subscription, timestamp);
    return this.answer(row, subscription, timestamp);
  }

  private answer(row: ValueAndTimestamp<VO> | null, subscription: Subscription<K>, timestamp: number): MaybeAsync {
    const { instruction, hash, primaryKey, primaryPartition } = subscription;
    if (row === null && instruction === Instruction.propagateOnlyIfRow) return;
    const foreignValue = row === null || instruction === Instruction.deleteKeyAndPropagate ? null : row.value;
    const response: SubscriptionResponse<VO> = { hash, foreignValue, primaryPartition };
    return this.downstream.process(primaryKey, response, row === null ? timestamp : Math.max(timestamp, row.timestamp));
  }

  private async answerLater(
    row: PromiseLike<ValueAndTimestamp<VO> | null>,
    subscription: Subscription<K>,
    timestamp: number,
  ): Promise<void> {
    await this.answer(await row, subscription, timestamp);
  }
}
