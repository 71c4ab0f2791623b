/** Rows `{ sizeMs, advanceMs, ts, windows }`: the hopping windows of a timestamp. */
import { hopping } from '../../src/time/time-windows.js';
import { number, type CaseEntry, type ConformanceCase } from '../case.js';

export function windowsForRow({ list, value }: CaseEntry): ConformanceCase | null {
  if (list !== 'windowsFor.rows') return null;
  const [size, advance, timestamp] = [number(value, 'sizeMs'), number(value, 'advanceMs'), number(value, 'ts')];
  return {
    name: `windows of ${timestamp}, size ${size}, advance ${advance}`,
    run: async () => {
      const got = JSON.stringify(
        hopping({ size, advance })
          .windowsFor(timestamp)
          .map(({ start, end }) => [start, end]),
      );
      const expected = JSON.stringify(value.windows);
      return got === expected ? [] : [`expected ${expected}, got ${got}`];
    },
  };
}
