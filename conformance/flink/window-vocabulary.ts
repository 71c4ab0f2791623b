/** The words of the case files for assigners, triggers and evictors: `sliding:6:2`, `purging(count:4)`, `timeout:3:1000:false:true`. */
import { countEvictor, deltaEvictor, timeEvictor, type Evictor } from '../../src/processors/windowing/evictor.js';
import type { Trigger } from '../../src/processors/windowing/trigger.js';
import {
  continuousEventTimeTrigger,
  continuousProcessingTimeTrigger,
} from '../../src/processors/windowing/triggers/continuous-triggers.js';
import { countTrigger } from '../../src/processors/windowing/triggers/count-trigger.js';
import { deltaTrigger } from '../../src/processors/windowing/triggers/delta-trigger.js';
import { purgingTrigger } from '../../src/processors/windowing/triggers/purging-trigger.js';
import { eventTimeTrigger, neverTrigger, processingTimeTrigger } from '../../src/processors/windowing/triggers/time-triggers.js';
import { timeoutTrigger } from '../../src/processors/windowing/triggers/timeout-trigger.js';
import { globalWindows } from '../../src/time/windowing/global-windows.js';
import { sessionEventTime, sessionProcessingTime } from '../../src/time/windowing/session-windows.js';
import { slidingEventTime, slidingProcessingTime } from '../../src/time/windowing/sliding-windows.js';
import { tumblingEventTime, tumblingProcessingTime } from '../../src/time/windowing/tumbling-windows.js';
import type { WindowAssigner } from '../../src/time/windowing/window-assigner.js';

export function assignerOf(words: string): WindowAssigner<number> {
  const [kind = '', ...rest] = words.split(':');
  const [a = 0, b = 0, c = 0] = rest.map(Number);
  switch (kind) {
    case 'tumbling':
      return tumblingEventTime({ size: a, offset: b });
    case 'sliding':
      return slidingEventTime({ size: a, slide: b, offset: c });
    case 'session':
      return sessionEventTime({ gap: a });
    case 'dynsession':
      return sessionEventTime<number>({ gap: (value) => value * 1_000 });
    case 'tumblingProc':
      return tumblingProcessingTime({ size: a, offset: b });
    case 'slidingProc':
      return slidingProcessingTime({ size: a, slide: b, offset: c });
    case 'sessionProc':
      return sessionProcessingTime({ gap: a });
    case 'global':
      return globalWindows();
    default:
      throw new Error(`there is no assigner ${words}`);
  }
}

export function triggerOf(words: string, assigner: WindowAssigner<number>): Trigger<number> {
  const purging = /^purging\((.*)\)$/.exec(words);
  if (purging !== null) return purgingTrigger(triggerOf(purging[1] ?? '', assigner));
  const [kind = '', ...rest] = words.split(':');
  const [a = 0, b = 0] = rest.map(Number);
  switch (kind) {
    case 'default':
      return defaultTriggerOf(assigner);
    case 'event':
      return eventTimeTrigger();
    case 'proc':
      return processingTimeTrigger();
    case 'count':
      return countTrigger(a);
    case 'contevent':
      return continuousEventTimeTrigger(a);
    case 'contproc':
      return continuousProcessingTimeTrigger(a);
    case 'delta':
      return deltaTrigger<number>(a, (last, value) => value - last);
    case 'timeout':
      return timeoutTrigger(countTrigger(a), { timeout: b, resetOnRecord: rest[2] === 'true', clearOnTimeout: rest[3] === 'true' });
    default:
      throw new Error(`there is no trigger ${words}`);
  }
}

export function evictorOf(words: string): Evictor<number> {
  const [kind = '', size = '', ...flags] = words.split(':');
  const options = { after: flags.includes('after') || flags.includes('true') };
  if (kind === 'count') return countEvictor(Number(size), options);
  if (kind === 'time') return timeEvictor(Number(size), options);
  if (kind === 'delta') return deltaEvictor<number>(Number(size), (value, last) => last - value, options);
  throw new Error(`there is no evictor ${words}`);
}

function defaultTriggerOf({ defaultTrigger }: WindowAssigner<number>): Trigger {
  if (defaultTrigger === 'never') return neverTrigger();
  return defaultTrigger === 'event' ? eventTimeTrigger() : processingTimeTrigger();
}
