/** Answers one query from one partition: a value at once, or sources of rows opened at once. Nothing here waits, so all partitions answer as of one moment. */
import { MillraceError } from '../errors.js';
import type { Entry } from '../stores/entry.js';
import { between } from '../stores/reading/entry-readers.js';
import type { SessionReader, SlidingWindowReader } from '../stores/reading/entry-readers.js';
import type { AsOf } from '../stores/reading/row-reader.js';
import type { KeyBounds, StoreReader, TimeBounds } from '../stores/reading/store-reader.js';
import type { WindowReader } from '../stores/reading/window-reader.js';
import type { PlacedRow } from '../stores/reading/row-scan.js';
import type { StoreKind } from '../stores/store.js';
import { decodeCursor, elementsOf } from './element-source.js';
import type { Element, ElementSource } from './element-source.js';
import type { KeyRangeOptions, PageOptions, QueryBody, QueryKind, TimeRangeOptions } from './query.js';
import type { KeyValueRow, SessionWindowRow, WindowRow } from './rows.js';

export type Answer =
  { readonly kind: 'value'; readonly value: unknown } | { readonly kind: 'rows'; readonly sources: readonly ElementSource<unknown>[] };

/** Kinds of stores that answer a kind of query. */
const answeredBy: Readonly<Record<QueryKind, readonly StoreKind[]>> = {
  key: ['keyValue', 'timestampedKeyValue'],
  timestampedKey: ['timestampedKeyValue'],
  range: ['keyValue', 'timestampedKeyValue'],
  window: ['window', 'timestampedWindow', 'slidingWindow'],
  windowKey: ['window', 'timestampedWindow', 'slidingWindow'],
  windowRange: ['window', 'timestampedWindow', 'slidingWindow'],
  session: ['session'],
  sessionKey: ['session'],
  sessionRange: ['session'],
  versionedKey: ['versioned'],
  versionHistory: ['versioned'],
};

export function answers(query: QueryKind, store: StoreKind): boolean {
  return answeredBy[query].includes(store);
}

/** `store` must be of a kind that answers the query. Errors: MILL_SERDE for a key that the store's serde does not take, MILL_QUERY_INVALID. */
export function answerQuery(query: QueryBody, store: StoreKind, reader: StoreReader, asOf: AsOf, partition: number): Answer {
  const timestamped = store !== 'keyValue' && store !== 'window';
  switch (query.kind) {
    case 'key':
      return value(reader.kind === 'keyValue' ? (reader.get(query.key, asOf)?.value ?? null) : null);
    case 'timestampedKey':
      return value(reader.kind === 'keyValue' ? reader.get(query.key, asOf) : null);
    case 'range':
      if (reader.kind !== 'keyValue') break;
      return rows(
        reader
          .scan(boundsOf(query.options), isReverse(query.options), startOf(query.options), asOf)
          .map((scan) => elementsOf(scan, partition, (row) => [{ time: 0, second: 0, row: keyValueRow(row, timestamped) }])),
      );
    case 'window':
      if (reader.kind === 'window') return value(reader.get(query.key, query.start, asOf)?.value ?? null);
      if (reader.kind !== 'slidingWindow') break;
      return value(reader.entriesOf(query.key, { from: query.start, to: query.start }, asOf)[0]?.value ?? null);
    case 'windowKey':
      if (reader.kind === 'window') {
        const { options } = query;
        return windowRows(reader, reader.windowsOf(query.key, timesOf(options), isReverse(options), asOf), partition, timestamped);
      }
      if (reader.kind !== 'slidingWindow') break;
      return rows([
        entriesSource(query.key, reader.entriesOf(query.key, timesOf(query.options), asOf), partition, query.options, (entry) =>
          slidingRow(reader, query.key, entry),
        ),
      ]);
    case 'windowRange': {
      const { options } = query;
      const keys = boundsOf(options.keys ?? {});
      if (reader.kind === 'window') {
        const scans = reader.scan(keys, timesOf(options), isReverse(options), startOf(options), asOf);
        return windowRows(reader, scans, partition, timestamped);
      }
      if (reader.kind !== 'slidingWindow') break;
      return rows(
        reader
          .scan(keys, timesOf(options), isReverse(options), startOf(options), asOf)
          .map((scan) =>
            elementsOf(scan, partition, (row) =>
              entryParts(row, visible(reader, timesOf(options), asOf), options, (entry) => slidingRow(reader, row.key, entry)),
            ),
          ),
      );
    }
    case 'session':
      if (reader.kind !== 'session') break;
      return value(
        reader.entriesOf(query.key, { from: query.end, to: query.end }, asOf).find(({ second }) => second === query.start)?.value ?? null,
      );
    case 'sessionKey': {
      if (reader.kind !== 'session') break;
      const { from, to } = timesOf(query.options);
      const overlapping = reader.entriesOf(query.key, { from, to: Infinity }, asOf).filter(({ second }) => second <= to);
      return rows([entriesSource(query.key, overlapping, partition, query.options, (entry) => sessionRow(query.key, entry))]);
    }
    case 'sessionRange': {
      if (reader.kind !== 'session') break;
      const { options } = query;
      const { from, to } = timesOf(options);
      const ends = { from, to: Infinity };
      return rows(
        reader
          .scan(boundsOf(options.keys ?? {}), ends, isReverse(options), startOf(options), asOf)
          .map((scan) =>
            elementsOf(scan, partition, (row) =>
              entryParts(row, visible(reader, ends, asOf), options, (entry) => sessionRow(row.key, entry)).filter(
                (part) => part.second <= to,
              ),
            ),
          ),
      );
    }
    case 'versionedKey':
      if (reader.kind !== 'versioned') break;
      return value(reader.get(query.key, query.asOf, asOf));
    case 'versionHistory': {
      if (reader.kind !== 'versioned') break;
      const found = reader.history(query.key, { from: query.from, to: query.to }, asOf);
      return value(query.ascending ? found.reverse() : found);
    }
  }
  throw new MillraceError('MILL_STORE_WRONG_TYPE', `A store of kind ${store} does not answer ${query.kind} queries`, {
    details: { kind: store, query: query.kind },
  });
}

function value(found: unknown): Answer {
  return { kind: 'value', value: found };
}

function rows(sources: readonly ElementSource<unknown>[]): Answer {
  return { kind: 'rows', sources };
}

type Part = Pick<Element<unknown>, 'time' | 'second' | 'row'>;

function windowRows(
  reader: WindowReader<unknown, unknown>,
  scans: ReturnType<WindowReader<unknown, unknown>['scan']>,
  partition: number,
  timestamped: boolean,
): Answer {
  const rowOf = ({ key, start, value, timestamp }: PlacedRow<unknown, unknown>): WindowRow<unknown, unknown> => ({
    key,
    start,
    end: start + reader.windowSize,
    value,
    timestamp: timestamped ? timestamp : null,
  });
  return rows(scans.map((scan) => elementsOf(scan, partition, (row) => [{ time: 0, second: 0, row: rowOf(row) }])));
}

/** What is read at once needs no scan. */
function entriesSource(
  key: unknown,
  entries: readonly Entry<unknown>[],
  partition: number,
  options: PageOptions,
  rowOf: (entry: Entry<unknown>) => unknown,
): ElementSource<unknown> {
  // One key: its order among keys does not matter, but a cursor must not depend on it.
  const elements = entries.map((entry) => ({ order: '', partition, time: entry.time, second: entry.second, row: rowOf(entry) }));
  let page = isReverse(options) ? elements.reverse() : elements;
  return {
    next: async () => {
      const next = page;
      page = [];
      return next;
    },
    close: async () => undefined,
  };
}

function entryParts(
  row: PlacedRow<unknown, Entry<unknown>[]>,
  times: TimeBounds,
  options: PageOptions,
  rowOf: (entry: Entry<unknown>) => unknown,
): Part[] {
  const parts = between(row.value, times.from, times.to).map((entry) => ({ time: entry.time, second: entry.second, row: rowOf(entry) }));
  return isReverse(options) ? parts.reverse() : parts;
}

/** Segments hold entries that have expired, too. */
function visible(
  reader: SessionReader<unknown, unknown> | SlidingWindowReader<unknown, unknown>,
  { from, to }: TimeBounds,
  asOf: AsOf,
): TimeBounds {
  return { from: Math.max(from, reader.firstLive(asOf)), to };
}

function keyValueRow({ key, value, timestamp }: PlacedRow<unknown, unknown>, timestamped: boolean): KeyValueRow<unknown, unknown> {
  return { key, value, timestamp: timestamped ? timestamp : null };
}

function slidingRow(
  { windowSize }: SlidingWindowReader<unknown, unknown>,
  key: unknown,
  { time, value, timestamp }: Entry<unknown>,
): WindowRow<unknown, unknown> {
  return { key, start: time, end: time + windowSize, value, timestamp };
}

function sessionRow(key: unknown, { time, second, value }: Entry<unknown>): SessionWindowRow<unknown, unknown> {
  return { key, start: second, end: time, value };
}

function boundsOf({ from, to, prefix }: KeyRangeOptions<unknown>): KeyBounds<unknown> {
  return { from, to, ...(prefix !== undefined && { prefix: typeof prefix === 'string' ? Buffer.from(prefix) : prefix }) };
}

function timesOf({ from = -Infinity, to = Infinity }: TimeRangeOptions): TimeBounds {
  return { from, to };
}

function isReverse({ reverse = false }: PageOptions): boolean {
  return reverse;
}

function startOf({ after }: PageOptions): string | null {
  return after === undefined ? null : decodeCursor(after).order;
}
