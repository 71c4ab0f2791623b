import { atLeastOne, requireArgument } from '../../../errors/checked-options.js';
import { serdes } from '../../../serdes/serdes.js';
import { reducingState } from '../../state/state-descriptor.js';
import type { Trigger } from '../trigger.js';

const count = reducingState<number>('trigger-count', { serde: serdes.double, reduce: (a, b) => a + b });

/** Each time `most` records have come since it last fired. It does not fire at the end of the window: what is left then is lost. */
export function countTrigger(most: number): Trigger {
  requireArgument('countTrigger: the number of records', most, atLeastOne);
  return Object.freeze<Trigger>({
    name: `count(${most})`,
    states: [count],
    canMerge: true,
    onElement: (_value, _timestamp, _window, context) => {
      const counted = context.state(count);
      counted.add(1);
      if ((counted.get() ?? 0) < most) return 'continue';
      counted.clear();
      return 'fire';
    },
    onEventTime: () => 'continue',
    onProcessingTime: () => 'continue',
    onMerge: (_window, context) => context.mergeState(count),
    clear: (_window, context) => context.state(count).clear(),
  });
}
