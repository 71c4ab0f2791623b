/** How much time the rows of a segment span, and what else of a spec decides where rows lie. Rows of another layout are useless: the store is restored anew. */
import type { StoreSpec } from './store.js';

const second = 1000;
const minute = 60 * second;

/** Milliseconds; 0 for kinds without segments. */
export function segmentIntervalOf(spec: StoreSpec): number {
  switch (spec.kind) {
    case 'session':
    case 'slidingWindow':
    case 'joinWindow':
      return listInterval(spec.retention ?? 0);
    case 'versioned':
      return spec.segmentInterval ?? versionedInterval(spec.historyRetention ?? 0);
    default:
      return 0;
  }
}

export function layoutOf(spec: StoreSpec): string {
  if (spec.kind === 'timeOrderedBuffer') return spec.byKey === true ? 'byKey' : 'byTime';
  const interval = segmentIntervalOf(spec);
  return interval === 0 ? '' : `segments:${interval}`;
}

/**
 * A row is read and written whole, so segments should be short; a read over the whole retention asks every segment for the key, so there should be few.
 * One up to a minute, where rows stay short whatever comes; four for longer retentions, at most sixteen for long ones.
 */
function listInterval(retention: number): number {
  return Math.max(second, Math.min(retention, minute), Math.ceil(retention / 16), Math.min(Math.ceil(retention / 4), 10 * minute));
}

/** As Kafka Streams' `RocksDbVersionedKeyValueBytesStoreSupplier`: it decides how long range queries still see versions past the history. */
function versionedInterval(history: number): number {
  if (history <= minute) return Math.max(Math.floor(history / 3), 2 * second);
  if (history <= 5 * minute) return Math.max(Math.floor(history / 5), 20 * second);
  if (history <= 60 * minute) return Math.max(Math.floor(history / 12), minute);
  return Math.max(Math.floor(history / 24), 5 * minute);
}
