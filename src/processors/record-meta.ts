/**
 * What user functions are told of the record they work on, beside its key and value.
 *
 * One object an operator, changed in place for each record: nothing is allocated on the record path. A function that keeps anything of
 * it beyond its own end must copy the fields.
 */
import type { Headers } from '../bytes/headers.js';
import type { RecordContext } from './operator.js';

/**
 * Where the record in work came from, and its time. One object, used again for each record: copy what you keep, as in `{ ...meta }`. A copy has the fields and no `headers()`, which would give those of
 * whatever record is in work then; keep what it gives. As a type it is a class, which has TypeScript say the same of the copy.
 */
export abstract class RecordMeta {
  /** Topic the record was read from, repartition topics included; null for a record born of a timer. */
  abstract readonly topic: string | null;
  abstract readonly partition: number;
  abstract readonly offset: number;
  /** Milliseconds since the epoch: the record's own, or what an operator before made of it (aggregates carry the highest so far). */
  abstract readonly timestamp: number;
  /** Decoded when asked for. */
  abstract headers(): Headers;
}

/** Fields of its own and nothing else that can be listed: copies and JSON have them, and never the engine's record. */
export class RecordMetaView extends RecordMeta {
  topic: string | null = null;
  partition = -1;
  offset = -1;
  timestamp = -1;
  readonly #record: RecordContext;

  constructor(record: RecordContext) {
    super();
    this.#record = record;
  }

  /** As of the record in work. Called before each call of a user function. */
  enter(timestamp: number): void {
    const { topic, partition, offset } = this.#record;
    this.topic = topic;
    this.partition = partition;
    this.offset = offset;
    this.timestamp = timestamp;
  }

  headers(): Headers {
    return this.#record.headers();
  }
}

/** Of one record for good. */
export class FixedRecordMeta extends RecordMeta {
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  readonly #headers: Headers;

  /** @param timestamp ms; that of its results, which may be another one than the record's own */
  constructor(
    { topic, partition, offset, headers }: Pick<RecordContext, 'topic' | 'partition' | 'offset'> & { readonly headers: Headers },
    readonly timestamp: number,
  ) {
    super();
    this.topic = topic;
    this.partition = partition;
    this.offset = offset;
    this.#headers = headers;
  }

  headers(): Headers {
    return this.#headers;
  }
}
