import { anything, requireOptions, type ShapeOf } from '../../errors/checked-options.js';
import type { Window } from '../windowed.js';
import { areMilliseconds, requireTimestamp, requireWindows } from './assigner-checks.js';
import type { WindowAssigner } from './window-assigner.js';

/** For `sessionEventTime` and `sessionProcessingTime`. */
export interface SessionWindowsOptions<V> {
  /** A session ends when nothing comes for this long, ms; or a function that gives the gap after each record. */
  readonly gap: number | ((value: V) => number);
}

const shape = { gap: anything } satisfies ShapeOf<SessionWindowsOptions<unknown>>;

/**
 * Sessions: records of a key less than `gap` apart, or exactly, are one. A record in between makes one session of two, with their state.
 *
 * @throws MILL_CONFIG_INVALID unless the gap is above 0
 * @example clicks.keyBy().window(sessionEventTime({ gap: 30 * 60_000 }))
 */
export function sessionEventTime<V = unknown>(options: SessionWindowsOptions<V>): WindowAssigner<V> {
  requireOptions('sessionEventTime', options, shape);
  const { gap } = options;
  if (typeof gap !== 'function') requireGap(gap);
  return Object.freeze<WindowAssigner<V>>({
    name: `sessionEventTime(${typeof gap === 'number' ? gap : 'dynamic'})`,
    time: 'event',
    merges: true,
    size: null,
    defaultTrigger: 'event',
    assign: (value, timestamp) => {
      requireTimestamp('Session', timestamp);
      return [sessionOf(timestamp, gap, value)];
    },
  });
}

/** As `sessionEventTime`, by the wall clock. */
export function sessionProcessingTime<V = unknown>(options: SessionWindowsOptions<V>): WindowAssigner<V> {
  requireOptions('sessionProcessingTime', options, shape);
  const { gap } = options;
  if (typeof gap !== 'function') requireGap(gap);
  return Object.freeze<WindowAssigner<V>>({
    name: `sessionProcessingTime(${typeof gap === 'number' ? gap : 'dynamic'})`,
    time: 'processing',
    merges: true,
    size: null,
    defaultTrigger: 'processing',
    assign: (value, _timestamp, processingTime) => [sessionOf(processingTime, gap, value)],
  });
}

function sessionOf<V>(start: number, gap: SessionWindowsOptions<V>['gap'], value: V): Window {
  if (typeof gap === 'number') return { start, end: start + gap };
  const own = gap(value);
  // The record's failure, which the processing handler decides on.
  if (!isGap(own))
    throw new TypeError(`session windows: the gap of a record is ${String(own)}: it must be a whole number of milliseconds above 0`);
  return { start, end: start + own };
}

function requireGap(gap: number): void {
  requireWindows('Session', `0 < gap, a whole number, and have gap ${gap}`, isGap(gap));
}

function isGap(gap: number): boolean {
  return areMilliseconds(gap) && gap > 0;
}
