import { describe, expect, it } from '@jest/globals';
import { TimerNames } from '../../src/runtime/timer-names.js';

describe('names of timers', () => {
  it('are by node and place, and free again when a timer is cancelled, once', () => {
    const names = new TimerNames();
    const [first, second] = [names.take('a'), names.take('a')];
    expect([first.name, second.name, names.take('b').name]).toEqual(['a timer 0', 'a timer 1', 'b timer 0']);
    first.release();
    const third = names.take('a');
    first.release();
    expect([third.name, names.take('a').name]).toEqual(['a timer 0', 'a timer 2']);
  });
});
