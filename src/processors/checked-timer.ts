import { MillraceError } from '../errors.js';
import { anything, callback as aFunction, oneOf, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import type { ScheduleOptions } from './operator.js';

const kindOfTime = oneOf('stream', 'wallClock');
/** Numbers are checked where the timer is queued. */
const shape = { interval: anything, time: kindOfTime, startAt: anything } satisfies ShapeOf<ScheduleOptions>;

/**
 * A timer with another kind of time would fire by the wrong clock, one without a callback only fail when it is due.
 *
 * @throws MILL_CONFIG_INVALID
 */
export function checkTimer(options: unknown, callback: unknown): void {
  requireOptions('schedule', options, shape, 'MILL_CONFIG_INVALID');
  const { time } = options as Partial<ScheduleOptions>;
  const wanted = kindOfTime(time);
  if (wanted !== null) throw new MillraceError('MILL_CONFIG_INVALID', `schedule: the option time must be ${wanted}, not ${String(time)}.`);
  if (aFunction(callback) !== null) throw new MillraceError('MILL_CONFIG_INVALID', 'schedule: the second argument must be a function.');
}
