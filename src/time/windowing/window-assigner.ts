import type { SliceSpan } from '../slices.js';
import type { Window } from '../windowed.js';

/** Says which windows a record belongs to. Pure: the same record gives the same windows. */
export interface WindowAssigner<V = unknown> {
  /** As it is shown in descriptions and errors. */
  readonly name: string;
  /** Which time its windows are in. */
  readonly time: 'event' | 'processing';
  /** True for sessions: windows that meet become one, and their state with them. */
  readonly merges: boolean;
  /** ms; null when its windows are of no fixed size. */
  readonly size: number | null;
  /**
   * For `twoStage`: event time is cut into slices of `width` ms that start at multiples of it plus `offset`, and `assign` gives all records of a slice the same windows, one at least,
   * whatever their values. Whole numbers; `size` is a multiple of `width`; anything else is MILL_TOPOLOGY_INVALID where `twoStage` is asked for. Absent: records can't be folded before they are in their windows.
   */
  readonly slices?: SliceSpan | null;
  /** When its windows fire if nothing else is said. */
  readonly defaultTrigger: 'event' | 'processing' | 'never';
  /**
   * @param timestamp the record's, ms since the epoch
   * @param processingTime ms of the wall clock
   * @throws MILL_INVALID_TIMESTAMP by event-time assigners when the record has no timestamp
   */
  assign(value: V, timestamp: number, processingTime: number): readonly Window[];
}
