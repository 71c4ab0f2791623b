import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { hopping, tumbling, unlimited } from '../../src/time/time-windows.js';
import { Windowed } from '../../src/time/windowed.js';

const bounds = (windows: readonly { start: number; end: number }[]): number[][] => windows.map(({ start, end }) => [start, end]);

describe('time windows', () => {
  it('hopping windows of a timestamp come by ascending start', () => {
    expect(bounds(hopping({ size: 12, advance: 5 }).windowsFor(21))).toEqual([
      [10, 22],
      [15, 27],
      [20, 32],
    ]);
  });

  it('a timestamp between the hops is in fewer windows', () => {
    expect(bounds(hopping({ size: 6, advance: 5 }).windowsFor(7))).toEqual([[5, 11]]);
  });

  it('a tumbling window holds its start and not its end', () => {
    expect(bounds(tumbling({ size: 12 }).windowsFor(12))).toEqual([[12, 24]]);
    expect(bounds(tumbling({ size: 12 }).windowsFor(23))).toEqual([[12, 24]]);
    expect(bounds(tumbling({ size: 12 }).windowsFor(24))).toEqual([[24, 36]]);
  });

  it('no window starts below 0', () => {
    expect(bounds(hopping({ size: 10, advance: 5 }).windowsFor(3))).toEqual([[0, 10]]);
  });

  it('there is no implicit grace', () => {
    expect(tumbling({ size: 10 }).grace).toBe(0);
    expect(hopping({ size: 10, advance: 5, grace: 7 }).grace).toBe(7);
  });

  it('are frozen', () => {
    expect(Object.isFrozen(tumbling({ size: 10 }))).toBe(true);
  });

  it.each([
    [{ size: 0 }, 'size'],
    [{ size: -1 }, 'size'],
    [{ size: 1.5 }, 'size'],
    [{ size: Number.NaN }, 'size'],
    [{ size: 10, grace: -1 }, 'grace'],
  ])('tumbling(%j) is refused', (options, word) => {
    expect(() => tumbling(options)).toThrow(
      expect.objectContaining({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(word) }),
    );
  });

  it.each([[{ size: 10, advance: 0 }], [{ size: 10, advance: 11 }], [{ size: 10, advance: -5 }]])('hopping(%j) is refused', (options) => {
    expect(() => hopping(options)).toThrow(
      expect.objectContaining({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining('advance') }),
    );
  });

  it('all faults are named at once', () => {
    expect(() => hopping({ size: 10, advance: 20, grace: -1 })).toThrow(/advance.*grace/);
  });

  it('the windows of a timestamp are exactly the aligned ones that hold it', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 1, max: 500 }),
        fc.integer({ min: 0, max: 5000 }),
        (a, b, timestamp) => {
          const [advance, size] = a < b ? [a, b] : [b, a];
          const expected: number[][] = [];
          for (let start = 0; start <= timestamp; start += advance) if (timestamp < start + size) expected.push([start, start + size]);
          expect(bounds(hopping({ size, advance }).windowsFor(timestamp))).toEqual(expected);
        },
      ),
    );
  });
});

describe('Windowed', () => {
  it('prints as Kafka Streams prints it', () => {
    expect(String(new Windowed('A', { start: 0, end: 10 }))).toBe('[A@0/10]');
  });
});

describe('unlimited windows', () => {
  it('are one window from the start on', () => {
    const windows = unlimited({ start: 100 });
    expect(windows.windowsFor(99)).toEqual([]);
    expect(windows.windowsFor(100)).toEqual([{ start: 100, end: Number.MAX_SAFE_INTEGER }]);
    expect(windows.firstStart(99)).toBe(Infinity);
    expect(windows.firstStart(1e12)).toBe(100);
  });

  it('refuse a start that is no time', () => {
    expect(() => unlimited({ start: -1 })).toThrow('MILL_CONFIG_INVALID');
  });
});
