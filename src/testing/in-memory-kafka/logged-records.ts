/** Reads a partition's log back as records, for the assertions of tests. */
import type { Headers } from '../../bytes/headers.js';
import type { IsolationLevel } from '../../kafka/port.js';
import { RecordCursor } from '../../kafka/record-batch/record-cursor.js';
import { readWatermarks } from '../../runtime/watermark-record.js';
import type { PartitionLog } from './partition-log.js';

export interface LoggedRecord {
  readonly partition: number;
  readonly offset: number;
  readonly timestamp: number;
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Headers;
}

export function recordsOf(log: PartitionLog, isolation: IsolationLevel): LoggedRecord[] {
  const { topic, partition, logStartOffset } = log;
  const { records, abortedTransactions } = log.read(logStartOffset, isolation, Infinity, true);
  const cursor = new RecordCursor();
  cursor.open(records, { topic, partition, fetchOffset: logStartOffset, isolation, abortedTransactions });
  const read: LoggedRecord[] = [];
  while (cursor.next()) {
    // Watermarks between tasks are no data.
    if (cursor.keyStart < 0 && cursor.valueStart < 0 && readWatermarks(cursor.headers()) !== null) continue;
    const { offset, timestamp, buffer, keyStart, keyEnd, valueStart, valueEnd } = cursor;
    const key = keyStart < 0 ? null : Buffer.from(buffer.subarray(keyStart, keyEnd));
    const value = valueStart < 0 ? null : Buffer.from(buffer.subarray(valueStart, valueEnd));
    read.push({ partition, offset, timestamp, key, value, headers: cursor.headers() });
  }
  return read;
}
