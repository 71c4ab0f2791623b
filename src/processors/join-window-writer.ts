/**
 * Keeps the records of one side of a stream-stream join for the other side to find (KStreamJoinWindow).
 *
 * A record is joined first and kept then, so that in a join of a stream with itself it does not meet itself twice. Records without a key or a value are not kept; whether they are
 * joined is told by the join.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { JoinWindowStore } from '../stores/store.js';
import { joinWindowStore } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';

export function joinWindowWriterOperator(storeName: string): OperatorSupplier {
  return () => new JoinWindowWriter(storeName);
}

class JoinWindowWriter<K, V> extends NodeOperator<K, V> {
  declare private store: JoinWindowStore<K, V>;
  private expiryStep = 0;

  constructor(private readonly storeName: string) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = joinWindowStore(context, this.storeName);
    this.expiryStep = Math.max(Math.floor(this.store.retention / 2), smallestExpiryStep);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    const pending = this.downstream.process(key, value, timestamp);
    if (pending !== undefined) return this.keepLater(pending, key, value, timestamp);
    this.keep(key, value, timestamp);
  }

  private keep(key: K, value: V, timestamp: number): void {
    if (key === null || key === undefined || value === null || value === undefined) return;
    if (this.isFarBehind(timestamp)) this.context.dropped('expired');
    this.store.put(key, value, timestamp);
  }

  /** Kafka Streams counts a record as dropped when the segment that would take it is gone; records a little late are joined and not kept, which counts nowhere. */
  private isFarBehind(timestamp: number): boolean {
    const oldest = Math.trunc((this.store.observedTime() - this.store.retention) / this.expiryStep);
    return Math.trunc(timestamp / this.expiryStep) < oldest;
  }

  private async keepLater(pending: Promise<void>, key: K, value: V, timestamp: number): Promise<void> {
    await pending;
    this.keep(key, value, timestamp);
  }
}

/** ms; Kafka Streams' smallest segment. */
const smallestExpiryStep = 60_000;
