/**
 * A restore puts changelog records into LevelDB without asking what was there, so keys that were written again are counted again. Counting what there is puts that right: slowly, so that
 * it takes little from the task, and only when somebody asks for the count.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { Engine } from './engine/engine.js';
import type { EpochState } from './epoch-state.js';
import { idPrefix } from './store-environment.js';

const pageKeys = 1000;
const pauseMs = 10;

/** More than a twentieth of the count comes from records that may have been counted before. */
export function isInDoubt({ uncounted, estimateNumKeys }: EpochState): boolean {
  return uncounted > 0 && uncounted * 20 > estimateNumKeys;
}

/** What is written meanwhile is counted as it is written; what waits for the engine at the beginning may be counted twice or not at all. */
export async function recount(engine: Engine, store: EpochState): Promise<void> {
  const before = store.estimateNumKeys;
  const doubted = store.uncounted;
  const scan = engine.scan({ from: store.countedFrom, to: idPrefix(store.id + 1), keysOnly: true });
  try {
    let counted = 0;
    for (;;) {
      const { length } = await scan.next(pageKeys);
      counted += length;
      if (length < pageKeys) break;
      await pause(pauseMs, undefined, { ref: false });
    }
    store.recounted(counted - before, doubted);
  } finally {
    await scan.close();
  }
}
