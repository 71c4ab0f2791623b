/** What the options of queries and of the reads of views may be. A misspelt `limit` would read the whole store. */
import { aNumber, anything, checkOptions, flag, text, type OptionShape, type ShapeOf } from '../errors/checked-options.js';
import type { KeyRangeOptions, PageOptions, RangeOptions, TimedPageOptions, TimedRangeOptions, TimeRangeOptions } from './query.js';

/** The check of bytes that keys begin with. */
export function prefixOption(value: unknown): string | null {
  return typeof value === 'string' || value instanceof Uint8Array ? null : 'a text or bytes';
}

const keys = { from: anything, to: anything, prefix: prefixOption } satisfies ShapeOf<KeyRangeOptions<unknown>>;
const times = { from: aNumber, to: aNumber } satisfies ShapeOf<TimeRangeOptions>;
/** The number itself is checked where it is taken. */
const page = { reverse: flag, limit: anything, after: text } satisfies ShapeOf<PageOptions>;

export const queryShapes = {
  page,
  range: { ...keys, ...page } satisfies ShapeOf<RangeOptions<unknown>>,
  timedPage: { ...times, ...page } satisfies ShapeOf<TimedPageOptions>,
  timedRange: { ...times, ...page, keys } satisfies ShapeOf<TimedRangeOptions<unknown>>,
  asOf: { asOf: aNumber },
  history: { ...times, ascending: flag },
};

/** @throws MILL_QUERY_INVALID that names the option, and the one that was probably meant */
export function checkQueryOptions(what: string, options: unknown, shape: OptionShape): void {
  checkOptions(what, options, shape, 'MILL_QUERY_INVALID');
}
