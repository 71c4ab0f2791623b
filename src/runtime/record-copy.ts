import type { Headers } from '../bytes/headers.js';
import type { SourceCopy } from '../processors/taken-record.js';

/** Key, value and headers of an input record as they were read: a cursor on it, or a copy. A part is absent when its start is negative. */
export interface SourceBytes {
  readonly buffer: Buffer;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;
  headers(): Headers;
}

/** A record that is no longer under its cursor. */
export class RecordCopy implements SourceBytes {
  readonly buffer: Buffer;
  readonly keyStart: number;
  readonly keyEnd: number;
  readonly valueStart: number;
  readonly valueEnd: number;

  constructor(private readonly copy: SourceCopy) {
    const { key, value } = copy;
    this.buffer = Buffer.concat([key ?? empty, value ?? empty]);
    this.keyEnd = key?.length ?? 0;
    this.keyStart = key === null ? -1 : 0;
    this.valueStart = value === null ? -1 : this.keyEnd;
    this.valueEnd = this.buffer.length;
  }

  headers(): Headers {
    return this.copy.headers;
  }

  static of(source: SourceBytes): SourceCopy {
    const part = (start: number, end: number): Buffer | null => (start < 0 ? null : Buffer.from(source.buffer.subarray(start, end)));
    return {
      key: part(source.keyStart, source.keyEnd),
      value: part(source.valueStart, source.valueEnd),
      headers: source.headers(),
    };
  }
}

/** Bytes of key and value. */
export function bytesOf({ keyStart, keyEnd, valueStart, valueEnd }: SourceBytes): number {
  return (keyStart < 0 ? 0 : keyEnd - keyStart) + (valueStart < 0 ? 0 : valueEnd - valueStart);
}

const empty = Buffer.alloc(0);
