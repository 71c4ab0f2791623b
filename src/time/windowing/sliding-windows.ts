import { anything, requireOptions, type ShapeOf } from '../../errors/checked-options.js';
import type { Window } from '../windowed.js';
import { areMilliseconds, requireTimestamp, requireWindows } from './assigner-checks.js';
import { spanOf } from '../slices.js';
import type { WindowAssigner } from './window-assigner.js';
import { windowStart } from './window-span.js';

/** For `slidingEventTime` and `slidingProcessingTime`. */
export interface SlidingWindowsOptions {
  /** ms */
  readonly size: number;
  /** Distance between the starts of two windows, ms. Above `size`, some records belong to no window. */
  readonly slide: number;
  /** Shifts all windows, ms, between -slide and slide. Default 0. */
  readonly offset?: number;
}

/**
 * Windows of a fixed size that start every `slide` ms, in event time, so that a record belongs to several; the latest window comes first.
 *
 * @throws MILL_CONFIG_INVALID unless `abs(offset) < slide` and `size > 0`
 * @example readings.keyBy().window(slidingEventTime({ size: 300_000, slide: 60_000 }))
 */
export function slidingEventTime(options: SlidingWindowsOptions): WindowAssigner {
  const { size, slide, offset } = checked('slidingEventTime', options);
  return Object.freeze<WindowAssigner>({
    name: `slidingEventTime(${size}, ${slide})`,
    time: 'event',
    merges: false,
    size,
    slices: spanOf(size, slide, offset),
    defaultTrigger: 'event',
    assign: (_value, timestamp) => {
      requireTimestamp('Sliding', timestamp);
      return windowsOf(timestamp, size, slide, offset);
    },
  });
}

/** As `slidingEventTime`, by the wall clock. */
export function slidingProcessingTime(options: SlidingWindowsOptions): WindowAssigner {
  const { size, slide, offset } = checked('slidingProcessingTime', options);
  return Object.freeze<WindowAssigner>({
    name: `slidingProcessingTime(${size}, ${slide})`,
    time: 'processing',
    merges: false,
    size,
    defaultTrigger: 'processing',
    assign: (_value, _timestamp, processingTime) => windowsOf(processingTime, size, slide, offset),
  });
}

function windowsOf(time: number, size: number, slide: number, offset: number): Window[] {
  const windows: Window[] = [];
  for (let start = windowStart(time, offset, slide); start > time - size; start -= slide) windows.push({ start, end: start + size });
  return windows;
}

const shape = { size: anything, slide: anything, offset: anything } satisfies ShapeOf<SlidingWindowsOptions>;

function checked(what: string, options: SlidingWindowsOptions): Required<SlidingWindowsOptions> {
  requireOptions(what, options, shape);
  const { size, slide, offset = 0 } = options;
  requireWindows(
    'Sliding',
    `abs(offset) < slide and size > 0, whole numbers, and have size ${size}, slide ${slide}, offset ${offset}`,
    areMilliseconds(size, slide, offset) && size > 0 && Math.abs(offset) < slide,
  );
  return { size, slide, offset };
}
