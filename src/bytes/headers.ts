import { isBytes } from './is-bytes.js';

/** One record header. The key is UTF-8 text and never null; the value may be. */
export interface Header {
  /** Not unique in a record. */
  readonly key: string;
  readonly value: Buffer | null;
}

/** Headers of a record in the order in which they were added; a key may appear more than once. */
export type Headers = readonly Header[];

/** The one empty list, shared so that records without headers cost nothing. */
export const noHeaders: Headers = Object.freeze([]);

/** What is wrong with headers that a user gave; null when nothing is. */
export function headersFault(headers: unknown): string | null {
  if (!Array.isArray(headers)) return `headers must be an array of { key, value }, not ${shown(headers)}`;
  for (const header of headers as readonly (Partial<Header> | null | undefined)[]) {
    if (typeof header !== 'object' || header === null) return `a header must be an object of key and value, not ${shown(header)}`;
    const { key, value } = header as { readonly key?: unknown; readonly value?: unknown };
    if (typeof key !== 'string') return `the key of a header must be a string, not ${shown(key)}`;
    if (value !== null && !isBytes(value)) return `the value of header ${key} must be a Buffer or null, not ${shown(value)}`;
  }
  return null;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return 'a string';
  if (typeof value !== 'object' || value === null) return String(value);
  return Array.isArray(value) ? 'an array' : 'an object';
}
