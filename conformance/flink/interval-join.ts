/** Cases `{ lower, upper, steps: [{ in: [op, time], out, leftBuffer, rightBuffer }] }`, and bounds that are refused. */
import { inclusiveBounds, type IntervalBounds } from '../../src/processors/interval-join/interval-bounds.js';
import { IntervalJoinEngine, intervalJoinStates } from '../../src/processors/interval-join/interval-join-engine.js';
import { KeyedStates } from '../../src/processors/state/keyed-states.js';
import { MemoryKeyedStateBackend } from '../../src/processors/state/memory-keyed-state-backend.js';
import { TimerService } from '../../src/processors/timers/timer-service.js';
import { WatermarkCombiner } from '../../src/time/watermarks/watermark-combiner.js';
import { list, number, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { differs } from './shown.js';

export function intervalJoinCase({ list: from, index, value }: CaseEntry): ConformanceCase | null {
  if (!('lower' in value && 'upper' in value)) return null;
  if ('error' in value) return { name: `${from}[${index}]`, run: async () => refused(value) };
  if (!('steps' in value)) return null;
  return { name: text(value, 'name'), run: async () => run(value) };
}

function run(value: JsonObject): string[] {
  const backend = new MemoryKeyedStateBackend();
  backend.setCurrentKey('key');
  const states = new KeyedStates(backend, () => 0);
  const timers = new TimerService(backend, () => 0);
  const descriptors = intervalJoinStates<number, number>();
  let out: Json[] = [];
  let late = { left: 0, right: 0 };
  const engine = new IntervalJoinEngine<number, number>(inclusiveBounds(boundsOf(value)), descriptors, states, timers, {
    joined: (left, right, ts) => out.push({ left, right, ts }),
    late: (side) => late[side]++,
  });
  const combiner = new WatermarkCombiner<string>(
    {
      emit: (watermark) => {
        timers.advanceWatermark(watermark);
        for (let timer = timers.nextEventTimer(); timer !== null; timer = timers.nextEventTimer()) engine.onEventTimer(timer);
      },
      markIdle: () => undefined,
      markActive: () => undefined,
    },
    'ignore',
  );
  combiner.add('wmLeft');
  combiner.add('wmRight');
  const buffer = (side: 'left' | 'right'): number[] =>
    states
      .state(descriptors[side])
      .keys()
      .toSorted((a, b) => a - b);
  return (list(value, 'steps') as readonly JsonObject[]).flatMap((step, at) => {
    out = [];
    late = { left: 0, right: 0 };
    const [op, time] = list(step, 'in') as [string, number];
    if (op === 'left') engine.processLeft(time, time);
    else if (op === 'right') engine.processRight(time, time);
    else combiner.advance(op, time);
    return [
      ...differs(`step ${at}`, sorted(step.out), sorted(out)),
      ...differs(`step ${at}, left buffer`, step.leftBuffer, buffer('left')),
      ...differs(`step ${at}, right buffer`, step.rightBuffer, buffer('right')),
      ...differs(`step ${at}, late left`, step.lateLeft ?? 0, late.left),
      ...differs(`step ${at}, late right`, step.lateRight ?? 0, late.right),
    ];
  });
}

function refused(value: JsonObject): string[] {
  try {
    inclusiveBounds(boundsOf(value));
    return ['expected an error'];
  } catch {
    return [];
  }
}

function boundsOf(value: JsonObject): IntervalBounds {
  const { lowerInclusive, upperInclusive } = value;
  return {
    lower: number(value, 'lower'),
    upper: number(value, 'upper'),
    lowerInclusive: lowerInclusive !== false,
    upperInclusive: upperInclusive !== false,
  };
}

/** The case files list matches in the order of Flink's map. */
function sorted(out: Json | undefined): Json[] {
  return (out as readonly JsonObject[])
    .map(({ left, right, ts }) => ({ left, right, ts }))
    .toSorted((a, b) => JSON.stringify(a).localeCompare(JSON.stringify(b)));
}
