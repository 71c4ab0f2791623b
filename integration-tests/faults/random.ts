/** Numbers that depend on the seed alone (mulberry32), so that a failing schedule can be run again. */
export class Random {
  constructor(
    readonly seed: number,
    private state = seed >>> 0,
  ) {}

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let t = this.state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  }

  /** A whole number from `low` to `high`, both included. */
  between(low: number, high: number): number {
    return low + Math.floor(this.next() * (high - low + 1));
  }

  pick<T>(from: readonly T[]): T {
    return from[this.between(0, from.length - 1)] as T;
  }
}

/** The seed of this run: `CHAOS_SEED`, or a new one. */
export function chaosSeed(): number {
  return process.env['CHAOS_SEED'] === undefined ? Math.floor(Math.random() * 1_000_000_000) : Number(process.env['CHAOS_SEED']);
}
