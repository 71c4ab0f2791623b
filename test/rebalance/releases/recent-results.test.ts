import { describe, expect, it } from '@jest/globals';
import { RecentResults } from '../../../src/rebalance/releases/recent-results.js';

describe('recent results', () => {
  it('are made once', () => {
    const asked: string[] = [];
    const results = new RecentResults((text) => ({ text: asked.push(text) && text }));
    expect(results.of('a')).toBe(results.of('a'));
    expect(results.of('b').text).toBe('b');
    expect(asked).toEqual(['a', 'b']);
  });

  it('are forgotten when many others came since', () => {
    const asked: string[] = [];
    const results = new RecentResults((text) => asked.push(text));
    results.of('first');
    for (let number = 0; number < 8; number++) results.of(`other ${number}`);
    expect(asked.length).toBe(9);
    results.of('first');
    expect(asked.length).toBe(10);
  });

  it('remember no failure', () => {
    let fails = true;
    const results = new RecentResults((text) => {
      if (fails) throw new Error(text);
      return text;
    });
    expect(() => results.of('a')).toThrow('a');
    fails = false;
    expect(results.of('a')).toBe('a');
  });
});
