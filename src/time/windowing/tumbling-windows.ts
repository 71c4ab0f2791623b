import { anything, oneOf, requireOptions, type ShapeOf } from '../../errors/checked-options.js';
import { areMilliseconds, requireTimestamp, requireWindows } from './assigner-checks.js';
import { spanOf } from '../slices.js';
import type { WindowAssigner } from './window-assigner.js';
import { windowStart } from './window-span.js';

/** For `tumblingEventTime` and `tumblingProcessingTime`. */
export interface TumblingWindowsOptions {
  /** ms */
  readonly size: number;
  /** Shifts all windows, ms: for days of a time zone, say. Between -size and size. Default 0. */
  readonly offset?: number;
}

const shape = { size: anything, offset: anything } satisfies ShapeOf<TumblingWindowsOptions>;

/** Spreads the ends of processing-time windows: `aligned` all tasks end together, `natural` each starts with its first record. */
export type WindowStagger = 'aligned' | 'natural';

/**
 * Windows of a fixed size, one after the other, in event time. Negative times are right too.
 *
 * @throws MILL_CONFIG_INVALID unless `abs(offset) < size`
 * @example readings.keyBy().window(tumblingEventTime({ size: 60_000 }))
 */
export function tumblingEventTime(options: TumblingWindowsOptions): WindowAssigner {
  requireOptions('tumblingEventTime', options, shape);
  const { size, offset = 0 } = options;
  requireTumbling(size, offset);
  return Object.freeze<WindowAssigner>({
    name: `tumblingEventTime(${size})`,
    time: 'event',
    merges: false,
    size,
    slices: spanOf(size, size, offset),
    defaultTrigger: 'event',
    assign: (_value, timestamp) => {
      requireTimestamp('Tumbling', timestamp);
      const start = windowStart(timestamp, offset, size);
      return [{ start, end: start + size }];
    },
  });
}

/** As `tumblingEventTime`, by the wall clock. Results change when the input is processed again. */
export function tumblingProcessingTime(options: TumblingWindowsOptions & { readonly stagger?: WindowStagger }): WindowAssigner {
  requireOptions('tumblingProcessingTime', options, { ...shape, stagger: oneOf('aligned', 'natural') });
  const { size, offset = 0, stagger = 'aligned' } = options;
  requireTumbling(size, offset);
  let shift: number | null = null;
  return Object.freeze<WindowAssigner>({
    name: `tumblingProcessingTime(${size})`,
    time: 'processing',
    merges: false,
    size,
    defaultTrigger: 'processing',
    assign: (_value, _timestamp, processingTime) => {
      shift ??= staggerOffset(stagger, processingTime, size);
      const start = windowStart(processingTime, (offset + shift) % size, size);
      return [{ start, end: start + size }];
    },
  });
}

/** @param processingTime when the first record came, ms */
export function staggerOffset(stagger: WindowStagger, processingTime: number, size: number): number {
  return stagger === 'aligned' ? 0 : Math.max(0, processingTime - windowStart(processingTime, 0, size));
}

function requireTumbling(size: number, offset: number): void {
  const holds = areMilliseconds(size, offset) && size > 0 && Math.abs(offset) < size;
  requireWindows('Tumbling', `abs(offset) < size, whole numbers, and have size ${size}, offset ${offset}`, holds);
}
