/** The lists of `windows.json`: assigners, their argument checks, sessions merging. */
import { globalWindows } from '../../src/time/windowing/global-windows.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';
import { staggerOffset, tumblingEventTime, tumblingProcessingTime, type WindowStagger } from '../../src/time/windowing/tumbling-windows.js';
import type { WindowAssigner } from '../../src/time/windowing/window-assigner.js';
import { maxTimestamp, mergeWindows } from '../../src/time/windowing/window-span.js';
import { MergingWindows, type StoredSession } from '../../src/processors/windowing/merging-windows.js';
import type { ValueState } from '../../src/processors/state/keyed-state.js';
import type { Window } from '../../src/time/windowed.js';
import { isList, list, number, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { differs, shownWatermark } from './shown.js';

const checks: Readonly<Record<string, (value: JsonObject) => string[]>> = {
  tumblingEventTime: (value) => {
    const assigner = tumblingEventTime({ size: number(value, 'sizeMs'), offset: number(value, 'offsetMs') });
    return rows(value, 'tsToWindow').flatMap(([ts, window]) => differs(`of ${ts}`, window, assigned(assigner, ts)[0]));
  },
  slidingEventTime: (value) => {
    const assigner = slidingEventTime({
      size: number(value, 'sizeMs'),
      slide: number(value, 'slideMs'),
      offset: number(value, 'offsetMs'),
    });
    return rows(value, 'tsToWindowsInOrder').flatMap(([ts, windows]) => differs(`of ${ts}`, windows, assigned(assigner, ts)));
  },
  argumentChecks: (value) => {
    const ok = value.result === 'ok';
    try {
      make(list(value, 'args') as readonly [string, number, number | null, number | null]);
      return ok ? [] : [`expected ${text(value, 'result')}`];
    } catch (error) {
      return ok ? [String(error)] : [];
    }
  },
  sessionMerging: (value) => {
    const assigner = sessionEventTime({ gap: number(value, 'gapMs') });
    const state = inMemory();
    return (list(value, 'steps') as readonly JsonObject[]).flatMap((step) => {
      const ts = number(step, 'ts');
      const merging = MergingWindows.load(state);
      for (const window of assigner.assign(null, ts, 0)) merging.add(window, () => undefined);
      merging.persist();
      const got = (state.value() ?? []).map(([start, end]) => [start, end] as const).toSorted((a, b) => a[0] - b[0]);
      return differs(`after ${ts}`, step.windows, got);
    });
  },
  mergeWindowsTouchingIntersect: (value) => {
    const given = (list(value, 'in') as readonly [number, number][]).map(([start, end]) => ({ start, end }));
    const got = mergeWindows(given).map(({ into, merged }) => ({ into: [into.start, into.end], count: merged.length }));
    return differs('merges', value.merges, got);
  },
  tumblingProcessingTime: (value) => {
    const assigner = tumblingProcessingTime({ size: number(value, 'sizeMs'), offset: number(value, 'offsetMs') });
    return differs('window', value.window, shown(assigner.assign(null, 0, number(value, 'processingTime')))[0]);
  },
  windowStagger: (value) => {
    const stagger = text(value, 'stagger').toLowerCase() as WindowStagger;
    return differs('offset', value.staggerOffset, staggerOffset(stagger, number(value, 'processingTime'), number(value, 'sizeMs')));
  },
  maxTimestamp: (value) => {
    if (value.window === 'GlobalWindow') {
      const [window] = globalWindows().assign(null, 0, 0);
      return differs('maxTimestamp', 'MAX', shownWatermark(maxTimestamp(window as Window)));
    }
    const [start, end] = list(value, 'window') as [number, number];
    return differs('maxTimestamp', value.maxTimestamp, maxTimestamp({ start, end }));
  },
};

export function windowsRow({ list: from, index, value }: CaseEntry): ConformanceCase | null {
  const check = checks[from];
  if (check === undefined || 'maxParallelism' in value) return null;
  return { name: `${from}[${index}]`, run: async () => check(value) };
}

function make([kind, size, second, third]: readonly [string, number, number | null, number | null]): void {
  if (kind === 'tumbling') tumblingEventTime({ size, offset: second ?? 0 });
  else if (kind === 'sliding') slidingEventTime({ size, slide: second ?? 0, offset: third ?? 0 });
  else if (kind === 'session') sessionEventTime({ gap: size });
  else if (kind === 'tumblingNoTimestamp') tumblingEventTime({ size }).assign(null, -Infinity, 0);
  else throw new Error(`there is no assigner ${kind}`);
}

function rows(value: JsonObject, field: string): (readonly [number, Json])[] {
  return list(value, field).map((row) => (isList(row) ? [row[0] as number, row[1] as Json] : [0, null]));
}

function assigned(assigner: WindowAssigner, timestamp: number): number[][] {
  return shown(assigner.assign(null, timestamp, 0));
}

function shown(windows: readonly Window[]): number[][] {
  return windows.map(({ start, end }) => [start, end]);
}

function inMemory(): ValueState<readonly StoredSession[]> {
  let value: readonly StoredSession[] | null = null;
  return { value: () => value, update: (next) => void (value = next), clear: () => void (value = null) };
}
