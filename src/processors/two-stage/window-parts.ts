/** The second stage of a windowed aggregation in stream time: parts are combined in each of their windows. Results carry `Windowed` keys. */
import type { Serde } from '../../serdes/serde.js';
import type { OperatorContext, OperatorSupplier } from '../operator.js';
import type { Awaitable } from '../user-functions.js';
import { WindowAggregation, type WindowAggregationOptions } from '../window-aggregation.js';
import { combinedParts } from './carried-accumulator.js';
import { accumulatorOf, type Part } from './part.js';

export interface WindowPartsOptions<K, A> extends WindowAggregationOptions {
  /** The call, for errors: `aggregate`. */
  readonly what: string;
  readonly combine: (one: A, other: A, key: K) => Awaitable<A>;
  /** Of the accumulators; null: the app's. */
  readonly valueSerde: Serde<A> | null;
  /** Whether a record may be in several windows. */
  readonly overlap: boolean;
}

export function windowPartsOperator<K, A>(options: WindowPartsOptions<K, A>): OperatorSupplier {
  return () => new WindowPartsOperator(options);
}

class WindowPartsOperator<K, A> extends WindowAggregation<K, Part<A>, A> {
  declare private serde: Serde<A>;

  constructor(private readonly options: WindowPartsOptions<K, A>) {
    super(options);
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.serde = context.serde(this.options.valueSerde, 'value').serde;
  }

  protected next(before: A | null, part: Part<A>, key: K): Awaitable<A> {
    const { what, combine, overlap } = this.options;
    const accumulator = accumulatorOf(part, overlap, this.serde);
    if (before === null) return accumulator;
    return combinedParts(what, this.serde, combine, before, accumulator, key);
  }
}
