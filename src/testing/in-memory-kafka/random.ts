/** Randomness from a seed: the same seed gives the same numbers on every machine (mulberry32). */
export class Random {
  private state: number;

  constructor(seed: number) {
    this.state = seed >>> 0;
  }

  /** In [0, 1). */
  next(): number {
    this.state = (this.state + 0x6d2b79f5) >>> 0;
    let mixed = this.state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  }

  /** A whole number in [from, to]. */
  int(from: number, to: number): number {
    return from + Math.floor(this.next() * (to - from + 1));
  }

  /** A number in [from, to). */
  between([from, to]: readonly [number, number]): number {
    return from + this.next() * (to - from);
  }

  chance(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  pick<T>(items: readonly [T, ...T[]]): T {
    return items[this.int(0, items.length - 1)] as T;
  }

  /** Another stream of numbers, so that what one part draws does not move another. */
  fork(): Random {
    return new Random(Math.floor(this.next() * 0x1_0000_0000));
  }

  /** 16 bytes in the form of a UUID. */
  uuid(): string {
    const hex = Array.from({ length: 32 }, () => this.int(0, 15).toString(16)).join('');
    return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
  }
}
