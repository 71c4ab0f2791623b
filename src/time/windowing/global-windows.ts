import type { WindowAssigner } from './window-assigner.js';
import { globalWindow } from './window-span.js';

const assigned = Object.freeze([globalWindow]);

/** One window for everything of a key. It never ends, so it needs a trigger of its own: a count, say. */
export function globalWindows(): WindowAssigner {
  return Object.freeze<WindowAssigner>({
    name: 'globalWindows',
    time: 'event',
    merges: false,
    size: null,
    defaultTrigger: 'never',
    assign: () => assigned,
  });
}
