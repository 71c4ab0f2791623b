/**
 * How large the stores of a task are. Keys and bytes in memory are counted as they change; LevelDB is asked how much its files hold, after a write or a question, at most once
 * in some seconds, so that nothing is paid for it by the record.
 */
import type { Engine } from './engine/engine.js';
import type { EpochState } from './epoch-state.js';
import { isInDoubt, recount } from './recount.js';
import type { RestoreBuffer } from './restore-buffer.js';
import { idPrefix } from './store-environment.js';

/** One store of a task, measured. */
export interface StoreSize {
  /**
   * Rows that have a value: keys; of windows each key of each; sessions, sliding windows, records that wait for a join. An estimate: after a restore keys that the changelog has several
   * times count several times, until they are counted anew, which asking for it begins.
   */
  readonly estimateNumKeys: number;
  /** Its rows in memory: all of a store in memory, the cached ones of LevelDB. Estimated. */
  readonly memoryBytes: number;
  /** What LevelDB's table files hold of it, as of some seconds ago; what is in LevelDB's log alone is not in it. 0 for a store in memory. */
  readonly diskBytes: number;
}

const measuredEveryMs = 5000;
/** A standby is restored all the time, so its count is never sure for long: between two counts passes so many times the time that one takes. */
const recountPauses = 20;

export class StoreSizes {
  private readonly diskBytes = new Map<string, number>();
  private measuredAt = -Infinity;
  private measuring = false;
  private recounting = false;
  private readonly mayRecountAt = new Map<string, number>();

  /** @param now ms of a clock that is never set */
  constructor(
    private readonly engine: Engine | null,
    private readonly stores: readonly EpochState[],
    private readonly restoring: RestoreBuffer | null,
    private readonly now: () => number,
  ) {}

  /** Somebody wants to know: what is old is measured, and what is in doubt counted anew, in the background. */
  refresh(): void {
    this.remeasure();
    void this.recount();
  }

  /** By store name, as far as it is known. */
  snapshot(): Record<string, StoreSize> {
    return Object.fromEntries(
      this.stores.map((store) => [
        store.name,
        {
          estimateNumKeys: Math.round(store.estimateNumKeys),
          memoryBytes: store.memoryBytes,
          diskBytes: this.diskBytes.get(store.name) ?? 0,
        },
      ]),
    );
  }

  /** The engine was written to. It may put that into its files later: who asks then is told. */
  written(): void {
    this.remeasure();
  }

  /** Asks the engine; a failure leaves what is known. */
  async measure(): Promise<void> {
    const { engine } = this;
    if (engine === null) return;
    this.measuring = true;
    this.measuredAt = this.now();
    try {
      for (const { name, id, engine: own } of this.stores) {
        if (own !== null) this.diskBytes.set(name, await engine.sizeOf(idPrefix(id), idPrefix(id + 1)));
      }
    } catch {
      // The engine is being closed, or damaged: whoever uses it next says so.
    } finally {
      this.measuring = false;
    }
  }

  private async recount(): Promise<void> {
    const { engine } = this;
    const now = this.now();
    const mayBe = ({ name }: EpochState): boolean => now >= (this.mayRecountAt.get(name) ?? -Infinity);
    const store = this.recounting ? undefined : this.stores.find((each) => each.engine !== null && isInDoubt(each) && mayBe(each));
    // What is on its way to the engine would be counted out, and no longer be in doubt.
    if (engine === null || store === undefined || this.restoring?.isEmpty === false) return;
    this.recounting = true;
    try {
      await recount(engine, store);
    } catch {
      // As above.
    } finally {
      this.recounting = false;
      const ended = this.now();
      this.mayRecountAt.set(store.name, ended + recountPauses * (ended - now));
    }
  }

  private remeasure(): void {
    if (this.engine === null || this.measuring || this.now() - this.measuredAt < measuredEveryMs) return;
    void this.measure();
  }
}
