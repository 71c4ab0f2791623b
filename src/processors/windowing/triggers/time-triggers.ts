/** The default triggers: once, when the window's time has passed. */
import { maxTimestamp } from '../../../time/windowing/window-span.js';
import type { Trigger } from '../trigger.js';

const eventTime: Trigger = Object.freeze<Trigger>({
  name: 'eventTime',
  states: [],
  canMerge: true,
  onElement: (_value, _timestamp, window, context) => {
    // Late, but allowed: the result changes at once.
    if (maxTimestamp(window) <= context.watermark) return 'fire';
    context.registerEventTimer(maxTimestamp(window));
    return 'continue';
  },
  onEventTime: (time, window) => (time === maxTimestamp(window) ? 'fire' : 'continue'),
  onProcessingTime: () => 'continue',
  onMerge: (window, context) => {
    if (maxTimestamp(window) > context.watermark) context.registerEventTimer(maxTimestamp(window));
  },
  clear: (window, context) => context.deleteEventTimer(maxTimestamp(window)),
});

const processingTime: Trigger = Object.freeze<Trigger>({
  name: 'processingTime',
  states: [],
  canMerge: true,
  onElement: (_value, _timestamp, window, context) => {
    context.registerProcessingTimer(maxTimestamp(window));
    return 'continue';
  },
  onEventTime: () => 'continue',
  onProcessingTime: () => 'fire',
  onMerge: (window, context) => {
    if (maxTimestamp(window) > context.processingTime) context.registerProcessingTimer(maxTimestamp(window));
  },
  clear: (window, context) => context.deleteProcessingTimer(maxTimestamp(window)),
});

const never: Trigger = Object.freeze<Trigger>({
  name: 'never',
  states: [],
  canMerge: true,
  onElement: () => 'continue',
  onEventTime: () => 'continue',
  onProcessingTime: () => 'continue',
  onMerge: () => undefined,
  clear: () => undefined,
});

/** When the watermark passes the window's end, and again for each late record that is still allowed. */
export function eventTimeTrigger(): Trigger {
  return eventTime;
}

/** When the wall clock passes the window's end. */
export function processingTimeTrigger(): Trigger {
  return processingTime;
}

/** Never: the default of global windows. */
export function neverTrigger(): Trigger {
  return never;
}
