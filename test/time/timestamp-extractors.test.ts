import { describe, expect, it } from '@jest/globals';
import {
  failOnInvalidTimestamp,
  logAndSkipOnInvalidTimestamp,
  usePartitionTimeOnInvalidTimestamp,
  wallclockTimestamp,
} from '../../src/time/timestamp-extractors.js';

const record = (timestamp: number) => ({ key: 'k', value: 'v', timestamp, topic: 't', partition: 3, offset: 7 });

describe('timestamp extractors', () => {
  it('all but the wall clock give the record’s own timestamp when it has one', () => {
    for (const extractor of [failOnInvalidTimestamp, logAndSkipOnInvalidTimestamp, usePartitionTimeOnInvalidTimestamp]) {
      expect(extractor.extract(record(42), 99)).toBe(42);
    }
  });

  it('failOnInvalidTimestamp names topic, partition and offset', () => {
    expect(() => failOnInvalidTimestamp.extract(record(-1), 99)).toThrow(
      expect.objectContaining({ code: 'MILL_INVALID_TIMESTAMP', message: expect.stringContaining('Topic t, partition 3, offset 7') }),
    );
  });

  it('logAndSkipOnInvalidTimestamp lets the record be dropped', () => {
    expect(logAndSkipOnInvalidTimestamp.extract(record(-1), 99)).toBeLessThan(0);
  });

  it('usePartitionTimeOnInvalidTimestamp takes the partition’s time', () => {
    expect(usePartitionTimeOnInvalidTimestamp.extract(record(-1), 99)).toBe(99);
  });

  it('usePartitionTimeOnInvalidTimestamp fails when the partition has none', () => {
    expect(() => usePartitionTimeOnInvalidTimestamp.extract(record(-1), -1)).toThrow(
      expect.objectContaining({ code: 'MILL_INVALID_TIMESTAMP' }),
    );
  });

  it('wallclockTimestamp gives the clock’s time', () => {
    expect(wallclockTimestamp(() => 1234).extract(record(42), 99)).toBe(1234);
  });
});
