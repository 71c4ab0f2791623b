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
