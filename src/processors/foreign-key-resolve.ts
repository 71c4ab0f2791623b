/**
 * Left side of a foreign-key join again: joins an answer with the left row as it is now (ResponseJoinProcessor).
 *
 * An answer to an earlier value of the row is stale: it is dropped and counted, since the answer to the present value is on its way. Values are compared by the hash of their bytes.
 */
import { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { murmur3Hash128 } from '../bytes/murmur3.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import type { SubscriptionResponse } from '../serdes/subscription.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';
import type { RowJoiner } from './user-functions.js';

export interface ForeignKeyResolveOptions<K, V, VO, R> {
  readonly table: TableGetterSupplier<K, V>;
  /** Of the left table. null: the app's default. */
  readonly valueSerde: Serde<V> | null;
  readonly joiner: RowJoiner<K, V, VO, R>;
  readonly left: boolean;
}

export function foreignKeyResolveOperator<K, V, VO, R>(options: ForeignKeyResolveOptions<K, V, VO, R>): OperatorSupplier {
  return () => new ForeignKeyResolve(options);
}

class ForeignKeyResolve<K, V, VO, R> extends NodeOperator<K, SubscriptionResponse<VO>> {
  declare private table: TableGetter<K, V>;
  declare private valueSerde: CompiledSerde<V>;
  private readonly bytes = new ByteWriter(64);

  constructor(private readonly options: ForeignKeyResolveOptions<K, V, VO, R>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.table = this.options.table.open(context);
    this.valueSerde = context.serde(this.options.valueSerde, 'value');
  }

  process(key: K, response: SubscriptionResponse<VO>, timestamp: number): MaybeAsync {
    const value = this.table.getValue(key);
    if (isPromiseLike(value)) return this.resolveLater(value, key, response, timestamp);
    return this.resolve(value, key, response, timestamp);
  }

  private resolve(value: V | null, key: K, { hash, foreignValue }: SubscriptionResponse<VO>, timestamp: number): MaybeAsync {
    if (!this.isCurrent(value, hash)) {
      this.context.dropped('stale-response');
      return;
    }
    if (value === null || (foreignValue === null && !this.options.left)) return this.downstream.process(key, null, timestamp);
    const joined = this.options.joiner(value, foreignValue, key);
    if (isPromiseLike(joined)) return this.forwardLater(joined, key, timestamp);
    return this.downstream.process(key, joined, timestamp);
  }

  private isCurrent(value: V | null, hash: Buffer | null): boolean {
    if (value === null || hash === null) return value === null && hash === null;
    const { bytes } = this;
    bytes.reset();
    this.valueSerde.encode(value, bytes);
    return murmur3Hash128(bytes.buffer, 0, bytes.length).equals(hash);
  }

  private async resolveLater(value: PromiseLike<V | null>, key: K, response: SubscriptionResponse<VO>, timestamp: number): Promise<void> {
    await this.resolve(await value, key, response, timestamp);
  }

  private async forwardLater(joined: PromiseLike<R>, key: K, timestamp: number): Promise<void> {
    await this.downstream.process(key, await joined, timestamp);
  }
}
