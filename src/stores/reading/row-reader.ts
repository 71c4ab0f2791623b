/**
 * Reads the rows of one store from outside its task: copies of their values, as they are or as of the last committed epoch, without touching the task's cache.
 *
 * All of it is synchronous; what is read between two awaits is of one moment. Scans that go on longer hold a `Snapshot`.
 */
import { ByteWriter } from '../../bytes/byte-writer.js';
import { MillraceError } from '../../errors.js';
import type { KeyedState } from '../keyed-state.js';
import type { Row } from '../row.js';
import type { RowTable } from '../row-table.js';
import type { StoreMarks } from '../store-marks.js';
import { BeforeImages } from './before-images.js';
import type { Imager, RowImage, Snapshot } from './before-images.js';

/** `uncommitted`: rows as they are. Otherwise as of a generation. */
export type AsOf = 'uncommitted' | number;

export interface ReadRow<V> {
  readonly value: V;
  /** Milliseconds; 0 in stores that keep none. */
  readonly timestamp: number;
}

export class RowReader<K, V> implements Imager<K, V> {
  private readonly scratch = new ByteWriter(256);

  constructor(readonly state: KeyedState<K, V>) {}

  /**
   * Makes the committed view readable; false: not before the epochs that are open now are committed. What the view needs is kept from here on, and no longer
   * once nobody has read it for many epochs.
   */
  openCommitted(): boolean {
    const { state } = this;
    state.assertOpen();
    if (state.images === null) {
      const before = state.generation - 1;
      state.keepImages(new BeforeImages<K, V>(this, state.isDirty ? state.generation : before, state.generation));
      if (!state.isDirty && state.committedGeneration === before) state.committedMarks ??= state.marks();
    }
    state.images?.touch();
    return state.images?.isReadable(state.committedGeneration) ?? false;
  }

  /** What a read now sees. The committed view must be readable. */
  asOf(isolation: 'committed' | 'uncommitted'): AsOf {
    return isolation === 'uncommitted' ? isolation : this.state.committedGeneration;
  }

  marks(asOf: AsOf): StoreMarks {
    return asOf === 'uncommitted' ? this.state.marks() : (this.state.committedMarks ?? this.state.marks());
  }

  openSnapshot(asOf: AsOf): Snapshot | null {
    if (asOf === 'uncommitted') return null;
    const { images, name, taskId } = this.state;
    if (images === null) throw new MillraceError('MILL_INVARIANT', `Store ${name} of task ${taskId}: a snapshot without a committed view`);
    return images.openSnapshot(asOf);
  }

  closeSnapshot(snapshot: Snapshot | null): void {
    const { state } = this;
    if (snapshot === null || state.images === null) return;
    state.images.closeSnapshot(snapshot, state.committedGeneration);
    if (!state.images.hasSnapshots) state.releaseHeld();
  }

  /** The row with that key, in memory or in the engine. Errors: MILL_SERDE for a key that the serde does not take. */
  find(table: RowTable<K, V>, key: K, asOf: AsOf): ReadRow<V> | null {
    const { state } = this;
    state.assertOpen();
    const engineKey = this.engineKey(table, key);
    const row = table.rows.get(this.mapKey(table, key, engineKey));
    if (row !== undefined) return this.read(row, asOf);
    const bytes = table.mayMiss ? state.engine?.get(engineKey) : undefined;
    return bytes === undefined ? null : state.rowFromEngine(key, bytes);
  }

  /** Valid until the next call. */
  engineKey(table: RowTable<K, V>, key: K): Buffer {
    this.scratch.reset();
    this.scratch.writeBytes(table.prefix);
    this.state.keySerde.encode(key, this.scratch);
    return this.scratch.view();
  }

  mapKey(table: RowTable<K, V>, key: K, engineKey: Buffer): unknown {
    return this.state.identity ? key : engineKey.toString('latin1', table.prefix.length);
  }

  /** The value of a row in memory; null: absent. */
  read(row: Row<K, V>, asOf: AsOf): ReadRow<V> | null {
    this.state.assertOpen();
    const image = asOf === 'uncommitted' ? undefined : this.state.images?.at(row, asOf);
    return this.fromImage(image === undefined ? this.imageOf(row) : image);
  }

  imageOf(row: Row<K, V>): RowImage {
    const { value, timestamp } = row;
    if (value === null) return null;
    if (typeof value !== 'object') return { value, bytes: null, timestamp };
    this.scratch.reset();
    this.state.encodeImage(row, value, this.scratch);
    return { bytes: this.scratch.copy(), timestamp };
  }

  private fromImage(image: RowImage): ReadRow<V> | null {
    if (image === null) return null;
    const { bytes, timestamp } = image;
    return { value: bytes === null ? (image.value as V) : this.state.decodeValue(bytes, 0, bytes.length), timestamp };
  }
}
