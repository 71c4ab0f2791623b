/** Triggers that fire again and again while a window is open, at multiples of an interval. */
import { requireArgument, someMilliseconds } from '../../../errors/checked-options.js';
import { serdes } from '../../../serdes/serdes.js';
import type { Window } from '../../../time/windowed.js';
import { maxTimestamp } from '../../../time/windowing/window-span.js';
import { reducingState } from '../../state/state-descriptor.js';
import type { Trigger, TriggerContext } from '../trigger.js';

/** When the window fires next. Of merged windows, the earlier one counts. */
const next = reducingState<number>('trigger-fire-time', { serde: serdes.double, reduce: (a, b) => Math.min(a, b) });

/** Every `interval` ms of event time, and at the end of the window. */
export function continuousEventTimeTrigger(interval: number): Trigger {
  requireArgument('continuousEventTimeTrigger: the interval', interval, someMilliseconds);
  const plan = (after: number, window: Window, context: TriggerContext): void => {
    // A window without an end would never be done once event time has come to its end.
    if (context.watermark === Infinity && maxTimestamp(window) === Infinity) return;
    const time = Math.min(after + interval, maxTimestamp(window));
    context.state(next).add(time);
    context.registerEventTimer(time);
  };
  return Object.freeze<Trigger>({
    name: `continuousEventTime(${interval})`,
    states: [next],
    canMerge: true,
    onElement: (_value, timestamp, window, context) => {
      if (maxTimestamp(window) <= context.watermark) return 'fire';
      context.registerEventTimer(maxTimestamp(window));
      if (context.state(next).get() === null) plan(timestamp - (timestamp % interval), window, context);
      return 'continue';
    },
    onEventTime: (time, window, context) => {
      if (time === maxTimestamp(window)) return 'fire';
      const planned = context.state(next);
      if (planned.get() !== time) return 'continue';
      planned.clear();
      plan(time, window, context);
      return 'fire';
    },
    onProcessingTime: () => 'continue',
    onMerge: (_window, context) => {
      context.mergeState(next);
      const time = context.state(next).get();
      if (time !== null) context.registerEventTimer(time);
    },
    clear: (_window, context) => {
      const planned = context.state(next);
      const time = planned.get();
      if (time === null) return;
      context.deleteEventTimer(time);
      planned.clear();
    },
  });
}

/** Every `interval` ms of the wall clock; the last time at the end of the window. */
export function continuousProcessingTimeTrigger(interval: number): Trigger {
  requireArgument('continuousProcessingTimeTrigger: the interval', interval, someMilliseconds);
  const plan = (after: number, window: Window, context: TriggerContext): void => {
    const time = Math.min(after + interval, maxTimestamp(window));
    context.state(next).add(time);
    context.registerProcessingTimer(time);
  };
  return Object.freeze<Trigger>({
    name: `continuousProcessingTime(${interval})`,
    states: [next],
    canMerge: true,
    onElement: (_value, _timestamp, window, context) => {
      const now = context.processingTime;
      if (context.state(next).get() === null) plan(now - (now % interval), window, context);
      return 'continue';
    },
    onEventTime: () => 'continue',
    onProcessingTime: (time, window, context) => {
      // The last one: what was planned stays noted, so that records which come to a window of event time later plan nothing in the past.
      if (time === maxTimestamp(window)) return 'fire';
      const planned = context.state(next);
      if (planned.get() !== time) return 'continue';
      planned.clear();
      plan(time, window, context);
      return 'fire';
    },
    onMerge: (_window, context) => {
      context.mergeState(next);
      const time = context.state(next).get();
      if (time !== null) context.registerProcessingTimer(time);
    },
    clear: (_window, context) => {
      const planned = context.state(next);
      const time = planned.get();
      if (time === null) return;
      context.deleteProcessingTimer(time);
      planned.clear();
    },
  });
}
