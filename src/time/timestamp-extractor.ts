import { objectWith } from '../errors/checked-options.js';

/** Where a record's time comes from. */
export interface TimestampExtractor {
  /** Shown in `topology.describe()` and in errors. */
  readonly name: string;
  /**
   * Whole milliseconds since the epoch. `partitionTime` is the highest timestamp the partition has given so far, -1 at first.
   * A negative answer drops the record (counted). Any other one, a fraction, a Date or nothing, stops the task with MILL_PROCESSING, like an error of the extractor.
   */
  extract(record: ExtractableRecord, partitionTime: number): number;
}

/** The check of an option that is one. */
export const timestampExtractorOption = objectWith('a timestamp extractor, such as wallclockTimestamp()', 'extract');

/** What an extractor sees of a record, decoded. */
export interface ExtractableRecord {
  readonly key: unknown;
  readonly value: unknown;
  /** The record's own timestamp (create time or log-append time). */
  readonly timestamp: number;
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}
