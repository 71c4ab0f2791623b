/**
 * What user functions are told of the record they work on, beside its key and value.
 *
 * One object an operator, changed in place for each record: nothing is allocated on the record path. A function that keeps anything of
 * it beyond its own end must copy the fields.
 */
import type { Headers } from '../bytes/headers.js';
import type { RecordContext } from './operator.js';

/** Where the record in work came from, and its time. One object, used again for each record: copy what you keep. */
export interface RecordMeta {
  /** Topic the record was read from, repartition topics included; null for a record born of a timer. */
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  /** Milliseconds since the epoch: the record's own, or what an operator before made of it (aggregates carry the highest so far). */
  readonly timestamp: number;
  /** Decoded when asked for. */
  headers(): Headers;
}

export class RecordMetaView implements RecordMeta {
  timestamp = -1;

  constructor(private readonly record: RecordContext) {}

  get topic(): string | null {
    return this.record.topic;
  }

  get partition(): number {
    return this.record.partition;
  }

  get offset(): number {
    return this.record.offset;
  }

  headers(): Headers {
    return this.record.headers();
  }
}
