/** Whether an app that ran for long stayed inside its bound and stopped growing. */

/** One look at the process, bytes. */
export interface MemorySample {
  /** Seconds since the first look. */
  readonly seconds: number;
  /** Resident memory that belongs to the process alone: all of its memory but files that the system has mapped for it and takes back when it needs to. */
  readonly privateBytes: number;
}

export interface Verdict {
  readonly highestBytes: number;
  readonly boundBytes: number;
  readonly isInside: boolean;
  /** Of the straight line through the second half of the looks, bytes a minute. */
  readonly slopeBytesPerMinute: number;
  /** What that line gains over its half, as a part of its mean. */
  readonly growth: number;
  readonly isFlat: boolean;
}

/** Node itself, its code compiled and its young generation. */
export const baseBytes = 100 * 2 ** 20;
/** Index and filter of LevelDB's files. */
export const bytesPerKey = 2;
/** The garbage collector takes its time: what docs/Reference/configuration.md says a container needs. */
export const swing = 1.5;
const mostGrowth = 0.05;

/** What a process whose app has `maxMemoryBytes` may take. */
export function boundOf(maxMemoryBytes: number, keys: number): number {
  return swing * (maxMemoryBytes + baseBytes) + bytesPerKey * keys;
}

export function judge(samples: readonly MemorySample[], boundBytes: number): Verdict {
  const highestBytes = Math.max(...samples.map(({ privateBytes }) => privateBytes));
  const half = samples.slice(Math.floor(samples.length / 2));
  const { slope, mean } = lineThrough(half);
  const seconds = (half.at(-1)?.seconds ?? 0) - (half[0]?.seconds ?? 0);
  const growth = mean === 0 ? 0 : (slope * seconds) / mean;
  return {
    highestBytes,
    boundBytes,
    isInside: highestBytes <= boundBytes,
    slopeBytesPerMinute: slope * 60,
    growth,
    isFlat: growth <= mostGrowth,
  };
}

/** By least squares; the slope is bytes a second. */
function lineThrough(samples: readonly MemorySample[]): { readonly slope: number; readonly mean: number } {
  const count = Math.max(1, samples.length);
  const meanSeconds = samples.reduce((sum, { seconds }) => sum + seconds, 0) / count;
  const mean = samples.reduce((sum, { privateBytes }) => sum + privateBytes, 0) / count;
  let [product, square] = [0, 0];
  for (const { seconds, privateBytes } of samples) {
    product += (seconds - meanSeconds) * (privateBytes - mean);
    square += (seconds - meanSeconds) ** 2;
  }
  return { slope: square === 0 ? 0 : product / square, mean };
}
