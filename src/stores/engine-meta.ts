/**
 * What stands in a task's engine beside rows, under ids no store has: which number each store has, how far its changelog is applied, the epoch.
 * All of it is written in the batch of the rows it speaks of.
 */
import { MillraceError } from '../errors.js';
import type { Engine, EngineBatch } from './engine/engine.js';
import type { StoreKind } from './store.js';
import type { StoreMarks } from './store-marks.js';

/** Which changelog partition a position belongs to. A topic that was deleted and made again has another id. */
export interface ChangelogIdentity {
  readonly topic: string;
  readonly topicId: string | null;
  readonly clusterId: string | null;
}

export interface StoreMeta {
  readonly id: number;
  readonly kind: StoreKind;
  /** How the kind lays out its rows, where that depends on the spec (`layoutOf`). */
  readonly layout?: string;
  /** Next changelog offset to apply; null: nothing is known, restore whole. */
  readonly position: number | null;
  readonly changelog: ChangelogIdentity | null;
  /** Wall clock at which `position` was current, ms. */
  readonly notedAt?: number;
  readonly marks: StoreMarks;
}

/** Raised when the layout of keys or values changes: what an older version wrote is then wiped and restored. */
const formatVersion = 2;

const metaPrefix = '\0\0';
const epochKey = Buffer.from(`${metaPrefix}epoch`, 'latin1');
const cleanKey = Buffer.from(`${metaPrefix}clean`, 'latin1');
/** Version 1 stood under another key, in rows without checksums, which can’t be read. */
const formatKey = Buffer.from(`${metaPrefix}format:sealed`, 'latin1');
const storesFrom = Buffer.from(`${metaPrefix}store:`, 'latin1');
const storesTo = Buffer.from(`${metaPrefix}store;`, 'latin1');
const everythingFrom = Buffer.alloc(0);
const everythingTo = Buffer.from([0xff, 0xff, 0xff]);

export interface EngineMeta {
  readonly epoch: number;
  /** True when the last owner closed the task in order. */
  readonly clean: boolean;
  readonly stores: ReadonlyMap<string, StoreMeta>;
}

/** Reads the meta rows and takes the mark of a clean end away. An engine of another format is emptied. */
export async function readEngineMeta(engine: Engine): Promise<EngineMeta> {
  const format = readJson<number>(engine.get(formatKey));
  if (format !== formatVersion) await engine.clear(everythingFrom, everythingTo);
  const epoch = readJson<number>(engine.get(epochKey)) ?? -1;
  const clean = engine.get(cleanKey) !== undefined;
  const stores = new Map<string, StoreMeta>();
  const scan = engine.scan({ from: storesFrom, to: storesTo });
  try {
    for (let page = await scan.next(100); page.length > 0; page = await scan.next(100)) {
      for (const [key, value] of page) stores.set(key.toString('utf8', storesFrom.length), parsed<StoreMeta>(value));
    }
  } finally {
    await scan.close();
  }
  const batch = engine.batch();
  batch.put(formatKey, json(formatVersion));
  batch.delete(cleanKey);
  await batch.write();
  return { epoch, clean, stores };
}

export function putStoreMeta(batch: EngineBatch, name: string, meta: StoreMeta): void {
  batch.put(storeKey(name), json(meta));
}

export function deleteStoreMeta(batch: EngineBatch, name: string): void {
  batch.delete(storeKey(name));
}

export function putEpoch(batch: EngineBatch, epoch: number): void {
  batch.put(epochKey, json(epoch));
}

export function putCleanEnd(batch: EngineBatch): void {
  batch.put(cleanKey, json(true));
}

function storeKey(name: string): Buffer {
  return Buffer.concat([storesFrom, Buffer.from(name)]);
}

function json(value: unknown): Buffer {
  return Buffer.from(JSON.stringify(value));
}

function readJson<T>(bytes: Buffer | undefined): T | undefined {
  return bytes === undefined ? undefined : parsed<T>(bytes);
}

function parsed<T>(bytes: Buffer): T {
  try {
    return JSON.parse(bytes.toString()) as T;
  } catch (error) {
    throw new MillraceError('MILL_STORE_CORRUPTED', 'What a store notes of itself can’t be read', { cause: error });
  }
}
