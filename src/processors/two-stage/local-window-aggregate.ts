/**
 * The first stage of a windowed aggregation: records are folded by key and slice, and parts say how many records they are of.
 *
 * The second stage decides what is late, by its own time, and is to find what it would have found without this one. Watermarks come behind the parts of what they follow
 * (`onWatermark`). Stream time has no such order of its own, since it moves with the records. So a record is held only while its windows are open by the highest time that was read, and
 * parts leave in order of time: none is late for one that left with it. A record that may be late leaves alone, behind all that came before it.
 */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { sliceOf, type Slices } from '../../time/slices.js';
import type { OperatorSupplier } from '../operator.js';
import type { HeldPart } from './held-parts.js';
import { LocalAggregate, type LocalAggregateOptions } from './local-aggregate.js';
import { Part } from './part.js';

export interface LocalWindowAggregateOptions<K, V, A> extends LocalAggregateOptions<K, V, A> {
  readonly slices: Slices;
  /** Records without a value count: they are passed to `next`. */
  readonly takesNull: boolean;
}

export function localWindowAggregateOperator<K, V, A>(options: LocalWindowAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new LocalWindowAggregate(options);
}

class LocalWindowAggregate<K, V, A> extends LocalAggregate<K, V, A> {
  private readonly slices: Slices;
  private readonly takesNull: boolean;
  private streamTime = -Infinity;

  constructor(options: LocalWindowAggregateOptions<K, V, A>) {
    super(options);
    this.slices = options.slices;
    this.takesNull = options.takesNull;
  }

  override process(key: K, value: V, timestamp: number): MaybeAsync {
    if (key === null || key === undefined) {
      this.context.dropped('null-key');
      return;
    }
    if ((value === null || value === undefined) && !this.takesNull) {
      this.context.dropped('null-value');
      return;
    }
    if (timestamp > this.streamTime) this.streamTime = timestamp;
    const slice = sliceOf(this.slices, timestamp);
    if (this.slices.closesAt(timestamp) > this.streamTime) return this.fold(slice, key, value, timestamp);
    return this.alone(slice, key, value, timestamp);
  }

  protected override sent({ aggregate, records }: HeldPart<K, A>): Part<A> {
    return new Part(aggregate, records);
  }

  private alone(slice: number, key: K, value: V, timestamp: number): MaybeAsync {
    const earlier = this.sendAll();
    if (earlier !== undefined) return earlier.then(() => this.foldAndSend(slice, key, value, timestamp));
    return this.foldAndSend(slice, key, value, timestamp);
  }

  private foldAndSend(slice: number, key: K, value: V, timestamp: number): MaybeAsync {
    const folding = this.fold(slice, key, value, timestamp);
    if (folding !== undefined) return folding.then(() => this.sendAll());
    return this.sendAll();
  }
}
