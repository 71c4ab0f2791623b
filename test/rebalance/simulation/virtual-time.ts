/** Seeded randomness and a queue of things to happen: the whole world of a simulation. */
export class VirtualTime {
  now = 0;
  private seed: number;
  private order = 0;
  private readonly queue: { readonly at: number; readonly order: number; readonly run: () => void }[] = [];

  constructor(seed: number) {
    this.seed = (seed | 0) + 0x9e37_79b9;
  }

  /** In [0, 1): mulberry32. */
  readonly random = (): number => {
    this.seed = (this.seed + 0x6d2b_79f5) | 0;
    let t = Math.imul(this.seed ^ (this.seed >>> 15), this.seed | 1);
    t = (t + Math.imul(t ^ (t >>> 7), t | 61)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 0x1_0000_0000;
  };

  below(limit: number): number {
    return Math.floor(this.random() * limit);
  }

  after(delayMs: number, run: () => void): void {
    const entry = { at: this.now + delayMs, order: this.order++, run };
    let at = this.queue.length;
    while (at > 0 && later(this.queue[at - 1]!, entry)) at--;
    this.queue.splice(at, 0, entry);
  }

  /** Runs everything that is due up to `until`; `afterEach` sees the world after every step. */
  runUntil(until: number, afterEach: () => void): void {
    for (let next = this.queue[0]; next !== undefined && next.at <= until; next = this.queue[0]) {
      this.queue.shift();
      this.now = Math.max(this.now, next.at);
      next.run();
      afterEach();
    }
    this.now = until;
  }
}

function later(a: { at: number; order: number }, b: { at: number; order: number }): boolean {
  return a.at > b.at || (a.at === b.at && a.order > b.order);
}
