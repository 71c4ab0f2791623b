/**
 * A slow model of final results of time windows: a plain list of open windows that says after each which windows have closed.
 *
 * Kafka Streams loses closed windows when stream time jumps past the store's retention before they were emitted (see
 * `cases/kafka-streams/divergences.json`). For such cases the complete result is this one.
 */
import type { Json } from '../case.js';

export interface FinalResultsOptions {
  readonly size: number;
  readonly advance: number;
  readonly grace: number;
  /** The aggregate after a value; null before the first, and again when the row is deleted. */
  readonly next: (aggregate: string | null, value: string | null) => string | null;
}

interface Window {
  readonly key: string;
  readonly start: number;
  aggregate: string | null;
  timestamp: number;
}

export class FinalResults {
  private open: Window[] = [];
  private streamTime = -1;

  constructor(private readonly options: FinalResultsOptions) {}

  /** Rows `[key, value, timestamp]` that a record closes. */
  add(key: string | null, value: string | null, timestamp: number): Json[][] {
    if (key === null) return [];
    const { size, advance, grace, next } = this.options;
    this.streamTime = Math.max(this.streamTime, timestamp);
    const isClosed = (start: number): boolean => start + size <= this.streamTime - grace;
    const first = Math.max(0, Math.floor((timestamp - size) / advance) * advance);
    for (let start = first; start <= timestamp; start += advance) {
      if (timestamp >= start + size || isClosed(start)) continue;
      let window = this.open.find((candidate) => candidate.key === key && candidate.start === start);
      if (window === undefined) this.open.push((window = { key, start, aggregate: null, timestamp }));
      window.timestamp = window.aggregate === null ? timestamp : Math.max(window.timestamp, timestamp);
      window.aggregate = next(window.aggregate, value);
    }
    const closed = this.open.filter(({ start, aggregate }) => isClosed(start) && aggregate !== null);
    this.open = this.open.filter(({ start }) => !isClosed(start));
    closed.sort((a, b) => a.start - b.start || Buffer.compare(Buffer.from(a.key), Buffer.from(b.key)));
    return closed.map((window) => [`[${window.key}@${window.start}/${window.start + size}]`, window.aggregate, window.timestamp]);
  }
}
