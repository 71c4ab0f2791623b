import { describe, expect, it } from '@jest/globals';
import { RestingThreads } from '../../../src/app/threads/resting-threads.js';

const open = new AbortController().signal;

describe('threads that rest after a crash', () => {
  it('rest side by side: none waits for the pause of another', async () => {
    const threads = new RestingThreads();
    const closed = new AbortController();
    for (const index of [0, 2]) threads.crashed(index);
    const long = threads.rest(0, 600_000, closed.signal);
    await threads.rest(2, 0, closed.signal);
    expect([threads.size, threads.last, threads.has(0), threads.has(1)]).toEqual([2, 2, true, false]);
    expect(threads.wake(2)).toBe(true);
    expect([threads.size, threads.last]).toEqual([1, 0]);
    closed.abort(new Error('closed'));
    await expect(long).rejects.toThrow('closed');
    expect(threads.size).toBe(0);
  });

  it('do not come back when they are removed, in their pause or after it', async () => {
    const threads = new RestingThreads();
    threads.crashed(1);
    const long = threads.rest(1, 600_000, open);
    threads.giveUp(1);
    await expect(long).rejects.toThrow('thread 1 was removed while it rested');
    expect(threads.last).toBe(-1);
    threads.crashed(1);
    await threads.rest(1, 0, open);
    threads.giveUp(1);
    expect(threads.wake(1)).toBe(false);
  });

  it('keep their numbers while nobody has decided yet whether they come back', async () => {
    const threads = new RestingThreads();
    threads.crashed(1);
    expect([threads.has(1), threads.last, threads.size]).toEqual([true, 1, 1]);
    // Removed meanwhile: the decision comes too late.
    threads.giveUp(1);
    await expect(threads.rest(1, 0, open)).rejects.toThrow('thread 1 was removed while it rested');
    expect(threads.has(1)).toBe(false);
  });
});
