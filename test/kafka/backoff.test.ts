import { describe, expect, it } from '@jest/globals';

import { backoffMs, delay } from '../../src/kafka/backoff.js';

describe('backoff', () => {
  it('doubles up to its bound', () => {
    const pauses = [1, 2, 3, 4, 5, 100].map((failures) => backoffMs(failures, { initialMs: 20, maxMs: 200 }, () => 0.5));
    expect(pauses).toEqual([20, 40, 80, 160, 200, 200]);
  });

  it('spreads by a fifth either way', () => {
    expect(backoffMs(1, { initialMs: 100, maxMs: 1000 }, () => 0)).toBeCloseTo(80);
    expect(backoffMs(1, { initialMs: 100, maxMs: 1000 }, () => 0.999_999)).toBeCloseTo(120);
  });

  it('waits, and stops waiting when told so', async () => {
    await delay(1);
    const controller = new AbortController();
    const waiting = delay(60_000, controller.signal);
    controller.abort(new Error('enough'));
    await expect(waiting).rejects.toThrow('enough');
    await expect(delay(60_000, controller.signal)).rejects.toThrow('enough');
  });
});
