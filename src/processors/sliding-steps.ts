/**
 * What one record does to the sliding windows of its key: pure, and in the order of Kafka Streams (KStreamSlidingWindowAggregate, reverse iteration).
 *
 * The windows at hand tell all that is needed of the records: a row's timestamp is that of its last record, so the row that ends before `t`
 * tells the last record before `t`, and a row that holds `t` and a later timestamp has the aggregate of everything near after `t`.
 */
import type { SlidingWindowRow } from '../stores/store.js';

export interface SlidingStep<A> {
  readonly start: number;
  /** What the record is added to, or, without `addsRecord`, what is written as it is; null: nothing yet. */
  readonly aggregate: A | null;
  readonly timestamp: number;
  readonly addsRecord: boolean;
  /** Whether the window has no row yet. */
  readonly isNew: boolean;
}

type Rows<A> = readonly SlidingWindowRow<A>[];

/** @param rows those of the key that start from `max(0, timestamp - 2 * difference)` to `timestamp + 1`, ascending */
export function planSlidingSteps<A>(rows: Rows<A>, timestamp: number, difference: number): SlidingStep<A>[] {
  return timestamp < difference ? earlySteps(rows, timestamp) : steps(rows, timestamp, difference);
}

function steps<A>(rows: Rows<A>, timestamp: number, difference: number): SlidingStep<A>[] {
  const plan: SlidingStep<A>[] = [];
  let holding: SlidingWindowRow<A> | null = null;
  let earlier: SlidingWindowRow<A> | null = null;
  let leftExists = false;
  let rightExists = false;
  /** Timestamp of the last record before this one, as far as it matters. */
  let previous: number | null = null;
  for (let i = rows.length - 1; i >= 0; i--) {
    const row = rows[i] as SlidingWindowRow<A>;
    const end = row.windowStart + difference;
    if (row.windowStart === timestamp + 1) rightExists = true;
    else if (end > timestamp) {
      holding ??= row;
      plan.push(update(row));
    } else if (end === timestamp) {
      leftExists = true;
      plan.push(update(row));
      // There was a record of the same time: whatever this one could make is there.
      if (row.timestamp >= timestamp) return plan;
      previous = row.timestamp;
    } else {
      earlier = row;
      previous = row.timestamp;
      break;
    }
  }
  if (previous !== null && previous + 1 + difference >= timestamp && !hasStart(rows, previous + 1)) {
    plan.push(create<A>(previous + 1, null, timestamp));
  }
  if (!leftExists) {
    const reaches = previous !== null && timestamp - difference <= previous;
    plan.push(create(timestamp - difference, reaches && earlier !== null ? earlier.value : null, timestamp));
  }
  if (!rightExists && holding !== null && holding.timestamp > timestamp) plan.push(copy(timestamp + 1, holding));
  return plan;
}

/** Windows can't start before 0: the first ones are one, `[0, difference]`. */
function earlySteps<A>(rows: Rows<A>, timestamp: number): SlidingStep<A>[] {
  const plan: SlidingStep<A>[] = [];
  let combined: SlidingWindowRow<A> | null = null;
  let holding: SlidingWindowRow<A> | null = null;
  let rightExists = false;
  let previous: number | null = null;
  for (let i = 0; i < rows.length; i++) {
    const row = rows[i] as SlidingWindowRow<A>;
    if (row.windowStart === 0) {
      combined = row;
      if (row.timestamp < timestamp) previous = row.timestamp;
    } else if (row.windowStart <= timestamp) {
      holding = row;
      plan.push(update(row));
    } else rightExists = true;
  }
  if (holding === null && combined !== null && combined.timestamp > timestamp) holding = combined;
  if (!rightExists && holding !== null && holding.timestamp > timestamp) plan.push(copy(timestamp + 1, holding));
  if (previous !== null && !hasStart(rows, previous + 1)) plan.push(create<A>(previous + 1, null, timestamp));
  plan.push(combined === null ? create<A>(0, null, timestamp) : update(combined));
  return plan;
}

function hasStart<A>(rows: Rows<A>, start: number): boolean {
  for (let i = 0; i < rows.length; i++) if ((rows[i] as SlidingWindowRow<A>).windowStart === start) return true;
  return false;
}

function update<A>(row: SlidingWindowRow<A>): SlidingStep<A> {
  return { start: row.windowStart, aggregate: row.value, timestamp: row.timestamp, addsRecord: true, isNew: false };
}

function create<A>(start: number, aggregate: A | null, timestamp: number): SlidingStep<A> {
  return { start, aggregate, timestamp, addsRecord: true, isNew: true };
}

function copy<A>(start: number, row: SlidingWindowRow<A>): SlidingStep<A> {
  return { start, aggregate: row.value, timestamp: row.timestamp, addsRecord: false, isNew: true };
}
