/**
 * Right side of a foreign-key join: sends each change of a right row to all that subscribed to its key (ForeignTableJoinProcessor), in the order of the primary keys' bytes.
 *
 * Subscriptions are read with a range scan, so every change is awaited; the task handles nothing else meanwhile.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Subscription, SubscriptionResponse } from '../serdes/subscription.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import { CombinedKeys } from './combined-key.js';
import { keyValueStore } from './connected-store.js';
import type { SubscriptionStoreOptions } from './foreign-key-subscribe.js';
import { NodeOperator } from './node-operator.js';
import type { Change, OperatorContext, OperatorSupplier } from './operator.js';

export interface ForeignKeyPropagateOptions<K, KO> extends SubscriptionStoreOptions<K, KO> {
  /** Whether the right table is versioned: then only its latest rows count (KIP-914). */
  readonly versioned: boolean;
}

export function foreignKeyPropagateOperator<K, KO>(options: ForeignKeyPropagateOptions<K, KO>): OperatorSupplier {
  return () => new ForeignKeyPropagate(options);
}

class ForeignKeyPropagate<K, KO, VO> extends NodeOperator<KO, Change<VO>> {
  declare private keys: CombinedKeys<KO, K>;
  declare private store: TimestampedKeyValueStore<Buffer, Subscription<K>>;

  constructor(private readonly options: ForeignKeyPropagateOptions<K, KO>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.keys = new CombinedKeys(context.serde(this.options.foreignKeySerde, 'key'), context.serde(this.options.primaryKeySerde, 'key'));
    this.store = keyValueStore(context, this.options.storeName);
  }

  process(foreignKey: KO, change: Change<VO>, timestamp: number): MaybeAsync {
    if (foreignKey === null || foreignKey === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (this.options.versioned && !change.isLatest) {
      this.context.dropped('out-of-order');
      return;
    }
    return this.propagate(this.keys.prefix(foreignKey), change.newValue, timestamp);
  }

  private async propagate(prefix: Buffer, foreignValue: VO | null, timestamp: number): Promise<void> {
    for await (const [, { value }] of this.store.prefixScan(prefix)) {
      const { hash, primaryKey, primaryPartition } = value;
      const response: SubscriptionResponse<VO> = { hash, foreignValue, primaryPartition };
      await this.downstream.process(primaryKey, response, timestamp);
    }
  }
}
