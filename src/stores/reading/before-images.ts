/**
 * What rows held before the epochs that are not committed changed them, so that a reader sees the last committed epoch while the task goes on with the same rows.
 *
 * One set of images a generation of the store: the value a row had when that generation first wrote it, or first gave it out as an object that user code may change
 * in place. The value as of generation `g` is the image in the oldest generation after `g` that has one, else the row's own. Images go when their generation is
 * committed, or, while a scan as of an earlier one is open, with that scan. Nothing is kept before the first reader asks, nor long after the last.
 */
import { MillraceError } from '../../errors.js';
import type { Row } from '../row.js';

/** A row's value by itself: primitives as they are, objects as bytes. null: the row was absent. */
export type RowImage =
  | { readonly bytes: null; readonly value: unknown; readonly timestamp: number }
  | { readonly bytes: Buffer; readonly timestamp: number }
  | null;

/** A scan's point in time. */
export interface Snapshot {
  /** All writes up to this generation are in it, none of later ones. */
  readonly generation: number;
  /** It was given up for the memory that it held. */
  lost: boolean;
}

export interface Imager<K, V> {
  imageOf(row: Row<K, V>): RowImage;
}

interface Generation<K, V> {
  readonly generation: number;
  readonly images: Map<Row<K, V>, RowImage>;
  bytes: number;
}

const imageOverhead = 100;
/** Bytes of images kept for open scans alone; past it the oldest scans end with an error. */
const maxHeldBytes = 32 * 1024 * 1024;
/** Epochs without a reader after which nothing is kept any more: about a minute at the default commit interval. */
const idleEpochs = 600;

export class BeforeImages<K, V> {
  private readonly sealed: Generation<K, V>[] = [];
  private active: Generation<K, V>;
  private readonly snapshots = new Set<Snapshot>();
  private idle = 0;

  /** Readable once the generation `readableFrom` is committed: what open epochs had written before is not known. */
  constructor(
    private readonly imager: Imager<K, V>,
    private readonly readableFrom: number,
    generation: number,
  ) {
    this.active = fresh(generation);
  }

  isReadable(committed: number): boolean {
    return committed >= this.readableFrom;
  }

  /** A reader was here. */
  touch(): void {
    this.idle = 0;
  }

  // ---- the task's side

  /** The row is about to be given out; it was not written in the active generation. */
  capture(row: Row<K, V>): void {
    const { images } = this.active;
    if (typeof row.value === 'object' && row.value !== null && !images.has(row)) this.add(row);
  }

  /** The first write of a row in the active generation; returns the bytes that its image takes. */
  beforeWrite(row: Row<K, V>): number {
    return this.active.images.has(row) ? imageOverhead : this.add(row);
  }

  private add(row: Row<K, V>): number {
    const image = this.imager.imageOf(row);
    const bytes = imageOverhead + (image?.bytes?.length ?? 0);
    this.active.images.set(row, image);
    this.active.bytes += bytes;
    return bytes;
  }

  /** The active generation wrote nothing: what was only looked at is as it was. */
  forgetActive(): void {
    if (this.active.images.size > 0) this.active = fresh(this.active.generation);
  }

  /** The active generation is frozen. False: nobody has read for long, and this may go. */
  seal(): boolean {
    this.sealed.push(this.active);
    this.active = fresh(this.active.generation + 1);
    this.idle++;
    return this.idle <= idleEpochs || this.snapshots.size > 0;
  }

  committed(generation: number): void {
    this.prune(generation);
    let held = 0;
    for (const entry of this.sealed) if (entry.generation <= generation) held += entry.bytes;
    while (held > maxHeldBytes && this.snapshots.size > 0) held -= this.loseOldest(generation);
  }

  // ---- the readers' side

  get hasSnapshots(): boolean {
    return this.snapshots.size > 0;
  }

  openSnapshot(generation: number): Snapshot {
    const snapshot = { generation, lost: false };
    this.snapshots.add(snapshot);
    return snapshot;
  }

  closeSnapshot(snapshot: Snapshot, committed: number): void {
    if (this.snapshots.delete(snapshot)) this.prune(committed);
  }

  /** undefined: the row itself has the value as of the snapshot. */
  at(row: Row<K, V>, generation: number): RowImage | undefined {
    for (const entry of this.sealed) {
      if (entry.generation <= generation) continue;
      const image = entry.images.get(row);
      if (image !== undefined) return image;
    }
    return this.active.images.get(row);
  }

  private prune(committed: number): void {
    let oldest = committed;
    for (const { generation } of this.snapshots) oldest = Math.min(oldest, generation);
    let gone = 0;
    while (gone < this.sealed.length && (this.sealed[gone] as Generation<K, V>).generation <= oldest) gone++;
    this.sealed.splice(0, gone);
  }

  /** Returns the bytes freed. */
  private loseOldest(committed: number): number {
    let oldest = Infinity;
    for (const { generation } of this.snapshots) oldest = Math.min(oldest, generation);
    for (const snapshot of this.snapshots) {
      if (snapshot.generation > oldest) continue;
      snapshot.lost = true;
      this.snapshots.delete(snapshot);
    }
    const before = bytesOf(this.sealed);
    this.prune(committed);
    return Math.max(1, before - bytesOf(this.sealed));
  }
}

/** Captures rows for the images, and for the list of changes if there is one. */
export function watchBoth<K, V>(
  state: { readonly generation: number },
  images: BeforeImages<K, V>,
  changes: { capture(row: Row<K, V>): void } | null,
): { capture(row: Row<K, V>): void } {
  return {
    capture: (row) => {
      changes?.capture(row);
      // In the epoch that wrote it already, what stands there is not the value before the epoch.
      if (row.stamp !== state.generation) images.capture(row);
    },
  };
}

/** @throws MILL_STORE_SNAPSHOT_LOST */
export function mustBeHeld(snapshot: Snapshot, store: string): void {
  if (!snapshot.lost) return;
  throw new MillraceError(
    'MILL_STORE_SNAPSHOT_LOST',
    `The scan of store ${store} took so long that what the store held at its start had to be given up.`,
    { details: { store } },
  );
}

function fresh<K, V>(generation: number): Generation<K, V> {
  return { generation, images: new Map(), bytes: 0 };
}

function bytesOf(entries: readonly { readonly bytes: number }[]): number {
  let bytes = 0;
  for (const entry of entries) bytes += entry.bytes;
  return bytes;
}
