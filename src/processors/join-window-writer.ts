/**
 * Keeps the records of one side of a stream-stream join for the other side to find (KStreamJoinWindow).
 *
 * A record is joined first and kept then, so that in a join of a stream with itself it does not meet itself twice. Records without a key or a value are not kept; whether they are
 * joined is told by the join.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { JoinWindowStore } from '../stores/store.js';
import { joinWindowStore } from './connected-store.js';
import { LateRecords, type LateTarget } from './late-records.js';
import { NodeOperator } from './node-operator.js';
import type { OperatorContext, OperatorSupplier } from './operator.js';

/** @param late where records go that come too late to be kept for the other side, after they were joined with what is still there */
export function joinWindowWriterOperator(storeName: string, late: LateTarget = null): OperatorSupplier {
  return () => new JoinWindowWriter(storeName, late);
}

class JoinWindowWriter<K, V> extends NodeOperator<K, V> {
  declare private store: JoinWindowStore<K, V>;
  private expiryStep = 0;

  declare private late: LateRecords;

  constructor(
    private readonly storeName: string,
    private readonly lateTarget: LateTarget,
  ) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.store = joinWindowStore(context, this.storeName);
    this.late = new LateRecords(context, this.lateTarget, 'expired');
    this.expiryStep = Math.max(Math.floor(this.store.retention / 2), smallestExpiryStep);
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    const pending = this.downstream.process(key, value, timestamp);
    if (pending !== undefined) return this.keepLater(pending, key, value, timestamp);
    return this.keep(key, value, timestamp);
  }

  private keep(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined || value === null || value === undefined) return;
    if (this.late.areSent && timestamp <= this.store.observedTime() - this.store.retention) return this.late.take(key, value, timestamp);
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
    await this.keep(key, value, timestamp);
  }
}

/** ms; Kafka Streams' smallest segment. */
const smallestExpiryStep = 60_000;
