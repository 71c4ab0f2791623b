/**
 * Puts committed epochs into the engine: one atomic batch, built in slices between which the event loop runs. Rows may change meanwhile: what is written are
 * the bytes of the frozen layers.
 */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Engine, EngineBatch } from './engine/engine.js';
import type { FrozenEpoch } from './epoch-log.js';

/** Rows put into a batch before the event loop gets a turn; releasing one costs about a tenth. */
const sliceRows = 2000;
const releaseSliceRows = 10 * sliceRows;

export class EpochWriter {
  private mark = 0;

  /** `finish` adds what belongs into the same batch. */
  async write(engine: Engine, due: readonly FrozenEpoch[], finish: (batch: EngineBatch) => void): Promise<void> {
    const batch = engine.batch();
    try {
      await this.fill(batch, due);
      finish(batch);
    } catch (error) {
      await batch.close();
      throw error;
    }
    await batch.write();
  }

  /** Newest epoch first: rows that a newer epoch has put into the batch are left out of the older ones. */
  private async fill(batch: EngineBatch, due: readonly FrozenEpoch[]): Promise<void> {
    const mark = ++this.mark;
    let room = sliceRows;
    for (let e = due.length - 1; e >= 0; e--) {
      for (const [state, layer] of (due[e] as FrozenEpoch).layers) {
        if (state.engine === null) continue;
        for (let from = 0; from < layer.rowCount;) {
          const to = Math.min(from + room, layer.rowCount);
          layer.putRows(batch, from, to, mark);
          room -= to - from;
          from = to;
          if (room > 0) continue;
          room = sliceRows;
          await nextTurn();
        }
      }
    }
  }
}

/** The epochs are in the engine: their rows may be evicted unless a later epoch holds them. */
export async function releaseRows(due: readonly FrozenEpoch[]): Promise<void> {
  let rows = 0;
  for (const { layers } of due) {
    for (const [state, layer] of layers) {
      rows += layer.rowCount;
      state.release(layer);
      if (rows <= releaseSliceRows) continue;
      rows = 0;
      await nextTurn();
    }
  }
}
