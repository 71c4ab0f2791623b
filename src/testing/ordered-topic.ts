import { readWatermarks } from '../runtime/watermark-record.js';
import type { InMemoryKafka } from './in-memory-kafka/in-memory-kafka.js';
import type { LoggedRecord } from './topic-log.js';

/** A topic of several partitions as one list that only grows: at each look, what is new of each partition comes after what was there. */
export class OrderedTopic {
  private readonly seen: LoggedRecord[] = [];
  private readonly next = new Map<number, number>();

  constructor(private readonly cluster: InMemoryKafka) {}

  records(topic: string): readonly LoggedRecord[] {
    for (const record of this.cluster.records(topic)) {
      const { partition, offset } = record;
      if (offset < (this.next.get(partition) ?? 0)) continue;
      this.next.set(partition, offset + 1);
      // Watermarks between tasks are no data.
      if (record.key === null && record.value === null && readWatermarks(record.headers) !== null) continue;
      this.seen.push(record);
    }
    return this.seen;
  }
}
