/** Rows on their way to a `QueryIterator`: each with its place, which orders the rows of all partitions and lets a later query go on from it. */
import { MillraceError } from '../errors.js';
import type { PlacedRow, RowScan } from '../stores/reading/row-scan.js';

export interface Element<T> {
  /** Key bytes (windows: start and key bytes) as a latin1 string. */
  readonly order: string;
  readonly partition: number;
  /** Tell the entries of one key apart in stores whose rows are lists; 0 elsewhere. */
  readonly time: number;
  readonly second: number;
  readonly row: T;
}

export interface ElementSource<T> {
  /** None at the end. */
  next(): Promise<readonly Element<T>[]>;
  close(): Promise<void>;
}

/** One scan as a source; `expand` gives the elements of a row, none if it has nothing to show. */
export function elementsOf<K, R, T>(
  scan: RowScan<K, R>,
  partition: number,
  expand: (row: PlacedRow<K, R>) => readonly Pick<Element<T>, 'time' | 'second' | 'row'>[],
): ElementSource<T> {
  return {
    next: async () => {
      for (;;) {
        const page = await scan.next();
        if (page.length === 0) return [];
        const elements = page.flatMap((row) => expand(row).map((part): Element<T> => ({ ...part, order: row.order, partition })));
        if (elements.length > 0) return elements;
      }
    },
    close: () => scan.close(),
  };
}

export function compareElements(a: Element<unknown>, b: Element<unknown>): number {
  if (a.order !== b.order) return a.order < b.order ? -1 : 1;
  return a.partition - b.partition || a.time - b.time || a.second - b.second;
}

export function encodeCursor({ order, partition, time, second }: Element<unknown>): string {
  return Buffer.from(JSON.stringify([order, partition, time, second])).toString('base64url');
}

/** @throws MILL_QUERY_INVALID */
export function decodeCursor(cursor: string): Element<unknown> {
  try {
    const parts: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString());
    if (Array.isArray(parts)) {
      const [order, partition, time, second] = parts as readonly unknown[];
      if (typeof order === 'string' && typeof partition === 'number' && typeof time === 'number' && typeof second === 'number') {
        return { order, partition, time, second, row: null };
      }
    }
  } catch {
    // Said below.
  }
  throw new MillraceError('MILL_QUERY_INVALID', 'The cursor of the query is none that a query has given.');
}
