/** The options of scans, checked: with a misspelt bound they would walk through the whole store. */
import { anything, checkOptions, flag, type ShapeOf } from '../errors/checked-options.js';
import type { KeyRange } from './store.js';

const keyRange = { from: anything, to: anything, reverse: flag } satisfies ShapeOf<KeyRange<unknown>>;

/** @throws MILL_QUERY_INVALID */
export function checkKeyRange(range: unknown): void {
  checkOptions('range', range, keyRange, 'MILL_QUERY_INVALID');
}

/** @throws MILL_QUERY_INVALID */
export function checkFlag(what: string, options: unknown, name: string): void {
  checkOptions(what, options, { [name]: flag }, 'MILL_QUERY_INVALID');
}
