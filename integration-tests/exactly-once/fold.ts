/** What the job keeps for a key; the job and its model fold alike. */
export interface Fold {
  /** Values so far. */
  readonly n: number;
  /** Depends on each of them and on their order. */
  readonly sum: number;
}

export function nothing(): Fold {
  return { n: 0, sum: 0 };
}

export function after(fold: Fold, value: number): Fold {
  return { n: fold.n + 1, sum: (Math.imul(fold.sum, 31) + value + 1) >>> 0 };
}
