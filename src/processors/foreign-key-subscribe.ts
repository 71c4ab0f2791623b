/**
 * Right side of a foreign-key join: keeps or removes the subscription that came (SubscriptionReceiveProcessor) and passes it on, for the next operator to answer it. A subscription without
 * a foreign key is not kept: it only asks for an answer.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { Instruction, type Subscription } from '../serdes/subscription.js';
import type { Serde } from '../serdes/serde.js';
import type { TimestampedKeyValueStore } from '../stores/store.js';
import { CombinedKeys } from './combined-key.js';
import { keyValueStore } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';

export interface SubscriptionStoreOptions<K, KO> {
  /** Subscriptions by foreign key, then primary key (see `CombinedKeys`). */
  readonly storeName: string;
  /** null: the app's default. */
  readonly foreignKeySerde: Serde<KO> | null;
  readonly primaryKeySerde: Serde<K> | null;
}

export function foreignKeySubscribeOperator<K, KO>(options: SubscriptionStoreOptions<K, KO>): OperatorSupplier {
  return () => new ForeignKeySubscribe(options);
}

class ForeignKeySubscribe<K, KO> extends NodeOperator<KO | null, Subscription<K>> {
  declare private keys: CombinedKeys<KO, K>;
  declare private store: TimestampedKeyValueStore<Buffer, Subscription<K>>;

  constructor(private readonly options: SubscriptionStoreOptions<K, KO>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.keys = new CombinedKeys(context.serde(this.options.foreignKeySerde, 'key'), context.serde(this.options.primaryKeySerde, 'key'));
    this.store = keyValueStore(context, this.options.storeName);
  }

  process(foreignKey: KO | null, subscription: Subscription<K>, timestamp: number): MaybeAsync {
    const { instruction } = subscription;
    if (foreignKey !== null && foreignKey !== undefined) {
      const gone = instruction === Instruction.deleteKeyAndPropagate || instruction === Instruction.deleteKeyNoPropagate;
      this.store.put(this.keys.key(foreignKey, subscription.primaryKey), gone ? null : subscription, timestamp);
    } else if (instruction !== Instruction.propagateNullIfNoRow) {
      this.context.dropped('null-foreign-key');
      return;
    }
    return this.downstream.process(foreignKey, subscription, timestamp);
  }
}
