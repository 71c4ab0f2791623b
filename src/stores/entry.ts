/**
 * One entry of a row that holds a list: a session, a sliding window. Entries of a row are in order of (time, second) and distinct by them.
 *
 *   session          time = end           second = start
 *   sliding window   time = window start  second = 0
 *
 * A removed entry has value null. It stays in its list until the freeze after its removal, so that putting it again before that finds it.
 */
export class Entry<V> {
  value: V | null = null;
  timestamp = -1;
  /** The store's generation that changed it last: equal to the store's own when it stands in the log of the active epoch. */
  stamp = 0;
  /** Where the value's bytes are in the layer of the freeze that is at work. */
  valueStart = 0;
  valueEnd = 0;
  /** As in `Row`. */
  changeStamp = 0;
  captureStamp = 0;
  captured: Buffer | null = null;

  /** `born`: the generation that made it. */
  constructor(
    readonly time: number,
    readonly second: number,
    readonly born: number,
  ) {}
}

/** Index of the first entry at or above (time, second). Most searches are for the end. */
export function firstAtOrAbove<V>(list: readonly Entry<V>[], time: number, second: number): number {
  let high = list.length;
  if (high === 0 || isBelow(list[high - 1] as Entry<V>, time, second)) return high;
  let low = 0;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBelow(list[middle] as Entry<V>, time, second)) low = middle + 1;
    else high = middle;
  }
  return low;
}

function isBelow<V>(entry: Entry<V>, time: number, second: number): boolean {
  return entry.time < time || (entry.time === time && entry.second < second);
}
