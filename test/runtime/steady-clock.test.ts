import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { steadyClock } from '../../src/runtime/steady-clock.js';

afterEach(() => {
  jest.restoreAllMocks();
});

describe('the steady clock', () => {
  it.each([-86_400_000, 86_400_000])('goes on as before when the wall clock is set by %i ms', (byMs) => {
    const [date, monotonic] = [jest.spyOn(Date, 'now'), jest.spyOn(performance, 'now')];
    date.mockReturnValue(1_700_000_000_000);
    monotonic.mockReturnValue(5.25);
    const now = steadyClock();
    expect(now()).toBe(1_700_000_000_000);
    date.mockReturnValue(1_700_000_000_000 + byMs);
    monotonic.mockReturnValue(105.5);
    expect(now()).toBe(1_700_000_000_100);
  });
});
