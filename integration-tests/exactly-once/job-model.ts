import type { ReadRecord } from '../faults/topic-tail.js';
import { after, nothing, type Fold } from './fold.js';
import { rekey, windowName, windowSize } from './job-topology.js';

/** What the job must have written, folded from what its input topic really holds. */
export class JobModel {
  readonly values = new Map<string, number[]>();
  readonly folds = new Map<string, Fold[]>();
  /** By window name. */
  readonly windows = new Map<string, Fold[]>();
  /** Final folds of windows that stream time has passed, by window name. */
  readonly finals = new Map<string, Fold[]>();

  /** @param bounded whether windows that are still open have been told too */
  constructor(input: readonly ReadRecord[], bounded = false) {
    const places = new Map<string, { readonly partition: number; readonly end: number }>();
    const streamTimes = new Map<number, number>();
    for (const { key, value, timestamp, partition } of input) {
      if (key === null || value === null) throw new Error('the job’s input has neither null keys nor null values');
      const number = value.readInt32BE(0);
      append(this.values, key, number);
      addTo(this.folds, key, number);
      const start = Math.floor(timestamp / windowSize) * windowSize;
      if (timestamp < (streamTimes.get(partition) ?? 0)) throw new Error('the job’s input is in the order of time');
      streamTimes.set(partition, timestamp);
      addTo(this.windows, windowName(key, start), number);
      places.set(windowName(key, start), { partition, end: start + windowSize });
    }
    for (const [name, { partition, end }] of places) {
      const folds = this.windows.get(name) ?? [];
      if (bounded || end <= (streamTimes.get(partition) ?? 0)) this.finals.set(name, folds.slice(-1));
    }
  }

  /** Final folds by key, as stores hold them. */
  get state(): ReadonlyMap<string, Fold> {
    return new Map([...this.folds].map(([key, folds]) => [key, folds[folds.length - 1] as Fold]));
  }

  get rekeyedState(): ReadonlyMap<string, Fold> {
    return new Map([...this.state].map(([key, fold]) => [rekey(key), fold]));
  }
}

export function foldOf(value: Buffer | null): Fold {
  return value === null ? nothing() : (JSON.parse(value.toString()) as Fold);
}

function addTo(folds: Map<string, Fold[]>, name: string, value: number): void {
  const soFar = folds.get(name) ?? [];
  append(folds, name, after(soFar[soFar.length - 1] ?? nothing(), value));
}

function append<K, V>(map: Map<K, V[]>, key: K, value: V): void {
  const list = map.get(key);
  if (list === undefined) map.set(key, [value]);
  else list.push(value);
}
