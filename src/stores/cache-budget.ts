/**
 * The bytes that the rows of a task's LevelDB stores may take in memory. Rows not yet in the engine count but can't be evicted: the runtime bounds them
 * by committing early. A store that adds a row past the limit makes room for it by a bounded number of CLOCK steps over all stores in turn, so that
 * no single record pays for a long search.
 */
export interface Evictable {
  /** Moves the clock hand over at most `steps` rows and evicts those that had their second chance; returns the bytes freed. */
  evict(steps: number): number;
}

const stepsPerRow = 16;
const turnsPerEpoch = 128;

export class CacheBudget {
  used = 0;
  pinned = 0;
  private readonly stores: Evictable[] = [];
  private turn = 0;

  /** @param limit bytes; a smaller one is reached as rows are added, and by `shrink` */
  constructor(public limit: number) {}

  add(store: Evictable): void {
    this.stores.push(store);
  }

  /** Called once an epoch: goes on towards a limit that became smaller. */
  shrink(): void {
    for (let turn = 0; turn < turnsPerEpoch && this.used > this.limit; turn++) this.makeRoom(0);
  }

  /** Called before a row of `size` bytes is added. */
  makeRoom(size: number): void {
    const needed = this.used + size - this.limit;
    if (needed <= 0 || this.used === this.pinned) return;
    let freed = 0;
    for (let i = 0; i < this.stores.length && freed < needed; i++) {
      this.turn = (this.turn + 1) % this.stores.length;
      freed += (this.stores[this.turn] as Evictable).evict(stepsPerRow);
    }
  }
}
