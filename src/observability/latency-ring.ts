/** Of the last measurements, ms; 0 before the first. */
export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The last measurements of something that happens again and again: a bounded number. Sorted when somebody asks. */
export class LatencyRing {
  private readonly values: Float64Array;
  private count = 0;

  constructor(size: number) {
    this.values = new Float64Array(size);
  }

  add(value: number): void {
    this.values[this.count++ % this.values.length] = value;
  }

  summary(): LatencySummary {
    const sorted = this.values.slice(0, Math.min(this.count, this.values.length)).sort();
    const at = (fraction: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
    return { p50: at(0.5), p99: at(0.99), max: sorted[sorted.length - 1] ?? 0 };
  }
}
