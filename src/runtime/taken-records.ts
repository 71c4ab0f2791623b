import type { TakenRecord } from '../processors/taken-record.js';
import { bytesOf, RecordCopy } from './record-copy.js';
import type { TaskRecord } from './task-record.js';

/** What belongs to the record in work, taken along. One that was taken along before keeps what it had. */
export function takenRecord(
  record: TaskRecord,
  keepsSource: boolean,
  time: Pick<TakenRecord, 'streamTime' | 'watermark' | 'call'>,
): TakenRecord {
  const { taken, source, topic, partition, offset, timestamp } = record;
  return {
    topic,
    partition,
    offset,
    call: time.call ?? 0,
    timestamp,
    headers: record.headers(),
    source: keepsSource && source !== null ? (taken?.source ?? RecordCopy.of(source)) : null,
    bytes: taken?.bytes ?? (source === null ? 0 : bytesOf(source)),
    streamTime: taken?.streamTime ?? time.streamTime,
    watermark: taken?.watermark ?? time.watermark,
  };
}
