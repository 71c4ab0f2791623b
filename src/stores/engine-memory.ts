/**
 * The memory that the LevelDB databases of an instance take for themselves, under one bound: two write buffers and a cache of blocks each.
 *
 * A database is told its sizes when it is opened and keeps them until it is closed. So what is given out can't be taken back when another task comes: each share leaves
 * one of its size free for those that nobody knows of yet. What a task that leaves gives back is there for the next ones; a restart makes shares equal again.
 */
import type { Logger } from '../observability/logger.js';

const kibibyte = 1024;

/** LevelDB takes no write buffer below 64 KiB, and holds up to two. */
const leastWriteBuffer = 64 * kibibyte;
/** Larger ones are written no faster, and make an end of a database and the next start of it slower. */
const mostWriteBuffer = 16 * kibibyte * kibibyte;
const mostBlockCache = 2 ** 32 - 1;

/** A task's database never takes less. */
export const leastEngineBytes = 4 * leastWriteBuffer;

export interface EngineSizes {
  /** Bytes. LevelDB holds up to two: one that fills, one on its way to the disk. */
  readonly writeBufferSize: number;
  /** Bytes of uncompressed blocks kept for reads. */
  readonly blockCacheSize: number;
}

/** A claim on the memory, for as long as a task's database is open. */
export interface EngineClaim {
  readonly engineBytes: number;
  readonly giveBack: () => void;
}

/**
 * The share of a database that is opened now.
 *
 * @param free bytes that are not given out; below 0 when minima have exceeded the bound
 * @param openings how many databases are about to be opened, this one included
 */
export function engineShare(free: number, openings: number): number {
  return Math.max(leastEngineBytes, Math.floor(free / (Math.max(1, openings) + 1)));
}

/** A quarter for each write buffer, up to the largest; the rest for the cache: smaller write buffers were not seen to cost writes anything. */
export function engineSizes(engineBytes: number): EngineSizes {
  const writeBufferSize = Math.min(mostWriteBuffer, Math.max(leastWriteBuffer, Math.floor(engineBytes / 4)));
  return { writeBufferSize, blockCacheSize: Math.min(mostBlockCache, Math.max(0, engineBytes - 2 * writeBufferSize)) };
}

export class EngineMemory {
  private readonly shares = new Set<{ readonly bytes: number }>();
  private hasWarned = false;

  /** @param total bytes of all databases of the instance */
  constructor(
    private readonly total: number,
    private readonly logger: Logger,
  ) {}

  /** Bytes given out. */
  get used(): number {
    let used = 0;
    for (const { bytes } of this.shares) used += bytes;
    return used;
  }

  /** @param openings how many databases are about to be opened, this one included */
  claim(openings: number): EngineClaim {
    const share = { bytes: engineShare(this.total - this.used, openings) };
    this.shares.add(share);
    this.warnOnce();
    return {
      engineBytes: share.bytes,
      giveBack: () => {
        this.shares.delete(share);
      },
    };
  }

  private warnOnce(): void {
    const { used, total } = this;
    if (used <= total || this.hasWarned) return;
    this.hasWarned = true;
    this.logger.warn(
      { databases: this.shares.size, bytes: used, storeEngineMaxBytes: total },
      'the LevelDB databases of this instance take more than storeEngineMaxBytes: those that are opened now have their least',
    );
  }
}
