import { anything, flag, requireArgument, requireOptions, someMilliseconds, type ShapeOf } from '../../../errors/checked-options.js';
import { serdes } from '../../../serdes/serdes.js';
import type { Window } from '../../../time/windowed.js';
import { valueState } from '../../state/state-descriptor.js';
import { checkedAnswer, clearTrigger, fires, purges, type Trigger, type TriggerContext } from '../trigger.js';

/** For `timeoutTrigger`. */
export interface TimeoutTriggerOptions {
  /** ms of the wall clock. */
  readonly timeout: number;
  /** Each record starts the timeout anew. Default false: it runs from the first one. */
  readonly resetOnRecord?: boolean;
  /** The inner trigger starts anew after a timeout. Default true. */
  readonly clearOnTimeout?: boolean;
}

const shape = { timeout: anything, resetOnRecord: flag, clearOnTimeout: flag } satisfies ShapeOf<TimeoutTriggerOptions>;

const deadline = valueState<number>('trigger-timeout', { serde: serdes.double });

/** Another trigger, which also fires when the timeout has passed. */
export function timeoutTrigger<V>(inner: Trigger<V>, options: TimeoutTriggerOptions): Trigger<V> {
  requireOptions('timeoutTrigger', options, shape);
  requireArgument('timeoutTrigger: the timeout', options.timeout, someMilliseconds);
  const { timeout, resetOnRecord = false, clearOnTimeout = true } = options;
  const clear = (window: Window, context: TriggerContext): void => {
    const at = context.state(deadline);
    const time = at.value();
    if (time !== null) {
      context.deleteProcessingTimer(time);
      at.clear();
    }
    clearTrigger(inner, window, context);
  };
  return Object.freeze<Trigger<V>>({
    name: `timeout(${inner.name}, ${timeout})`,
    states: [deadline, ...inner.states],
    canMerge: false,
    onElement: (value, timestamp, window, context) => {
      const result = inner.onElement(value, timestamp, window, context);
      if (fires(result)) {
        clear(window, context);
        return result;
      }
      const at = context.state(deadline);
      let time = at.value();
      if (time !== null && resetOnRecord) {
        context.deleteProcessingTimer(time);
        time = null;
      }
      if (time === null) {
        at.update(context.processingTime + timeout);
        context.registerProcessingTimer(context.processingTime + timeout);
      }
      return result;
    },
    onEventTime: (time, window, context) => {
      const result = checkedAnswer(inner, 'onEventTime', inner.onEventTime(time, window, context));
      if (clearOnTimeout) clear(window, context);
      return purges(result) ? 'fireAndPurge' : 'fire';
    },
    onProcessingTime: (time, window, context) => {
      const result = checkedAnswer(inner, 'onProcessingTime', inner.onProcessingTime(time, window, context));
      if (clearOnTimeout) clear(window, context);
      return purges(result) ? 'fireAndPurge' : 'fire';
    },
    clear,
  });
}
