/** The options of a window's aggregate with `apply` and without: two types, so that the serde of the results is held to what gives them. */
import type { WindowInfo } from '../processors/windowing/window-context.js';
import type { ResultSerde } from '../serdes/serde-for.js';
import type { WindowAggregateOptions } from './keyed-stream.js';

/** For `WindowedStream.aggregate` with a window function, which makes the results. */
export type AppliedAggregateOptions<K, Acc, Out, R> = WindowAggregateOptions<K, Acc, Out, R> & {
  /** Makes a result of what the aggregate gives for a key and window. */
  readonly apply: (key: K, result: Out, info: WindowInfo) => R;
};

/** For `WindowedStream.aggregate` without a window function: the aggregate's own results go on. */
export interface PlainAggregateOptions<K, Acc, Out> extends Omit<WindowAggregateOptions<K, Acc, Out, Out>, 'apply' | 'valueSerde'> {
  /** Serde of the results, carried along. */
  readonly valueSerde?: ResultSerde<NoInfer<Out>>;
  /** What the compiler is to say when nothing fits: it reports the last overload. */
  readonly apply?: '`apply` takes (key, result, info), and `valueSerde` is for what it gives';
}
