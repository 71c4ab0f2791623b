import type { KeyValueState } from '../key-value-state.js';
import { boundsFrom, engineBounds, orderBounds } from './key-bounds.js';
import { openRowScan } from './row-scan.js';
import type { RowScan } from './row-scan.js';
import { RowReader } from './row-reader.js';
import type { AsOf, ReadRow } from './row-reader.js';
import type { KeyBounds } from './store-reader.js';

const idBytes = 2;

/** Reads `keyValue` and `timestampedKeyValue` stores. */
export class KeyValueReader<K, V> {
  readonly kind = 'keyValue';
  readonly rows: RowReader<K, V>;

  constructor(private readonly state: KeyValueState<K, V>) {
    this.rows = new RowReader(state);
  }

  get(key: K, asOf: AsOf): ReadRow<V> | null {
    return this.rows.find(this.state.table, key, asOf);
  }

  /** By key bytes. `startAt`: key bytes as a latin1 string at which it begins. */
  scan(bounds: KeyBounds<K>, reverse: boolean, startAt: string | null, asOf: AsOf): RowScan<K, V>[] {
    const { table } = this.state;
    const whole = orderBounds(bounds, (key) => this.state.keyOrder(key));
    const keys = startAt === null ? whole : boundsFrom(whole, startAt, reverse);
    if (keys.from !== null && keys.to !== null && keys.from >= keys.to) return [];
    const plan = { tables: [table], engine: engineBounds(table.prefix, keys), keys, reverse, samePrefix: idBytes };
    return [openRowScan(this.rows, asOf, plan, () => 0)];
  }

  get approximateCount(): number {
    return this.state.approximateEntryCount();
  }
}
