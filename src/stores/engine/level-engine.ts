/**
 * The LevelDB engine, one directory a task. LevelDB's own lock lets one process alone open it. Writes are not synced: a crash of the process loses nothing,
 * a power loss cuts LevelDB's log at a batch boundary, which leaves the stores at an earlier epoch and their changelog tail to be read again.
 */
import { existsSync, writeFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { ClassicLevel } from 'classic-level';
import { MillraceError } from '../../errors.js';
import { engineSizes } from '../engine-memory.js';
import { damagedTable } from './damaged-tables.js';
import type { Engine, EngineBatch, EngineRange, EngineScan, EngineSnapshot } from './engine.js';
import { missingBatches } from './missing-batches.js';
import { unseal, ValueSealer } from './sealed-value.js';
import { noteClosed, noteUncleanEnds, uncleanEnds, wasClosedHere } from './unclean-ends.js';

export interface LevelEngineOptions {
  readonly directory: string;
  readonly taskId: string;
  /** Bytes that the database may take for itself. Default 24 MiB. */
  readonly engineBytes?: number | undefined;
  /** Tables of up to so many bytes together are compared with their checksums when this process opens the database for the first time. Default 128 MiB. */
  readonly quickCheckBytes?: number | undefined;
}

type Database = ClassicLevel<Buffer, Buffer>;

const defaultEngineBytes = 24 * 1024 * 1024;
/** A file of this name beside LevelDB's own, which leaves it alone. */
const damageMark = 'MILLRACE_DAMAGED';

/** After so many ends in a row without a close the tables are compared with their checksums whatever their size. */
const suspiciousEnds = 2;
/** Read in less than a second: so much is compared each time, unless this process has closed it itself. */
const defaultQuickCheckBytes = 128 * 1024 * 1024;

/**
 * Opens the database; one that can't be read, lacks batches before later ones, was found damaged while it was in use, or whose tables are damaged, is
 * deleted and made anew (`corrupted` says so).
 * Errors: MILL_STORE_DIRECTORY_LOCKED, MILL_STORE_IO.
 */
export async function openLevelEngine(options: LevelEngineOptions): Promise<{ engine: Engine; corrupted: MillraceError | null }> {
  // Who has it open may be about to close it: before, what is there tells nothing.
  await untilUnlocked(options);
  const ends = uncleanEnds(options.directory);
  const isSuspicious = ends >= suspiciousEnds;
  // Before LevelDB has opened it: then the log is gone, and LevelDB may have ended the process.
  let corrupted = await damageOf(options, ends);
  if (corrupted === null) {
    try {
      return { engine: await open(options, isSuspicious ? 0 : ends), corrupted };
    } catch (error) {
      corrupted = openFailure(options, error);
      if (corrupted.code !== 'MILL_STORE_CORRUPTED') throw corrupted;
    }
  }
  await rm(options.directory, { recursive: true, force: true });
  return { engine: await open(options, 0), corrupted };
}

/** Without a look at the tables: LevelDB, told to refuse a database that exists, asks for the lock first. */
async function untilUnlocked(options: LevelEngineOptions): Promise<void> {
  if (!existsSync(join(options.directory, 'CURRENT'))) return;
  const probe: Database = new ClassicLevel<Buffer, Buffer>(options.directory, { errorIfExists: true });
  try {
    await openPatiently(probe);
    await probe.close();
  } catch (error) {
    const failure = openFailure(options, error);
    if (failure.code === 'MILL_STORE_DIRECTORY_LOCKED') throw failure;
  }
}

async function damageOf(options: LevelEngineOptions, ends: number): Promise<MillraceError | null> {
  const { directory, taskId } = options;
  const reason = await damageFound(options, ends).catch((error: unknown) => {
    throw openFailure(options, error);
  });
  if (reason === null) return null;
  return new MillraceError('MILL_STORE_CORRUPTED', `The state of task ${taskId} in ${directory} can’t be relied on: ${reason}`, {
    details: { task: taskId, directory },
  });
}

async function damageFound(options: LevelEngineOptions, ends: number): Promise<string | null> {
  const { directory, quickCheckBytes = defaultQuickCheckBytes } = options;
  const missing = await missingBatches(directory);
  if (missing !== null) return missing;
  if (existsSync(join(directory, damageMark))) return 'damage was found while it was in use';
  const table = wasClosedHere(directory) ? null : await damagedTable(directory, ends < suspiciousEnds ? quickCheckBytes : Infinity);
  return table === null ? null : `${table} does not match its checksums`;
}

/** @param ends at how many ends of its process in a row it was in use */
async function open(options: LevelEngineOptions, ends: number): Promise<Engine> {
  const { writeBufferSize, blockCacheSize } = engineSizes(options.engineBytes ?? defaultEngineBytes);
  const database: Database = new ClassicLevel<Buffer, Buffer>(options.directory, {
    keyEncoding: 'buffer',
    valueEncoding: 'buffer',
    writeBufferSize,
    cacheSize: blockCacheSize,
    // As Kafka Streams: blocks that are not compressed are read where the file is mapped, a fifth less CPU for a count of a million keys.
    compression: false,
  });
  // Before, since LevelDB may end the process while it opens; after, since there was no folder.
  noteUncleanEnds(options.directory, ends + 1);
  try {
    await openPatiently(database);
  } catch (error) {
    noteUncleanEnds(options.directory, ends);
    throw error;
  }
  noteUncleanEnds(options.directory, ends + 1);
  return new LevelEngine(database, options);
}

/** Synchronous reads throw without a code: LevelDB's own words tell. */
function codeOf(reason: string): string | undefined {
  if (reason.startsWith('Corruption:')) return 'LEVEL_CORRUPTION';
  return reason.startsWith('IO error:') ? 'LEVEL_IO_ERROR' : undefined;
}

/** A file that the manifest names and that is gone or cut short shows as an I/O error; starting over mends it, unlike a full disk or missing rights. */
function isFileHarmed(code: unknown, reason: string): boolean {
  return code === 'LEVEL_IO_ERROR' && /No such file|Invalid argument/.test(reason);
}

/** Who looks whether old state is in use holds it for a moment; so long a lock is waited for, ms. */
const lockPatienceMs = 2000;
const lockPauseMs = 50;

async function openPatiently(database: Database): Promise<void> {
  for (let waited = 0; ; waited += lockPauseMs) {
    try {
      await database.open();
      return;
    } catch (error) {
      const { code } = ((error as Error).cause ?? error) as { readonly code?: unknown };
      if (code !== 'LEVEL_LOCKED' || waited >= lockPatienceMs) throw error;
      await sleep(lockPauseMs);
    }
  }
}

function openFailure(options: LevelEngineOptions, error: unknown): MillraceError {
  const cause = error instanceof Error && error.cause !== undefined ? error.cause : error;
  const code = (cause as { code?: unknown }).code;
  const reason = cause instanceof Error ? cause.message : String(cause);
  const details = { task: options.taskId, directory: options.directory };
  if (code === 'LEVEL_LOCKED') {
    return new MillraceError(
      'MILL_STORE_DIRECTORY_LOCKED',
      `The state directory ${options.directory} of task ${options.taskId} is in use`,
      { cause, details },
    );
  }
  if (code === 'LEVEL_CORRUPTION' || code === 'LEVEL_INVALID_ARGUMENT' || isFileHarmed(code, reason)) {
    return new MillraceError(
      'MILL_STORE_CORRUPTED',
      `The state of task ${options.taskId} in ${options.directory} can’t be read: ${reason}`,
      { cause, details },
    );
  }
  return new MillraceError(
    'MILL_STORE_IO',
    `The state directory ${options.directory} of task ${options.taskId} can’t be opened: ${reason}`,
    { cause, details },
  );
}

class LevelEngine implements Engine {
  constructor(
    private readonly database: Database,
    private readonly options: LevelEngineOptions,
  ) {}

  get(key: Buffer): Buffer | undefined {
    return this.look(key);
  }

  batch(): EngineBatch {
    const batch = this.database.batch();
    const sealer = new ValueSealer();
    return {
      put: (key, value) => void batch.put(key, sealer.seal(key, value)),
      delete: (key) => void batch.del(key),
      write: () => this.guard('Writing', batch.write()),
      close: () => batch.close(),
    };
  }

  scan(range: EngineRange): EngineScan {
    const { from, to, reverse = false, keysOnly = false } = range;
    const iterator = this.database.iterator({ gte: from, lt: to, reverse, values: !keysOnly });
    return {
      next: async (size) => {
        const rows = await this.guard('Scanning', iterator.nextv(size));
        if (!keysOnly) for (const row of rows) row[1] = this.unsealed(row[0], row[1]);
        return rows;
      },
      seek: (key) => iterator.seek(key),
      close: () => iterator.close(),
    };
  }

  snapshot(): EngineSnapshot {
    const snapshot = this.database.snapshot();
    return {
      get: (key) => this.look(key, snapshot),
      close: () => snapshot.close(),
    };
  }

  sizeOf(from: Buffer, to: Buffer): Promise<number> {
    return this.guard('Measuring', this.database.approximateSize(from, to));
  }

  clear(from: Buffer, to: Buffer): Promise<void> {
    return this.guard('Clearing', this.database.clear({ gte: from, lt: to }));
  }

  async close(): Promise<void> {
    // Before the lock is given up: from then on the count is that of the next one to open it.
    noteClosed(this.options.directory);
    await this.database.close();
  }

  private look(key: Buffer, snapshot?: ReturnType<Database['snapshot']>): Buffer | undefined {
    let sealed: Buffer | undefined;
    try {
      sealed = snapshot === undefined ? this.database.getSync(key) : this.database.getSync(key, { snapshot });
    } catch (error) {
      throw this.failure('Reading', error);
    }
    return sealed === undefined ? undefined : this.unsealed(key, sealed);
  }

  private unsealed(key: Buffer, sealed: Buffer): Buffer {
    const value = unseal(key, sealed);
    if (value !== null) return value;
    this.markDamaged();
    const { taskId } = this.options;
    throw new MillraceError('MILL_STORE_CORRUPTED', `A row of the state of task ${taskId} does not match its checksum`, {
      details: { task: taskId },
    });
  }

  private async guard<T>(what: string, work: Promise<T>): Promise<T> {
    try {
      return await work;
    } catch (error) {
      throw this.failure(what, error);
    }
  }

  private failure(what: string, error: unknown): MillraceError {
    // Of another realm when the process has several: `instanceof` does not know it.
    const { message, code: given } = error as { readonly message?: unknown; readonly code?: unknown };
    const reason = typeof message === 'string' ? message : String(error);
    const code = given ?? codeOf(reason);
    const closed =
      code === 'LEVEL_ITERATOR_NOT_OPEN' ||
      code === 'LEVEL_DATABASE_NOT_OPEN' ||
      code === 'LEVEL_BATCH_NOT_OPEN' ||
      code === 'LEVEL_SNAPSHOT_NOT_OPEN';
    const corrupted = code === 'LEVEL_CORRUPTION' || isFileHarmed(code, reason);
    if (corrupted) this.markDamaged();
    const { taskId } = this.options;
    return new MillraceError(
      closed ? 'MILL_STORE_CLOSED' : corrupted ? 'MILL_STORE_CORRUPTED' : 'MILL_STORE_IO',
      `${what} the state of task ${taskId} failed: ${reason}`,
      { cause: error, details: { task: taskId } },
    );
  }

  /** So that the next one to open it makes it anew: LevelDB opens it as if nothing were wrong. */
  private markDamaged(): void {
    try {
      writeFileSync(join(this.options.directory, damageMark), '');
    } catch {
      // On a disk that can't be written the error itself is all there is to tell.
    }
  }
}
