/** How many tests (or checks) of a step passed and failed. */
export interface Counts {
  readonly passed: number;
  readonly failed: number;
}

export const oneFailed: Counts = { passed: 0, failed: 1 };

export function sum(counts: readonly Counts[]): Counts {
  return {
    passed: counts.reduce((total, { passed }) => total + passed, 0),
    failed: counts.reduce((total, { failed }) => total + failed, 0),
  };
}
