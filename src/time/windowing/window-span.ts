/** Arithmetic of windows, shared by all assigners. Windows are `[start, end)`, ms since the epoch. */
import { MillraceError } from '../../errors.js';
import type { Window } from '../windowed.js';

/** The window of everything. Its end never comes. */
export const globalWindow: Window = Object.freeze({ start: -Infinity, end: Infinity });

/** The last millisecond that belongs to the window. */
export function maxTimestamp(window: Window): number {
  return window.end - 1;
}

/** Start of the window of `size` that holds `timestamp`, where windows start at multiples of `size` plus `offset`. Right for negative times too. */
export function windowStart(timestamp: number, offset: number, size: number): number {
  return timestamp - ((((timestamp - offset) % size) + size) % size);
}

/** Windows that share a millisecond, or touch. */
export function meet(a: Window, b: Window): boolean {
  return a.start <= b.end && a.end >= b.start;
}

export function sameWindow(a: Window, b: Window): boolean {
  return a.start === b.start && a.end === b.end;
}

/** The window as a namespace of state and timers. */
export function windowId(window: Window): string {
  return `${window.start}:${window.end}`;
}

export function windowOfId(id: string): Window {
  const [start, end] = id.split(':').map(Number);
  if (start === undefined || end === undefined) throw new MillraceError('MILL_INVARIANT', `“${id}” is no window.`);
  return { start, end };
}

export interface MergedWindows {
  readonly into: Window;
  readonly merged: readonly Window[];
}

/** Groups windows that meet; groups of one are left out. */
export function mergeWindows(windows: readonly Window[]): MergedWindows[] {
  const groups: { into: Window; merged: Window[] }[] = [];
  let current: { into: Window; merged: Window[] } | undefined;
  for (const window of windows.toSorted((a, b) => a.start - b.start)) {
    if (current !== undefined && meet(current.into, window)) {
      current.into = { start: Math.min(current.into.start, window.start), end: Math.max(current.into.end, window.end) };
      current.merged.push(window);
    } else groups.push((current = { into: window, merged: [window] }));
  }
  return groups.filter(({ merged }) => merged.length > 1);
}
