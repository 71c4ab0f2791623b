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
  /** When its windows fire if nothing else is said. */
  readonly defaultTrigger: 'event' | 'processing' | 'never';
  /**
   * @param timestamp the record's, ms since the epoch
   * @param processingTime ms of the wall clock
   * @throws MILL_INVALID_TIMESTAMP by event-time assigners when the record has no timestamp
   */
  assign(value: V, timestamp: number, processingTime: number): readonly Window[];
}
