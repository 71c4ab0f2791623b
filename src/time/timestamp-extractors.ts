/** The timestamp extractors that come with the library, named after Kafka Streams'. Source nodes call them once a record. */
import { MillraceError } from '../errors.js';
import type { ExtractableRecord, TimestampExtractor } from './timestamp-extractor.js';

/** The record's own timestamp; a negative one fails the record with MILL_INVALID_TIMESTAMP. The default. */
export const failOnInvalidTimestamp: TimestampExtractor = Object.freeze({
  name: 'failOnInvalidTimestamp',
  extract(record: ExtractableRecord): number {
    if (record.timestamp < 0) {
      throw invalid(
        record,
        'Records of producers older than 0.10 have none; use logAndSkipOnInvalidTimestamp or usePartitionTimeOnInvalidTimestamp.',
      );
    }
    return record.timestamp;
  },
});

/** The record's own timestamp; a record with a negative one is dropped, counted and logged. */
export const logAndSkipOnInvalidTimestamp: TimestampExtractor = Object.freeze({
  name: 'logAndSkipOnInvalidTimestamp',
  extract: (record: ExtractableRecord): number => (isTime(record.timestamp) ? record.timestamp : -1),
});

/**
 * The record's own timestamp, or in place of a negative one the highest timestamp that the partition has given so far.
 * Fails with MILL_INVALID_TIMESTAMP when the partition has given none.
 */
export const usePartitionTimeOnInvalidTimestamp: TimestampExtractor = Object.freeze({
  name: 'usePartitionTimeOnInvalidTimestamp',
  extract(record: ExtractableRecord, partitionTime: number): number {
    if (isTime(record.timestamp)) return record.timestamp;
    if (partitionTime < 0) throw invalid(record, 'No earlier record of the partition has a timestamp to use instead.');
    return partitionTime;
  },
});

/** The time at which the record is processed, whatever the record says. `now` gives whole milliseconds since the epoch. */
export function wallclockTimestamp(now: () => number = Date.now): TimestampExtractor {
  return Object.freeze({ name: 'wallclockTimestamp', extract: (): number => now() });
}

/** A broker also keeps times that no number holds exactly. */
function isTime(timestamp: number): boolean {
  return timestamp >= 0 && Number.isSafeInteger(timestamp);
}

function invalid(record: ExtractableRecord, hint: string): MillraceError {
  return new MillraceError(
    'MILL_INVALID_TIMESTAMP',
    `Topic ${record.topic}, partition ${record.partition}, offset ${record.offset}: the timestamp is ${record.timestamp}. ${hint}`,
    { details: { topic: record.topic, partition: record.partition, offset: record.offset, timestamp: record.timestamp } },
  );
}
