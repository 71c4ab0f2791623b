/** What a store knows beside its rows; written with them, so that it is always of the same epoch. */
export interface StoreMarks {
  /** Window kinds: the highest window start put so far, -1 before the first. Expiry follows it. */
  readonly observed: number;
  /** Window kinds: the highest timestamp of any row written so far, -1 before the first. Window operators take up their stream time here. */
  readonly observedTime: number;
  /** Window kinds: windows with a start at or below it were given out by `drainClosed`. */
  readonly closedUpTo: number;
  /** Number of rows; approximate after a restore. */
  readonly entries: number;
  /** Of these, records of restores that may have been counted before. */
  readonly uncounted?: number;
}
