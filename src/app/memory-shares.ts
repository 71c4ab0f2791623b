/**
 * How the memory that an app may hold its data in is divided: clean cached rows, the epoch that fills beside the one that commits, records fetched ahead, LevelDB's own buffers.
 *
 * The parts are bounds of their own, each kept where its memory is; this only sets them so that together they stay within one figure.
 */
import { getHeapStatistics } from 'node:v8';
import { leastEngineBytes } from '../stores/engine-memory.js';

export interface MemoryShares {
  readonly statestoreCacheMaxBytes: number;
  readonly maxUncommittedBytes: number;
  readonly maxBufferedBytes: number;
  readonly storeEngineMaxBytes: number;
}

const mebibyte = 1024 * 1024;

/** Below this an epoch or a fetch could not hold a batch. */
export const leastUncommittedBytes = 64 * 1024;
export const leastBufferedBytes = 64 * 1024;
export const leastMemoryBytes = mebibyte;

/** More gains little: an epoch is committed after `commitInterval` anyway. */
const mostByDefault = 256 * mebibyte;

/** How often each part is held: while an epoch commits, the next one fills. */
const times: Readonly<Record<keyof MemoryShares, number>> = {
  statestoreCacheMaxBytes: 1,
  maxUncommittedBytes: 2,
  maxBufferedBytes: 1,
  storeEngineMaxBytes: 1,
};
const least: MemoryShares = {
  statestoreCacheMaxBytes: 0,
  maxUncommittedBytes: leastUncommittedBytes,
  maxBufferedBytes: leastBufferedBytes,
  storeEngineMaxBytes: leastEngineBytes,
};
const parts = Object.keys(times) as (keyof MemoryShares)[];

/** A quarter of what V8 lets the heap grow to, 256 MiB at most. */
export function defaultMemoryBytes(heapLimit = getHeapStatistics().heap_size_limit): number {
  return Math.max(leastMemoryBytes, Math.min(mostByDefault, Math.floor(heapLimit / 4)));
}

/** What is left by the parts that are given goes to the others in equal portions, an epoch's counting twice; one whose least is more than that has its least. */
export function memoryShares(maxMemoryBytes: number, given: Partial<MemoryShares>): MemoryShares {
  const open = parts.filter((part) => given[part] === undefined);
  const left = maxMemoryBytes - heldBy(given);
  const portion = Math.floor(left / open.reduce((sum, part) => sum + times[part], 0));
  const small = open.find((part) => portion < least[part]);
  if (small !== undefined) return memoryShares(maxMemoryBytes, { ...given, [small]: least[small] });
  return { ...least, ...Object.fromEntries(open.map((part) => [part, portion])), ...defined(given) };
}

/** What the given parts leave too little for; null when they fit. */
export function memoryFault(maxMemoryBytes: number, given: Partial<MemoryShares>): string | null {
  const names = parts.filter((part) => given[part] !== undefined);
  const needed = heldBy({ ...least, ...defined(given) });
  if (needed <= maxMemoryBytes) return null;
  return `maxMemoryBytes (${maxMemoryBytes}) is too small for ${names.join(' and ')}: they need ${needed}, maxUncommittedBytes counting twice`;
}

function heldBy(shares: Partial<MemoryShares>): number {
  return parts.reduce((sum, part) => sum + times[part] * (shares[part] ?? 0), 0);
}

function defined(given: Partial<MemoryShares>): Partial<MemoryShares> {
  return Object.fromEntries(parts.flatMap((part) => (given[part] === undefined ? [] : [[part, given[part]]])));
}
