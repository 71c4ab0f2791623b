import { fires, type Trigger, type TriggerResult } from '../trigger.js';

/** Another trigger, whose firings throw the window's contents away: each result holds only what came since the last. */
export function purgingTrigger<V>(inner: Trigger<V>): Trigger<V> {
  return Object.freeze<Trigger<V>>({
    name: `purging(${inner.name})`,
    states: inner.states,
    canMerge: inner.canMerge,
    onElement: (value, timestamp, window, context) => purging(inner.onElement(value, timestamp, window, context)),
    onEventTime: (time, window, context) => purging(inner.onEventTime(time, window, context)),
    onProcessingTime: (time, window, context) => purging(inner.onProcessingTime(time, window, context)),
    onMerge: (window, context) => inner.onMerge?.(window, context),
    clear: (window, context) => inner.clear(window, context),
  });
}

function purging(result: TriggerResult): TriggerResult {
  return fires(result) ? 'fireAndPurge' : result;
}
