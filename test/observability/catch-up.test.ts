import { describe, expect, it } from '@jest/globals';
import { catchUpSeconds } from '../../src/observability/catch-up.js';

describe('catching up', () => {
  it('takes the backlog by the difference of the rates', () => {
    expect(catchUpSeconds(6_000_000, 100_000, 150_000)).toBe(120);
    expect(catchUpSeconds(0, 5, 1)).toBe(0);
  });

  it('never ends when as much comes in as goes out', () => {
    expect(catchUpSeconds(1, 100, 100)).toBe(Infinity);
    expect(catchUpSeconds(1, 100, 50)).toBe(Infinity);
  });

  it('is of numbers of at least 0', () => {
    expect(() => catchUpSeconds(-1, 0, 1)).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
    expect(() => catchUpSeconds(1, Number.NaN, 1)).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
  });
});
