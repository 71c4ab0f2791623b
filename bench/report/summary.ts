/** One line of the result. `ratio` > 1 always means that ours is better. */
export interface RowResult {
  readonly row: string;
  readonly unit: string;
  /** Medians over the rounds. */
  readonly ours: number;
  readonly theirs: number;
  readonly ratio: number;
  readonly rounds: number;
  /** What each round gave. */
  readonly samples: Readonly<Record<'ours' | 'theirs', readonly number[]>>;
}

export interface Samples {
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

export function summarise(row: string, unit: string, better: 'higher' | 'lower', samples: Samples): RowResult {
  const [ours, theirs] = [median(samples.ours), median(samples.theirs)];
  return { row, unit, ours, theirs, ratio: better === 'higher' ? ours / theirs : theirs / ours, rounds: samples.ours.length, samples };
}

/** Of an even number of values, the mean of the two in the middle; of none, NaN. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length / 2;
  return ((sorted[Math.ceil(middle) - 1] ?? NaN) + (sorted[Math.floor(middle)] ?? NaN)) / 2;
}

/** The value below which the share `p` of all values lies (nearest rank); of none, NaN. */
export function percentile(values: readonly number[], p: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(p * sorted.length) - 1)] ?? NaN;
}
