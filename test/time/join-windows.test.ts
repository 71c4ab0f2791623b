import { describe, expect, it } from '@jest/globals';
import { joinWindows } from '../../src/time/join-windows.js';

describe('join windows', () => {
  it('say how far before and after a left record its partners lie; there is no grace unless it is given', () => {
    expect(joinWindows({ before: 5, after: 20 })).toMatchObject({ before: 5, after: 20, grace: 0, size: 25 });
    expect(joinWindows({ before: 0, after: 0, grace: 7 })).toMatchObject({ grace: 7, size: 0 });
  });

  it('may lie before or after their record altogether', () => {
    expect(joinWindows({ before: -10, after: 20 }).size).toBe(10);
    expect(joinWindows({ before: 10, after: -10 }).size).toBe(0);
  });

  it.each([
    [{ before: -10, after: 5 }, 'the window would end 5 ms before it starts'],
    [{ before: 0.5, after: 5 }, 'before must be a whole number'],
    [{ before: 0, after: Infinity }, 'after must be a whole number'],
    [{ before: 0, after: 5, grace: -1 }, 'grace must be a whole number of milliseconds, 0 or more'],
  ])('refuse %j', (options, message) => {
    expect(() => joinWindows(options)).toThrow(message);
  });
});
