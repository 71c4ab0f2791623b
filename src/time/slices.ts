/**
 * Slices: event time cut so finely that each window consists of whole ones. All records of a slice belong to the same windows, so an aggregate of the slice can stand for them: that is what
 * windows in two stages rest on. A window of `size` ms that starts every `slide` ms gives slices of their greatest common divisor.
 */
import { MillraceError } from '../errors.js';
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

/**
 * null: records of these windows can't be folded before they are in them. A watermark closes them, so no record does.
 *
 * @throws MILL_TOPOLOGY_INVALID when `slices` of the assigner is nothing that cuts its windows into whole slices
 */
export function slicesOfAssigner<V>({ name, time, merges, size, slices, defaultTrigger }: WindowAssigner<V>): Slices | null {
  if (time !== 'event' || defaultTrigger !== 'event' || merges || slices === undefined || slices === null) return null;
  const { width, offset } = checkedSpan(name, size, slices);
  return { width, offset, overlap: width !== size, closesAt: () => Infinity };
}

/** Assigners are also written by users: slices of a wrong width would put records into windows that are not theirs. */
function checkedSpan(name: string, size: number | null, given: unknown): SliceSpan {
  const wrong = (message: string): MillraceError =>
    new MillraceError('MILL_TOPOLOGY_INVALID', `\`slices\` of assigner ${name} ${message}.`);
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    throw wrong(`must be an object { width, offset } or null, not ${String(given)}`);
  const { width, offset } = given as Partial<Record<keyof SliceSpan, unknown>>;
  if (!isWhole(width) || width <= 0) throw wrong(`needs \`width\`: a whole number of ms above 0, not ${String(width)}`);
  if (!isWhole(offset)) throw wrong(`needs \`offset\`: a whole number of ms, not ${String(offset)}`);
  if (size !== null && size % width !== 0)
    throw wrong(`has a \`width\` of ${width} ms, and its windows of ${size} ms do not consist of whole slices`);
  return { width, offset };
}

function isWhole(given: unknown): given is number {
  return Number.isSafeInteger(given);
}

function greatestCommonDivisor(a: number, b: number): number {
  return b === 0 ? a : greatestCommonDivisor(b, a % b);
}
