/** The lists of `watermarks.json`: generators, idleness, and partitions combined. */
import { GeneratorWithIdleness } from '../../src/time/watermarks/generator-with-idleness.js';
import { WatermarkCombiner } from '../../src/time/watermarks/watermark-combiner.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import { isList, list, number, text, type CaseEntry, type ConformanceCase, type Json, type JsonObject } from '../case.js';
import { differs } from './shown.js';
import { WatermarkRecorder } from './watermark-recorder.js';

const lists: Readonly<Record<string, (value: JsonObject) => string[]>> = {
  boundedOutOfOrderness: (value) => runEvents(steps(value), number(value, 'outOfOrdernessMs'), 'afterEventTs'),
  ascending: (value) => runEvents(steps(value), null, 'ts'),
  idleness: runIdleness,
  perSplitMultiplexer: runMultiplexer,
};

export function watermarkCase({ list: from, index, value }: CaseEntry): ConformanceCase | null {
  const run = lists[from];
  if (run === undefined || !isList(value.steps)) return null;
  return { name: typeof value.name === 'string' ? value.name : `${from}[${index}]`, run: async () => run(value) };
}

function runEvents(all: readonly JsonObject[], bound: number | null, field: string): string[] {
  const strategy = bound === null ? watermarks.monotonous() : watermarks.boundedOutOfOrderness(bound);
  const generator = strategy.createGenerator();
  const output = new WatermarkRecorder(false);
  return all.flatMap((step, at) => {
    const timestamp = step[field];
    if (typeof timestamp === 'number') generator.onEvent(timestamp, null, output);
    const byEvent = output.take();
    generator.onPeriodicEmit(output);
    return [
      ...differs(`step ${at}, by the event`, step.emittedByOnEvent ?? [], byEvent),
      ...differs(`step ${at}`, step.periodicEmits, output.take()),
    ];
  });
}

function runIdleness(value: JsonObject): string[] {
  const strategy = watermarks.monotonous({ idleness: number(value, 'idleTimeoutMs') });
  const generator = new GeneratorWithIdleness<unknown>(strategy.createGenerator(), strategy.idleTimeout);
  const output = new WatermarkRecorder(false);
  let now = 1_000;
  return steps(value).flatMap((step, at) => {
    const op = text(step, 'op');
    if (op === 'event') generator.onEvent(number(step, 'arg'), null, output);
    else if (op === 'advance') now += number(step, 'arg');
    else generator.onPeriodicEmit(now, true, output);
    return differs(`step ${at}, ${op}`, step.emits, output.take());
  });
}

function runMultiplexer(value: JsonObject): string[] {
  const output = new WatermarkRecorder(false);
  const combiner = new WatermarkCombiner<Json>(output, 'hold');
  return steps(value).flatMap((step, at) => {
    const [op, split, watermark] = list(step, 'op') as [string, Json, number];
    if (op === 'reg') combiner.add(split);
    else if (op === 'unreg') combiner.remove(split);
    else if (op === 'idle') combiner.idle(split);
    else if (op === 'active') combiner.active(split);
    else combiner.advance(split, watermark);
    return differs(`step ${at}, ${op}`, step.emits, output.take());
  });
}

function steps(value: JsonObject): readonly JsonObject[] {
  return list(value, 'steps') as readonly JsonObject[];
}
