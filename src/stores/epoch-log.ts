/**
 * The frozen epochs of a task that are not in the engine yet, oldest first: those whose transaction is in flight, and before them those that are committed
 * and due. Epochs commit in order, so the due ones are a prefix.
 */
import { MillraceError } from '../errors.js';
import type { EpochLayer, EpochState } from './epoch-state.js';

export interface FrozenEpoch {
  readonly epoch: number;
  readonly layers: readonly (readonly [EpochState, EpochLayer])[];
  readonly bytes: number;
  committed: boolean;
  /** Changelog positions by store name, known with the commit. */
  nextOffsets: ReadonlyMap<string, number>;
}

const noOffsets: ReadonlyMap<string, number> = new Map();

export class EpochLog {
  /** Bytes of the committed epochs. */
  dueBytes = 0;
  private readonly epochs: FrozenEpoch[] = [];

  constructor(private readonly taskId: string) {}

  freeze(epoch: number, layers: readonly (readonly [EpochState, EpochLayer])[]): void {
    const last = this.epochs[this.epochs.length - 1];
    if (last !== undefined && last.epoch >= epoch) {
      throw new MillraceError('MILL_INVARIANT', `Task ${this.taskId}: epoch ${epoch} was frozen after epoch ${last.epoch}`);
    }
    let bytes = 0;
    for (const [, layer] of layers) bytes += layer.byteLength;
    this.epochs.push({ epoch, layers, bytes, committed: false, nextOffsets: noOffsets });
  }

  commit(epoch: number, nextOffsets: ReadonlyMap<string, number>): void {
    const next = this.epochs.find((frozen) => !frozen.committed);
    if (next?.epoch !== epoch) {
      const expected = next === undefined ? 'none is frozen' : `epoch ${next.epoch} is the next`;
      throw new MillraceError('MILL_INVARIANT', `Task ${this.taskId}: epoch ${epoch} was committed, but ${expected}`);
    }
    next.committed = true;
    next.nextOffsets = nextOffsets;
    for (const [state, layer] of next.layers) state.layerCommitted(layer);
    this.dueBytes += next.bytes;
  }

  due(): readonly FrozenEpoch[] {
    const firstOpen = this.epochs.findIndex((frozen) => !frozen.committed);
    return firstOpen < 0 ? this.epochs.slice() : this.epochs.slice(0, firstOpen);
  }

  /** The oldest `count` epochs are in the engine. */
  done(count: number): void {
    for (const frozen of this.epochs.splice(0, count)) this.dueBytes -= frozen.bytes;
  }
}
