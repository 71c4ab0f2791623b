/**
 * Final results of windows, made from the results on update of the same topology: the last update of each window, once it is closed.
 *
 * A model for sessions and sliding windows, whose set depends on the records; the results on update are held to Kafka Streams by cases of their own.
 */
import type { Json } from '../case.js';

export interface ClosingRule {
  /** A window whose end is below it is closed. */
  readonly closeTime: (streamTime: number) => number;
  /** Sessions leave by end, other windows by start. */
  readonly byEnd: boolean;
}

/** Printed key, printed value, timestamp. */
export type UpdateRow = readonly [string, string | null, number];

interface Row {
  readonly start: number;
  readonly end: number;
  readonly key: Buffer;
  readonly row: UpdateRow;
}

export class FinalResultsFromUpdates {
  readonly #open = new Map<string, Row>();
  #streamTime = -1;

  constructor(private readonly rule: ClosingRule) {}

  /** Rows that a record closes. `updates` are the results on update that it brought; none when it was dropped for its key or value. */
  add(timestamp: number, counts: boolean, updates: readonly UpdateRow[]): Json[][] {
    if (counts) this.#streamTime = Math.max(this.#streamTime, timestamp);
    for (const row of updates) {
      const [, key = '', start, end] = /^\[(.*)@(\d+)\/(\d+)\]$/s.exec(row[0]) ?? [];
      if (row[1] === null) this.#open.delete(row[0]);
      else this.#open.set(row[0], { start: Number(start), end: Number(end), key: Buffer.from(key), row });
    }
    const closeTime = this.rule.closeTime(this.#streamTime);
    const closed = [...this.#open].filter(([, { end }]) => end < closeTime);
    for (const [name] of closed) this.#open.delete(name);
    return closed
      .map(([, row]) => row)
      .sort((a, b) => (this.rule.byEnd ? a.end - b.end : 0) || a.start - b.start || Buffer.compare(a.key, b.key))
      .map(({ row }) => [...row]);
  }
}
