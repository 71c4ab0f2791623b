import { describe, expect, it } from '@jest/globals';

import { newClusterId } from '../../../scripts/stack/cluster-id.js';

describe('the id of a new cluster', () => {
  it('is never taken for an option: "kafka-storage: error: argument --cluster-id/-t: expected one argument"', () => {
    const draws = [Buffer.alloc(16, 0xfb), Buffer.alloc(16, 0x7f)];
    expect(draws[0]!.toString('base64url')).toMatch(/^-/);

    expect(newClusterId(() => draws.shift()!)).toBe(Buffer.alloc(16, 0x7f).toString('base64url'));
  });
});
