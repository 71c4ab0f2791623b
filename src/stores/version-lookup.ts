/** Look-ups in versions of a key that lie in a latest row and in segments, for the store itself and for readers of an earlier state of it. */
import type { VersionedRecord } from './store.js';
import type { Version, VersionRun } from './version-run.js';

export interface VersionSource<K, V> {
  /** The newest version, never a tombstone. */
  latestOf(key: K): Version<V> | null;
  /** What the key has in the segment. */
  runOf(key: K, segment: number): VersionRun<V> | null;
  /** Ascending starts. */
  readonly segments: readonly number[];
  segmentOf(time: number): number;
  /** Earliest time of the history. */
  readonly historyStart: number;
}

export function latestVersion<K, V>(source: VersionSource<K, V>, key: K, asOf: number): VersionedRecord<V> | null {
  const version = source.latestOf(key);
  return version === null || version.from > asOf ? null : { value: version.value as V, timestamp: version.from, validTo: null };
}

export function versionAsOf<K, V>(source: VersionSource<K, V>, key: K, asOf: number): VersionedRecord<V> | null {
  const latest = latestVersion(source, key, asOf);
  if (latest !== null || asOf < source.historyStart) return latest;
  const { segments } = source;
  for (let i = segments.length - 1; i >= 0 && (segments[i] as number) >= source.segmentOf(asOf); i--) {
    const run = source.runOf(key, segments[i] as number);
    if (run === null || run.first > asOf) continue;
    if (run.next <= asOf) return null;
    return recordAt(run, run.indexAt(asOf));
  }
  return null;
}

/** Versions valid at some time in [from, to], newest first. */
export function versionsBetween<K, V>(source: VersionSource<K, V>, key: K, from: number, to: number): VersionedRecord<V>[] {
  const found: VersionedRecord<V>[] = [];
  const latest = latestVersion(source, key, to);
  if (latest !== null) found.push(latest);
  if (to < source.historyStart) return found;
  const { segments } = source;
  const oldest = source.segmentOf(source.historyStart);
  for (let i = segments.length - 1; i >= 0 && (segments[i] as number) >= oldest; i--) {
    const run = source.runOf(key, segments[i] as number);
    if (run === null) continue;
    for (let j = run.versions.length - 1; j >= 0; j--) {
      if ((run.versions[j] as Version<V>).from > to || run.validTo(j) <= from) continue;
      const record = recordAt(run, j);
      if (record !== null) found.push(record);
    }
  }
  return found;
}

function recordAt<V>(run: VersionRun<V>, index: number): VersionedRecord<V> | null {
  const { from, value } = run.versions[index] as Version<V>;
  return value === null ? null : { value, timestamp: from, validTo: run.validTo(index) };
}
