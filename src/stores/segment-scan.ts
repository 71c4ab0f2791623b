/** Which segments a store has in the engine, one seek each: an engine key of a store with segments begins with the store's id and a segment's start. */
import type { Engine } from './engine/engine.js';
import { startInEngineKey, windowPrefix } from './window-key.js';

/** @param id first bytes of the store's engine keys @param end first bytes behind them */
export async function findSegments(engine: Engine, id: Buffer, end: Buffer, found: (start: number) => void): Promise<void> {
  const scan = engine.scan({ from: id, to: end, keysOnly: true });
  try {
    for (;;) {
      const [first] = await scan.next(1);
      if (first === undefined) return;
      const start = startInEngineKey(first[0], id.length);
      found(start);
      scan.seek(windowPrefix(id, start + 1));
    }
  } finally {
    await scan.close();
  }
}
