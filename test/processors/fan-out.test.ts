import { describe, expect, it } from '@jest/globals';
import { FanOut } from '../../src/processors/fan-out.js';
import type { Downstream } from '../../src/processors/operator.js';

describe('fan-out', () => {
  it('hands a record to the children one after the other', () => {
    const seen: string[] = [];
    const child = (name: string): Downstream => ({ process: (key) => void seen.push(`${name}:${String(key)}`) });
    expect(new FanOut([child('a'), child('b')]).process('k', 'v', 1)).toBeUndefined();
    expect(seen).toEqual(['a:k', 'b:k']);
  });

  it('waits for a child before it calls the next', async () => {
    const seen: string[] = [];
    const slow: Downstream = {
      process: async () => {
        await Promise.resolve();
        seen.push('slow');
      },
    };
    const quick: Downstream = { process: () => void seen.push('quick') };
    await new FanOut([quick, slow, quick, slow]).process('k', 'v', 1);
    expect(seen).toEqual(['quick', 'slow', 'quick', 'slow']);
  });

  it('a child that fails keeps the record from the later ones', async () => {
    const seen: string[] = [];
    const failing: Downstream = { process: () => Promise.reject(new Error('no')) };
    const later: Downstream = { process: () => void seen.push('later') };
    await expect(new FanOut([failing, later]).process('k', 'v', 1)).rejects.toThrow('no');
    expect(seen).toEqual([]);
  });
});
