import { describe, expect, it } from '@jest/globals';
import { defined } from '../../src/processors/defined-result.js';

describe('a user function whose result is held to the rule', () => {
  it('gets the arguments that were given and no more: Number() is 0, Number(undefined) is NaN', () => {
    expect(defined('aggregate: the initializer', Number as () => number)()).toBe(0);
    expect(defined('reduce: the reducer', Math.max)(3, 5)).toBe(5);
    expect(defined('aggregate: the aggregator', (...args: unknown[]) => args)('a', null, 0)).toEqual(['a', null, 0]);
  });

  it('fails when it gives undefined, now or later, and may give null', async () => {
    const forgot = defined('mapValues: the mapper', (): string | undefined => undefined);
    const forgotLater = defined('mapValues: the mapper', async (): Promise<string | undefined> => undefined);
    expect(() => forgot()).toThrow('mapValues: the mapper gave undefined');
    await expect(forgotLater()).rejects.toThrow('mapValues: the mapper gave undefined');
    expect(defined('mapValues: the mapper', () => null)()).toBeNull();
  });
});
