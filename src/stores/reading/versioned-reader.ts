import type { VersionedRecord } from '../store.js';
import { versionAsOf, versionsBetween } from '../version-lookup.js';
import type { VersionSource } from '../version-lookup.js';
import type { Version, VersionRun } from '../version-run.js';
import type { VersionedState } from '../versioned-state.js';
import { RowReader } from './row-reader.js';
import type { AsOf } from './row-reader.js';
import type { TimeBounds } from './store-reader.js';

/** Reads `versioned` stores. */
export class VersionedReader<K, V> {
  readonly kind = 'versioned';
  readonly rows: RowReader<K, VersionRun<V>>;

  constructor(private readonly state: VersionedState<K, V>) {
    this.rows = new RowReader(state);
  }

  /** The version valid at `time`; Infinity: the latest. */
  get(key: K, time: number, asOf: AsOf): VersionedRecord<V> | null {
    return versionAsOf(this.source(asOf), key, time);
  }

  /** Versions valid at some time of the range, newest first. */
  history(key: K, times: TimeBounds, asOf: AsOf): VersionedRecord<V>[] {
    return versionsBetween(this.source(asOf), key, times.from, times.to);
  }

  private source(asOf: AsOf): VersionSource<K, V> {
    const { state, rows } = this;
    state.assertOpen();
    return {
      latestOf: (key): Version<V> | null => rows.find(state.latest, key, asOf)?.value.versions[0] ?? null,
      runOf: (key, segment) => {
        const table = state.tables.get(segment);
        return table === undefined ? null : (rows.find(table, key, asOf)?.value ?? null);
      },
      segments: state.segments,
      segmentOf: (time) => state.segmentOf(time),
      historyStart: rows.marks(asOf).observed - state.historyRetention,
    };
  }
}
