import { describe, expect, it } from '@jest/globals';
import { PunctuationQueue } from '../../src/time/punctuation-queue.js';

describe('punctuation queue', () => {
  it('fires when time reaches the schedule, not before', () => {
    const queue = new PunctuationQueue();
    const fired: number[] = [];
    queue.schedule(100, 50, (timestamp) => void fired.push(timestamp));
    void queue.punctuate(99);
    expect(fired).toEqual([]);
    void queue.punctuate(100);
    void queue.punctuate(149);
    void queue.punctuate(151);
    expect(fired).toEqual([100, 151]);
    expect(queue.nextAt).toBe(200);
  });

  it('a schedule at 0 fires on the first stream time, with that time', () => {
    const queue = new PunctuationQueue();
    const fired: number[] = [];
    queue.schedule(0, 100, (timestamp) => void fired.push(timestamp));
    void queue.punctuate(1_234);
    expect(fired).toEqual([1_234]);
    expect(queue.nextAt).toBe(1_300);
  });

  it('a jump over many intervals fires once', () => {
    const queue = new PunctuationQueue();
    const fired: number[] = [];
    queue.schedule(100, 100, (timestamp) => void fired.push(timestamp));
    void queue.punctuate(1_050);
    void queue.punctuate(1_099);
    void queue.punctuate(1_100);
    expect(fired).toEqual([1_050, 1_100]);
  });

  it('several schedules fire in order of their time, then of their making', () => {
    const queue = new PunctuationQueue();
    const fired: string[] = [];
    queue.schedule(20, 100, () => void fired.push('b'));
    queue.schedule(10, 100, () => void fired.push('a'));
    queue.schedule(20, 100, () => void fired.push('c'));
    void queue.punctuate(30);
    expect(fired).toEqual(['a', 'b', 'c']);
  });

  it('a cancelled schedule fires no more, also when it cancels itself', () => {
    const queue = new PunctuationQueue();
    const fired: string[] = [];
    const first = queue.schedule(10, 10, () => void fired.push('first'));
    const second = queue.schedule(10, 10, () => {
      fired.push('second');
      second.cancel();
    });
    first.cancel();
    void queue.punctuate(10);
    void queue.punctuate(100);
    expect(fired).toEqual(['second']);
    expect(queue.nextAt).toBe(Infinity);
  });

  it('a schedule made while firing takes part at once when it is due', () => {
    const queue = new PunctuationQueue();
    const fired: string[] = [];
    const outer = queue.schedule(10, 1_000, () => {
      fired.push('outer');
      outer.cancel();
      queue.schedule(5, 1_000, () => void fired.push('inner'));
    });
    void queue.punctuate(10);
    expect(fired).toEqual(['outer', 'inner']);
  });

  it('waits for a promise before the next one', async () => {
    const queue = new PunctuationQueue();
    const fired: string[] = [];
    queue.schedule(10, 100, async () => {
      await Promise.resolve();
      fired.push('slow');
    });
    queue.schedule(10, 100, () => void fired.push('quick'));
    await queue.punctuate(10);
    expect(fired).toEqual(['slow', 'quick']);
    expect(queue.nextAt).toBe(110);
  });

  it.each([0, -1, 1.5, Number.NaN])('an interval of %p is refused', (interval) => {
    expect(() => new PunctuationQueue().schedule(0, interval, () => undefined)).toThrow(
      expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }),
    );
  });
});
