/** One line of the result. `ratio` > 1 always means that ours is better. */
export interface RowResult {
  readonly row: string;
  readonly unit: string;
  /** Medians over the rounds. */
  readonly ours: number;
  readonly theirs: number;
  readonly ratio: number;
  /** Lowest and highest ratio of a round. */
  readonly spread: readonly [number, number];
  readonly rounds: number;
  /** What each round gave. */
  readonly samples: Readonly<Record<'ours' | 'theirs', readonly number[]>>;
}

export interface Samples {
  readonly ours: readonly number[];
  readonly theirs: readonly number[];
}

export function summarise(row: string, unit: string, better: 'higher' | 'lower', samples: Samples): RowResult {
  const ratioOf = (ours: number, theirs: number): number => (better === 'higher' ? ours / theirs : theirs / ours);
  const [ours, theirs] = [median(samples.ours), median(samples.theirs)];
  const ratios = samples.ours.map((value, round) => ratioOf(value, samples.theirs[round] ?? NaN));
  const spread = [Math.min(...ratios), Math.max(...ratios)] as const;
  return { row, unit, ours, theirs, ratio: ratioOf(ours, theirs), spread, rounds: samples.ours.length, samples };
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
