import type { ResourceLimits } from 'node:worker_threads';
import { nearest } from '../errors/checked-options.js';

/**
 * What V8 may take for the JavaScript heap and stack of one stream thread, MB: Node's `resourceLimits` of a worker. Buffers and what databases hold beside the heap are not in
 * it; for those there is `maxMemoryBytes`.
 */
export interface ThreadResourceLimits {
  /**
   * The main heap. A thread that comes to need more ends with MILL_THREAD_CRASHED, and the uncaught-error handler says what follows. A single allocation that is larger than Node's
   * leeway past the limit (a large `Map` that grows, a huge array) ends the whole process.
   */
  readonly maxOldGenerationSizeMb?: number;
  /** The heap of young objects. */
  readonly maxYoungGenerationSizeMb?: number;
  /** Memory for generated code. */
  readonly codeRangeSizeMb?: number;
  /** Node's default: 4. */
  readonly stackSizeMb?: number;
}

/** Node itself, Millrace and a topology take some twenty. */
const leastHeapMb = 32;
/** Below this Node can't start a worker. */
const least: Readonly<Record<keyof ThreadResourceLimits, number>> = {
  maxOldGenerationSizeMb: leastHeapMb,
  maxYoungGenerationSizeMb: 1,
  codeRangeSizeMb: 1,
  stackSizeMb: 1,
};

/** What is wrong with the option `threadResourceLimits`, one sentence each. */
export function threadLimitFaults(limits: unknown, threads: number | undefined): string[] {
  if (limits === undefined) return [];
  if (typeof limits !== 'object' || limits === null || Array.isArray(limits))
    return [`threadResourceLimits must be an object with some of ${Object.keys(least).join(', ')}`];
  const faults: string[] = [];
  if ((threads ?? 1) === 1)
    faults.push(
      'threadResourceLimits needs `threads` above 1: one thread is the caller’s own, whose heap node --max-old-space-size limits',
    );
  for (const [name, value] of Object.entries(limits) as [string, unknown][]) {
    if (value === undefined) continue;
    const lowest = Object.hasOwn(least, name) ? least[name as keyof ThreadResourceLimits] : null;
    const near = nearest(name, Object.keys(least));
    if (lowest === null) faults.push(`threadResourceLimits.${name} is not an option${near === null ? '' : `; did you mean ${near}?`}`);
    else if (typeof value !== 'number' || !Number.isFinite(value) || value < lowest)
      faults.push(`threadResourceLimits.${name} must be a number of megabytes of at least ${lowest}`);
  }
  return faults;
}

/** As a worker takes them. */
export function resourceLimits(limits: ThreadResourceLimits): ResourceLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, value]) => value !== undefined));
}

/** Bytes of heap that all threads have together, or null when nothing says so. */
export function heapOfThreads(limits: ThreadResourceLimits | undefined, threads: number): number | null {
  const each = limits?.maxOldGenerationSizeMb;
  return each === undefined ? null : threads * each * 1024 * 1024;
}
