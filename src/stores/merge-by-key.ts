/** Scans of several tables, each in order of key bytes, as one: each key once with its values, those of earlier scans first. */
import type { ScannedRow } from './table-scan.js';

interface Cursor<K, R> {
  readonly pages: AsyncGenerator<ScannedRow<K, R>[], undefined>;
  page: readonly ScannedRow<K, R>[];
  at: number;
  order: string;
}

export async function* mergeByKey<K, R>(
  scans: readonly AsyncGenerator<ScannedRow<K, R>[], undefined>[],
  orderOf: (key: K) => string,
): AsyncGenerator<readonly [K, readonly R[]], undefined> {
  const cursors: Cursor<K, R>[] = scans.map((pages) => ({ pages, page: [], at: -1, order: '' }));
  try {
    let open: Cursor<K, R>[] = [];
    for (const cursor of cursors) if (await advance(cursor, orderOf)) open.push(cursor);
    while (open.length > 0) {
      const order = open.reduce((least, cursor) => (cursor.order < least ? cursor.order : least), (open[0] as Cursor<K, R>).order);
      const here = open.filter((cursor) => cursor.order === order);
      const rows = here.map((cursor) => cursor.page[cursor.at] as ScannedRow<K, R>);
      yield [(rows[0] as ScannedRow<K, R>).key, rows.map((row) => row.value)];
      const ended = new Set<Cursor<K, R>>();
      for (const cursor of here) if (!(await advance(cursor, orderOf))) ended.add(cursor);
      if (ended.size > 0) open = open.filter((cursor) => !ended.has(cursor));
    }
  } finally {
    for (const { pages } of cursors) await pages.return(undefined);
  }
}

async function advance<K, R>(cursor: Cursor<K, R>, orderOf: (key: K) => string): Promise<boolean> {
  cursor.at++;
  while (cursor.at >= cursor.page.length) {
    const next = await cursor.pages.next();
    if (next.done === true) return false;
    cursor.page = next.value;
    cursor.at = 0;
  }
  cursor.order = orderOf((cursor.page[cursor.at] as ScannedRow<K, R>).key);
  return true;
}
