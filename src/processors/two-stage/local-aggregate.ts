/**
 * The first stage of an aggregation in two stages: what a task has read of each key within an epoch is folded into one part, and only the parts go through the repartition topic.
 *
 * Parts live in memory and never outlive an epoch: they leave at the barrier, before the epoch's offsets are committed, so a lost epoch loses them with its input and reads it again.
 * They also leave before a watermark does, so that no window downstream closes on records that are still here, and when there are too many of them. What comes behind combines parts, so it
 * must not matter how records were cut into parts: that is what a `merge` of accumulators promises, and what averages do not.
 */
import { isPromiseLike, type MaybeAsync } from '../../bytes/maybe-async.js';
import type { Serde } from '../../serdes/serde.js';
import { NodeOperator } from '../node-operator.js';
import type { OperatorContext, OperatorSupplier } from '../operator.js';
import { OwnValues } from '../own-value.js';
import type { Awaitable } from '../user-functions.js';
import { HeldParts, type HeldPart } from './held-parts.js';

export interface LocalAggregateOptions<K, V, A> {
  /** The call, for errors: `aggregate`. */
  readonly what: string;
  /** The part after the record; `part === null`: its key has none yet. */
  readonly next: (part: A | null, value: V, key: K) => Awaitable<A | null>;
  /** Parts at most. */
  readonly maxKeys: number;
  /** Of the parts; null: the app's. */
  readonly valueSerde: Serde<A> | null;
  /** Of the keys; null: the app's. */
  readonly keySerde: Serde<K> | null;
}

/** What a function fails with that gives null. */
export function deletesRow(what: string): TypeError {
  return new TypeError(`${what} gave null: with twoStage a row can't be deleted, since a part knows nothing of what the other parts hold`);
}

export function localAggregateOperator<K, V, A>(options: LocalAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new LocalAggregate(options);
}

/** Sends accumulators, of all that was read of a key. */
export class LocalAggregate<K, V, A> extends NodeOperator<K, V> {
  readonly keepsRecords = true;
  declare protected held: HeldParts<K, A>;
  declare private own: OwnValues<A>;

  constructor(private readonly options: LocalAggregateOptions<K, V, A>) {
    super();
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.held = new HeldParts(context.serde(this.options.keySerde, 'key').serde);
    this.own = new OwnValues(context, this.options.valueSerde);
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
    return this.fold(0, key, value, timestamp);
  }

  flush(): MaybeAsync {
    return this.sendAll();
  }

  onWatermark(): MaybeAsync {
    return this.sendAll();
  }

  /** Folds a record into the part of its key and slice. */
  protected fold(slice: number, key: K, value: V, timestamp: number): MaybeAsync {
    const id = this.held.idOf(key);
    const part = this.held.get(slice, id);
    const next = this.options.next(part?.aggregate ?? null, value, key);
    const aggregate = part === undefined ? this.own.first(next, value) : next;
    if (isPromiseLike(aggregate)) return Promise.resolve(aggregate).then((later) => this.keep(slice, id, part, key, later, timestamp));
    return this.keep(slice, id, part, key, aggregate, timestamp);
  }

  protected sendAll(): MaybeAsync {
    if (this.held.size === 0) return;
    const parts = this.held.takeAll();
    return this.context.forSeveralRecords(() => this.send(parts));
  }

  /** What goes downstream for a part. */
  protected sent(part: HeldPart<K, A>): unknown {
    return part.aggregate;
  }

  private keep(slice: number, id: unknown, part: HeldPart<K, A> | undefined, key: K, aggregate: A | null, timestamp: number): MaybeAsync {
    if (aggregate === null) throw deletesRow(this.options.what);
    if (part === undefined) this.held.add(slice, id, { key, aggregate, timestamp, records: 1 });
    else {
      part.aggregate = aggregate;
      part.records++;
      if (timestamp > part.timestamp) part.timestamp = timestamp;
    }
    if (this.held.size > this.options.maxKeys) return this.sendAll();
  }

  private send(parts: Iterator<HeldPart<K, A>>): MaybeAsync {
    for (let next = parts.next(); next.done !== true; next = parts.next()) {
      const part = next.value;
      const pending = this.downstream.process(part.key, this.sent(part), part.timestamp);
      if (pending !== undefined) return pending.then(() => this.send(parts));
    }
  }
}
