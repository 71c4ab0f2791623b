import { aNumber, callback, requireArgument } from '../../../errors/checked-options.js';
import { resultAtOnce } from '../../result-at-once.js';
import { valueState } from '../../state/state-descriptor.js';
import type { Serde } from '../../../serdes/serde.js';
import type { Trigger } from '../trigger.js';

/** When a record differs from the one of the last firing by more than `threshold`. `serde` is the records'; default JSON. */
export function deltaTrigger<V>(threshold: number, delta: (last: V, value: V) => number, serde?: Serde<V>): Trigger<V> {
  requireArgument('deltaTrigger: the threshold', threshold, aNumber);
  requireArgument('deltaTrigger: the delta', delta, callback);
  const last = valueState<V>('trigger-last', { serde });
  return Object.freeze<Trigger<V>>({
    name: `delta(${threshold})`,
    states: [last],
    canMerge: false,
    onElement: (value, _timestamp, _window, context) => {
      const known = context.state(last);
      const before = known.value();
      if (before === null) {
        known.update(value);
        return 'continue';
      }
      if (resultAtOnce('deltaTrigger: the delta', delta(before, value)) <= threshold) return 'continue';
      known.update(value);
      return 'fire';
    },
    onEventTime: () => 'continue',
    onProcessingTime: () => 'continue',
    clear: (_window, context) => context.state(last).clear(),
  });
}
