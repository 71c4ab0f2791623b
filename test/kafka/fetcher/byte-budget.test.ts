import { describe, expect, it } from '@jest/globals';
import { ByteBudget } from '../../../src/kafka/fetcher/byte-budget.js';

describe('the budget of bytes in memory', () => {
  it('follows a bound that shrinks (a thread more has its share): nothing is fetched until what is above it was worked off', () => {
    let bound = 1_000;
    const budget = new ByteBudget(() => bound, 1_000, 100);
    budget.buffer(600);
    expect(budget.isFull).toBe(false);
    expect(budget.reserve(1_000, 1)).toBe(400);
    budget.unreserve(400);
    bound = 500;
    expect(budget.isFull).toBe(true);
    expect(budget.reserve(1_000, 1)).toBe(0);
    budget.release(400);
    expect(budget.isFull).toBe(false);
    expect(budget.reserve(1_000, 1)).toBe(250);
  });
});
