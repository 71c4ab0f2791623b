import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Wakeup } from '../../src/runtime/wakeup.js';

describe('a wake-up', () => {
  beforeEach(() => {
    jest.useFakeTimers();
  });
  afterEach(() => {
    jest.useRealTimers();
  });

  const state = (promise: Promise<void>): { done: boolean } => {
    const seen = { done: false };
    void promise.then(() => (seen.done = true));
    return seen;
  };

  it('comes after the time given', async () => {
    const waiting = state(new Wakeup().wait(50));
    await jest.advanceTimersByTimeAsync(49);
    expect(waiting.done).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(waiting.done).toBe(true);
  });

  it('comes at once with news, and leaves no timer behind', async () => {
    const wakeup = new Wakeup();
    const waiting = state(wakeup.wait(1_000_000));
    wakeup.notify();
    await jest.advanceTimersByTimeAsync(0);
    expect(waiting.done).toBe(true);
    expect(jest.getTimerCount()).toBe(0);
  });

  it('is not lost when the news comes before the wait', async () => {
    const wakeup = new Wakeup();
    wakeup.notify();
    const waiting = state(wakeup.wait(1_000_000));
    await jest.advanceTimersByTimeAsync(1);
    expect(waiting.done).toBe(true);
  });

  it('counts old news once', async () => {
    const wakeup = new Wakeup();
    wakeup.notify();
    wakeup.notify();
    await Promise.all([wakeup.wait(1_000_000), jest.advanceTimersByTimeAsync(1)]);
    const waiting = state(wakeup.wait(10));
    await jest.advanceTimersByTimeAsync(9);
    expect(waiting.done).toBe(false);
    await jest.advanceTimersByTimeAsync(1);
    expect(waiting.done).toBe(true);
  });
});
