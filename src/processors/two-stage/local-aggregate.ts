/**
 * The first stage of an aggregation in two stages: what a task has read of each key within an epoch is folded into one part, and only the parts go through the repartition topic.
 *
 * Parts live in memory and never outlive an epoch: they leave at the barrier, before the epoch's offsets are committed, so a lost epoch loses them with its input and reads it again.
 * They also leave before a watermark does, so that no window downstream closes on records that are still here, and when there are too many keys. What comes behind combines parts, so it
 * must not matter how records were cut into parts: that is what a `merge` of accumulators promises, and what averages do not.
 */
import { isPromiseLike, type MaybeAsync } from '../../bytes/maybe-async.js';
import type { Serde } from '../../serdes/serde.js';
import { NodeOperator } from '../node-operator.js';
import type { OperatorContext, OperatorSupplier } from '../operator.js';
import { keyIdentity } from '../state/key-identity.js';
import type { Awaitable } from '../user-functions.js';

export interface LocalAggregateOptions<K, V, A> {
  /** The call, for errors: `aggregate`. */
  readonly what: string;
  /** The part after the record; `part === null`: its key has none yet. */
  readonly next: (part: A | null, value: V, key: K) => Awaitable<A | null>;
  /** Keys with a part at most. */
  readonly maxKeys: number;
  /** Of the keys; null: the app's. */
  readonly keySerde: Serde<K> | null;
  /** Records of one key fold into one part when they are of one slice of event time; null: whatever their time. */
  readonly slice: { readonly size: number; readonly offset: number } | null;
}

/** What a function fails with that gives null. */
export function deletesRow(what: string): TypeError {
  return new TypeError(`${what} gave null: with twoStage a row can't be deleted, since a part knows nothing of what the other parts hold`);
}

export function localAggregateOperator<K, V, A>(options: LocalAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new LocalAggregate(options);
}

interface Part<K, A> {
  readonly key: K;
  aggregate: A;
  /** The highest of its records. */
  timestamp: number;
}

class LocalAggregate<K, V, A> extends NodeOperator<K, V> {
  readonly keepsRecords = true;
  private parts = new Map<unknown, Part<K, A>>();
  declare private keySerde: Serde<K>;

  constructor(private readonly options: LocalAggregateOptions<K, V, A>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.keySerde = context.serde(this.options.keySerde, 'key').serde;
  }

  process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    const id = this.idOf(key, timestamp);
    const part = this.parts.get(id);
    const aggregate = this.options.next(part?.aggregate ?? null, value, key);
    if (isPromiseLike(aggregate)) return Promise.resolve(aggregate).then((later) => this.keep(id, key, later, timestamp));
    return this.keep(id, key, aggregate, timestamp);
  }

  flush(): MaybeAsync {
    return this.sendAll();
  }

  onWatermark(): MaybeAsync {
    return this.sendAll();
  }

  private keep(id: unknown, key: K, aggregate: A | null, timestamp: number): MaybeAsync {
    if (aggregate === null) throw deletesRow(this.options.what);
    const part = this.parts.get(id);
    if (part === undefined) this.parts.set(id, { key, aggregate, timestamp });
    else {
      part.aggregate = aggregate;
      if (timestamp > part.timestamp) part.timestamp = timestamp;
    }
    if (this.parts.size > this.options.maxKeys) return this.sendAll();
  }

  private idOf(key: K, timestamp: number): unknown {
    const id = keyIdentity(key, this.keySerde);
    const { slice } = this.options;
    return slice === null ? id : `${Math.floor((timestamp - slice.offset) / slice.size)}|${typeof id}|${String(id)}`;
  }

  private sendAll(): MaybeAsync {
    if (this.parts.size === 0) return;
    const parts = this.parts.values();
    this.parts = new Map();
    return this.context.forSeveralRecords(() => this.send(parts));
  }

  private send(parts: Iterator<Part<K, A>>): MaybeAsync {
    for (let next = parts.next(); next.done !== true; next = parts.next()) {
      const { key, aggregate, timestamp } = next.value;
      const pending = this.downstream.process(key, aggregate, timestamp);
      if (pending !== undefined) return pending.then(() => this.send(parts));
    }
  }
}
