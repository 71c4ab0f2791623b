/** Functions that windows and state by key call in the middle of their work must answer at once: a promise taken for an answer would be stored, or taken for none. */
import { describe, expect, it } from '@jest/globals';
import type { KeyedStream } from '../../src/dsl/keyed-stream.js';
import type { KeyedProcessor, KeyedProcessorContext } from '../../src/processors/event-time/keyed-processor.js';
import type { Record } from '../../src/processors/processor.js';
import type { AggregateFunction } from '../../src/processors/state/aggregate-function.js';
import { aggregatingState, reducingState } from '../../src/processors/state/state-descriptor.js';
import { countEvictor, deltaEvictor, type Evictor } from '../../src/processors/windowing/evictor.js';
import type { Trigger } from '../../src/processors/windowing/trigger.js';
import { countTrigger } from '../../src/processors/windowing/triggers/count-trigger.js';
import { deltaTrigger } from '../../src/processors/windowing/triggers/delta-trigger.js';
import { purgingTrigger } from '../../src/processors/windowing/triggers/purging-trigger.js';
import { eventTimeTrigger } from '../../src/processors/windowing/triggers/time-triggers.js';
import { timeoutTrigger } from '../../src/processors/windowing/triggers/timeout-trigger.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TestHarness } from '../../src/testing/test-harness.js';
import type { WindowAssigner } from '../../src/time/windowing/window-assigner.js';
import { sessionEventTime } from '../../src/time/windowing/session-windows.js';
import { tumblingEventTime } from '../../src/time/windowing/tumbling-windows.js';

const texts = { keySerde: serdes.string, valueSerde: serdes.string };
const tumbling = tumblingEventTime({ size: 100 });
const session = sessionEventTime({ gap: 100 });
const later = (): never => Promise.resolve('later') as never;

type Values = KeyedStream<string, string>;

const concat: AggregateFunction<string, string, string> = {
  initial: () => '',
  add: (all, value) => all + value,
  result: (all) => all,
  merge: (a, b) => a + b,
};
const aggregate =
  (part: Partial<typeof concat>, assigner: WindowAssigner<string> = tumbling, evictor?: Evictor<string>) =>
  (values: Values) =>
    values.window(assigner, evictor === undefined ? {} : { evictor }).aggregate({ ...concat, ...part }, { name: 'window' });
const trigger =
  (part: Partial<Trigger<string>>, assigner: WindowAssigner<string> = tumbling) =>
  (values: Values) =>
    values.window(assigner, { trigger: { ...eventTimeTrigger(), name: 'mine', ...part } }).reduce((a, b) => a + b, { name: 'window' });
const evictor = (given: Evictor<string>) => (values: Values) =>
  values.window(tumbling, { evictor: given }).reduce((a, b) => a + b, { name: 'window' });
const state =
  (descriptor: ReturnType<typeof reducingState<string>> | ReturnType<typeof aggregatingState<string, string, string>>) =>
  (values: Values) => {
    class Adder implements KeyedProcessor<string, string, string, string> {
      declare private context: KeyedProcessorContext<string, string, string>;

      init(context: KeyedProcessorContext<string, string, string>): void {
        this.context = context;
      }

      process({ value }: Record<string, string>): void {
        const handle = this.context.state(descriptor as ReturnType<typeof reducingState<string>>);
        handle.add(value);
        handle.get();
      }
    }
    return values.process(() => new Adder(), { name: 'adder', states: [descriptor] });
  };
const aggregating = (part: Partial<typeof concat>) => state(aggregatingState('all', { aggregate: { ...concat, ...part } }));

const calls: readonly (readonly [string, (values: Values) => object])[] = [
  ['aggregate: initial', aggregate({ initial: later })],
  ['aggregate: add', aggregate({ add: later })],
  ['aggregate: result', aggregate({ result: later })],
  ['aggregate: merge', aggregate({ merge: later }, session)],
  ['aggregate: add', aggregate({ add: later }, tumbling, countEvictor(5))],
  ['aggregatingState all: initial', aggregating({ initial: later })],
  ['aggregatingState all: add', aggregating({ add: later })],
  ['aggregatingState all: result', aggregating({ result: later })],
  ['reducingState all: reduce', state(reducingState<string>('all', { reduce: later }))],
  ['trigger mine: onElement', trigger({ onElement: later })],
  ['trigger purging\\(mine\\): onElement', trigger({ ...purgingTrigger({ ...eventTimeTrigger(), name: 'mine', onElement: later }) })],
  ['trigger mine: onEventTime', trigger({ onEventTime: later })],
  ['trigger mine: onMerge', trigger({ onMerge: later }, session)],
  ['trigger mine: clear', trigger({ clear: later })],
  [
    'trigger mine: onEventTime',
    trigger({ ...timeoutTrigger({ ...eventTimeTrigger(), name: 'mine', onEventTime: later }, { timeout: 5_000 }), name: 'timeout' }),
  ],
  ['deltaTrigger: the delta', trigger({ ...deltaTrigger<string>(5, later, serdes.string) })],
  ['evictor mine: before', evictor({ name: 'mine', before: later, after: (elements) => elements })],
  ['evictor mine: after', evictor({ name: 'mine', before: (elements) => elements, after: later })],
  ['deltaEvictor: the delta', evictor(deltaEvictor<string>(5, later))],
  ['clear', (values) => values.window(tumbling).process((_key, all) => all, { name: 'window', clear: later })],
];

const run = async (operator: (values: Values) => object): Promise<unknown[]> => {
  await using harness = new TestHarness((input) => operator(input.keyBy()), texts);
  for (const [value, timestamp] of [
    ['a', 0],
    ['b', 150],
    ['c', 75],
  ] as const)
    await harness.push('k', value, { timestamp });
  await harness.pushWatermark(1_000);
  return harness.outputs().map(({ value }) => value);
};

describe('a function that gives a promise where there is no time to wait is refused', () => {
  it.each(calls)('%s', async (what, operator) => {
    await expect(run(operator)).rejects.toThrow(new RegExp(`${what} gave a promise: it must give its result at once`));
  });
});

describe('a function that gives undefined is refused', () => {
  const forgotten = (): never => undefined as never;
  it.each([
    ['aggregate: add', aggregate({ add: forgotten })],
    ['aggregatingState all: add', aggregating({ add: forgotten })],
    ['reducingState all: reduce', state(reducingState<string>('all', { reduce: forgotten }))],
    ['trigger mine: onElement', trigger({ onElement: forgotten })],
  ] as const)('%s', async (what, operator) => {
    await expect(run(operator)).rejects.toThrow(new RegExp(`${what} gave undefined`));
  });
});

describe('what triggers answer', () => {
  it('is one of four', async () => {
    await expect(run(trigger({ onElement: () => 'Fire' as never }))).rejects.toThrow(
      /trigger mine: onElement gave "Fire": it must give 'continue'/,
    );
    expect(await run(trigger({ ...countTrigger(1) }))).toEqual(['a', 'b', 'ac']);
  });
});
