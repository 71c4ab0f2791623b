/**
 * Incremental clean-up of keyed state (Flink's `cleanupIncrementally`): rows whose time is over and that nobody touches leave the store and its changelog all the same.
 *
 * Each access of the state, or each record, earns so many rows to be looked at; they are looked at when the epoch ends, on and on through the state. So the work of an epoch is bounded by
 * what it has done, and a state that nobody uses stays as it is.
 */
import type { TimestampedKeyValueStore } from '../../stores/store.js';
import type { ListRow, MapRow, StateRow, ValueRow } from './keyed-state-backend.js';
import { partPlace } from './row-parts.js';
import { statePrefix, type StateAddress } from './state-address.js';
import type { AnyStateDescriptor } from './state-descriptor.js';
import type { StoredRow } from './state-row-serde.js';
import { TtlPolicy } from './state-ttl.js';

/** Rows looked at in one epoch. */
const mostRows = 10_000;

export class ExpiredRows {
  private readonly ttl: TtlPolicy;
  private readonly rowsAnAccess: number;
  private readonly rowsARecord: number;
  private earned = 0;
  /** Where to go on; null at the beginning. */
  private cursor: StateAddress | null = null;

  private constructor(
    private readonly state: string,
    descriptor: AnyStateDescriptor,
    private readonly store: TimestampedKeyValueStore<StateAddress, StoredRow>,
    private readonly timestamp: () => number,
    clock: () => number,
  ) {
    const { size = 0, runForEveryRecord = false } = descriptor.ttl?.cleanupIncrementally ?? {};
    this.ttl = new TtlPolicy(descriptor.ttl, clock);
    this.rowsAnAccess = size;
    this.rowsARecord = runForEveryRecord ? size : 0;
  }

  /** Those of the states that are to be cleaned up. */
  static of(
    descriptors: readonly AnyStateDescriptor[],
    store: TimestampedKeyValueStore<StateAddress, StoredRow>,
    timestamp: () => number,
    clock: () => number,
  ): ReadonlyMap<string, ExpiredRows> {
    const cleaned = descriptors.filter(({ ttl }) => ttl?.cleanupIncrementally !== undefined && ttl.update !== 'disabled');
    return new Map(cleaned.map((descriptor) => [descriptor.name, new ExpiredRows(descriptor.name, descriptor, store, timestamp, clock)]));
  }

  accessed(): void {
    this.earned += this.rowsAnAccess;
  }

  recordCame(): void {
    this.earned += this.rowsARecord;
  }

  /** At the end of an epoch. */
  async clean(): Promise<void> {
    const most = Math.min(this.earned, mostRows);
    this.earned = 0;
    if (most === 0) return;
    const { cursor, store, state } = this;
    const scan = cursor === null ? store.prefixScan(statePrefix(state)) : store.range({ from: cursor });
    let seen = 0;
    for await (const [address, { value }] of scan) {
      // The row after the last one that is looked at: where the next epoch goes on, whatever becomes of those before.
      if (address.state !== state || seen++ === most) {
        this.cursor = address.state === state ? address : null;
        return;
      }
      this.cleanRow(address, value);
    }
    this.cursor = null;
  }

  private cleanRow(address: StateAddress, row: StoredRow): void {
    if ('bytes' in row) return;
    const kept = this.withoutExpired(address, row);
    if (kept !== row) this.store.put(address, kept, this.timestamp());
  }

  /** The row itself when nothing in it is expired; null when all is. */
  private withoutExpired(address: StateAddress, row: StateRow): StateRow | null {
    if ('entries' in row) return this.liveEntries(address, row);
    if ('values' in row) return this.liveValues(address, row);
    return this.ttl.isExpired((row satisfies ValueRow).updatedAt) ? null : row;
  }

  private liveEntries(address: StateAddress, row: MapRow): MapRow | null {
    const entries = new Map([...row.entries].filter(([, { updatedAt }]) => !this.ttl.isExpired(updatedAt)));
    if (entries.size === 0 && !this.hasOtherParts(address, row)) return null;
    return entries.size === row.entries.size ? row : { ...row, entries };
  }

  private liveValues(address: StateAddress, row: ListRow): ListRow | null {
    const live = row.updatedAt.map((updatedAt) => !this.ttl.isExpired(updatedAt));
    if (!live.includes(true) && !this.hasOtherParts(address, row)) return null;
    if (!live.includes(false)) return row;
    return { ...row, values: row.values.filter((_, i) => live[i]), updatedAt: row.updatedAt.filter((_, i) => live[i]) };
  }

  /** The first part of a list or map stays as long as one of the others is there. */
  private hasOtherParts(address: StateAddress, { parts }: ListRow | MapRow): boolean {
    if (parts === null) return false;
    for (let part = parts.first; part < parts.next; part++)
      if (this.store.get({ ...address, namespace: partPlace(address.namespace, part) }) !== null) return true;
    return false;
  }
}
