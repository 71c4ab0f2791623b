/**
 * Left side of a foreign-key join: turns each change of a left row into subscriptions at the keys that it referred to and refers to (SubscriptionSendProcessor).
 *
 * Output: the foreign key, null included in left joins, and a Subscription. Two foreign keys are the same when their bytes are.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { murmur3Hash128 } from '../bytes/murmur3.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import { Instruction, type Subscription } from '../serdes/subscription.js';
import { NodeOperator } from './node-operator.js';
import type { Change, OperatorContext, OperatorSupplier } from './operator.js';
import type { Awaitable } from './user-functions.js';

export interface ForeignKeySendOptions<K, V, KO> {
  readonly foreignKey: (value: V, key: K) => Awaitable<KO | null>;
  /** null: the app's default. */
  readonly foreignKeySerde: Serde<KO> | null;
  readonly valueSerde: Serde<V> | null;
  readonly left: boolean;
  readonly versioned: boolean;
}

export function foreignKeySendOperator<K, V, KO>(options: ForeignKeySendOptions<K, V, KO>): OperatorSupplier {
  return () => new ForeignKeySend(options);
}

class ForeignKeySend<K, V, KO> extends NodeOperator<K, Change<V>> {
  declare private foreignKeySerde: CompiledSerde<KO>;
  declare private valueSerde: CompiledSerde<V>;
  private readonly bytes = new ByteWriter(64);

  constructor(private readonly options: ForeignKeySendOptions<K, V, KO>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.foreignKeySerde = context.serde(this.options.foreignKeySerde, 'key');
    this.valueSerde = context.serde(this.options.valueSerde, 'value');
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    if (this.options.versioned && !change.isLatest) {
      this.context.dropped('out-of-order');
      return;
    }
    const { oldValue, newValue } = change;
    if (oldValue === null && newValue === null) return;
    const before = oldValue === null ? null : this.options.foreignKey(oldValue, key);
    const after = newValue === null ? null : this.options.foreignKey(newValue, key);
    if (isPromiseLike(before) || isPromiseLike(after)) return this.sendLater(before, after, key, change, timestamp);
    return this.send(before ?? null, after ?? null, key, change, timestamp);
  }

  private send(before: KO | null, after: KO | null, key: K, change: Change<V>, timestamp: number): MaybeAsync {
    return this.options.left ? this.sendLeft(before, after, key, change, timestamp) : this.sendInner(before, after, key, change, timestamp);
  }

  private sendLeft(before: KO | null, after: KO | null, key: K, change: Change<V>, timestamp: number): MaybeAsync {
    const last = this.subscription(key, change, Instruction.propagateNullIfNoRow);
    if (before === null || this.isSame(before, after)) return this.downstream.process(after, last, timestamp);
    const leave = this.subscription(key, change, Instruction.deleteKeyNoPropagate);
    return this.sendBoth(before, leave, after, last, timestamp);
  }

  private sendInner(before: KO | null, after: KO | null, key: K, change: Change<V>, timestamp: number): MaybeAsync {
    if (change.newValue === null) {
      if (before === null) return;
      return this.downstream.process(before, this.subscription(key, change, Instruction.deleteKeyAndPropagate), timestamp);
    }
    if (after === null) {
      this.context.dropped('null-foreign-key');
      if (before === null) return;
      return this.downstream.process(before, this.subscription(key, change, Instruction.deleteKeyAndPropagate), timestamp);
    }
    if (before === null || this.isSame(before, after)) {
      const instruction = before === null ? Instruction.propagateOnlyIfRow : this.instructionForSameKey();
      return this.downstream.process(after, this.subscription(key, change, instruction), timestamp);
    }
    // Null goes out when the new key has no row: a result of the old key must be taken back.
    const leave = this.subscription(key, change, Instruction.deleteKeyNoPropagate);
    return this.sendBoth(before, leave, after, this.subscription(key, change, Instruction.propagateNullIfNoRow), timestamp);
  }

  /**
   * The other row may be deleted at the same time; the answer that takes the result back is then stale, as it is to the left row's earlier value, and only an answer
   * to this value can do so. Kafka Streams asks for none and may keep the result. Here that would be common, since a commit brings the changes of both
   * tables together: those are answered always. Changes that come one by one are as in Kafka Streams, without tombstones for rows that never had a result.
   */
  private instructionForSameKey(): Instruction {
    return this.context.isFlushing ? Instruction.propagateNullIfNoRow : Instruction.propagateOnlyIfRow;
  }

  private sendBoth(before: KO | null, leave: Subscription<K>, after: KO | null, last: Subscription<K>, timestamp: number): MaybeAsync {
    const pending = this.downstream.process(before, leave, timestamp);
    if (pending !== undefined) return pending.then(() => this.downstream.process(after, last, timestamp));
    return this.downstream.process(after, last, timestamp);
  }

  private async sendLater(
    before: Awaitable<KO | null>,
    after: Awaitable<KO | null>,
    key: K,
    change: Change<V>,
    timestamp: number,
  ): Promise<void> {
    const [oldKey, newKey] = await Promise.all([before, after]);
    await this.send(oldKey ?? null, newKey ?? null, key, change, timestamp);
  }

  private subscription(primaryKey: K, { newValue }: Change<V>, instruction: Instruction): Subscription<K> {
    return { hash: newValue === null ? null : this.hashOf(newValue), instruction, primaryKey, primaryPartition: this.context.partition };
  }

  private hashOf(value: V): Buffer {
    const { bytes } = this;
    bytes.reset();
    this.valueSerde.encode(value, bytes);
    return murmur3Hash128(bytes.buffer, 0, bytes.length);
  }

  private isSame(before: KO | null, after: KO | null): boolean {
    if (before === null || after === null) return before === after;
    if (Object.is(before, after)) return true;
    const { bytes } = this;
    bytes.reset();
    this.foreignKeySerde.encode(before, bytes);
    const middle = bytes.length;
    this.foreignKeySerde.encode(after, bytes);
    return bytes.buffer.compare(bytes.buffer, 0, middle, middle, bytes.length) === 0;
  }
}
