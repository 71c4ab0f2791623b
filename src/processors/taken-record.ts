/** What belongs to a record beside its key and value, taken along by an operator that goes on with it after `process` has returned. */
import type { Headers } from '../bytes/headers.js';

export interface TakenRecord {
  /** null for a record born of a timer. */
  readonly topic: string | null;
  readonly partition: number;
  readonly offset: number;
  /** Which call of the operator within that record it was taken in, from 0. Not kept with the record when that is stored. */
  readonly call?: number;
  /** Of the record that was read, ms. */
  readonly timestamp: number;
  readonly headers: Headers;
  /** The record as it was read, for the dead-letter topic; null when there is no such topic or the record was not read. */
  readonly source: SourceCopy | null;
  /** Bytes of key and value as read. */
  readonly bytes: number;
  /** Stream time and watermark before the record came: those that follow the operator may not pass these while the record is unfinished. */
  readonly streamTime: number;
  readonly watermark: number;
}

export interface SourceCopy {
  readonly key: Buffer | null;
  readonly value: Buffer | null;
  readonly headers: Headers;
}
