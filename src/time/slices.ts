/**
 * Slices: event time cut so finely that each window consists of whole ones. All records of a slice belong to the same windows, so an aggregate of the slice can stand for them: that is what
 * windows in two stages rest on. A window of `size` ms that starts every `slide` ms gives slices of their greatest common divisor.
 */
import type { TimeWindows } from './time-windows.js';
import type { WindowAssigner } from './windowing/window-assigner.js';

/** How event time is cut. */
export interface SliceSpan {
  /** ms */
  readonly width: number;
  /** Slices start at multiples of `width` plus this, ms. */
  readonly offset: number;
}

/** The slices of windows, and when those close. */
export interface Slices extends SliceSpan {
  /** Whether a record may be in several windows. */
  readonly overlap: boolean;
  /** The stream time at which the first of a record's windows closes; Infinity where something else than stream time closes windows. */
  closesAt(timestamp: number): number;
}

/** Number of the slice of a time. Right for negative times too. */
export function sliceOf({ width, offset }: SliceSpan, timestamp: number): number {
  return Math.floor((timestamp - offset) / width);
}

/** @returns null when the numbers are no whole milliseconds, or some records are in no window */
export function spanOf(size: number, slide: number, offset: number): SliceSpan | null {
  if (![size, slide, offset].every(Number.isSafeInteger) || slide > size) return null;
  const width = greatestCommonDivisor(size, slide);
  return { width, offset: offset % width };
}

export function slicesOf(windows: TimeWindows): Slices {
  const { kind, size, advance, grace } = windows;
  // There is one unlimited window. It starts where its first record may be, and what lies before is in no window.
  const offset = kind === 'unlimited' ? windows.firstStart(Number.MAX_SAFE_INTEGER) : 0;
  return {
    width: greatestCommonDivisor(size, advance),
    offset,
    overlap: advance < size,
    closesAt: (timestamp) => windows.firstStart(timestamp) + size + grace,
  };
}

/** null: records of these windows can't be folded before they are in them. A watermark closes them, so no record does. */
export function slicesOfAssigner({ time, merges, size, slices, defaultTrigger }: WindowAssigner): Slices | null {
  if (time !== 'event' || defaultTrigger !== 'event' || merges || slices === undefined || slices === null) return null;
  return { ...slices, overlap: slices.width !== size, closesAt: () => Infinity };
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
