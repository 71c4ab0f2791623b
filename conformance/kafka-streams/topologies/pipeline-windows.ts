/** Windowed aggregations within a pipeline; their results go on as a stream of printed keys. */
import type { CogroupedKStream } from '../../../src/dsl/cogrouped-kstream.js';
import type { KGroupedStream } from '../../../src/dsl/kgrouped-stream.js';
import type { KStream } from '../../../src/dsl/kstream.js';
import type { KTable } from '../../../src/dsl/ktable.js';
import { untilWindowCloses } from '../../../src/dsl/suppressed.js';
import { sessions, type SessionWindows } from '../../../src/time/session-windows.js';
import { sliding, type SlidingWindows } from '../../../src/time/sliding-windows.js';
import { hopping, type TimeWindows } from '../../../src/time/time-windows.js';
import type { Windowed } from '../../../src/time/windowed.js';
import { number, type JsonObject } from '../../case.js';
import { consumed } from './inputs.js';
import type { PipelineStage } from './pipeline-stage.js';

type Results = KTable<Windowed<string>, string> | KTable<Windowed<string>, number>;
type TextStream = KStream<string, string>;

const add = (all: string, value: string): string => `${all}+${value}`;
const both = (one: string, other: string): string => `${one}&${other}`;

export function groupedByWindow(grouped: KGroupedStream<string, string>, window: JsonObject, stage: PipelineStage): TextStream {
  const rows = { ...stage.named(), ...stage.rows() };
  const counts = { ...stage.named(), ...stage.counts() };
  if (window.type === 'session') {
    const windowed = grouped.windowedBy(sessionWindows(window));
    if (stage.aggregate === 'count') return results(windowed.count(counts), stage);
    if (stage.aggregate === 'reduce') return results(windowed.reduce(add, rows), stage);
    return results(
      windowed.aggregate(() => '0', add, both, rows),
      stage,
    );
  }
  const windowed = grouped.windowedBy(otherWindows(window));
  if (stage.aggregate === 'count') return results(windowed.count(counts), stage);
  if (stage.aggregate === 'reduce') return results(windowed.reduce(add, rows), stage);
  return results(
    windowed.aggregate(() => '0', add, rows),
    stage,
  );
}

export function cogroupedByWindow(cogrouped: CogroupedKStream<string, string>, window: JsonObject, stage: PipelineStage): TextStream {
  const rows = { ...stage.named(), ...stage.rows() };
  const table =
    window.type === 'session'
      ? cogrouped.windowedBy(sessionWindows(window)).aggregate(() => '0', both, rows)
      : cogrouped.windowedBy(otherWindows(window)).aggregate(() => '0', rows);
  return results(table, stage);
}

function results(table: Results, stage: PipelineStage): TextStream {
  const rows = table as KTable<Windowed<string>, string | number>;
  const shown = stage.definition.suppress === true ? rows.suppress(untilWindowCloses(), stage.named('suppress')) : rows;
  return shown
    .toStream()
    .map((value: string | number | null, key) => [key.toString(), (value === null ? null : String(value)) as string], consumed);
}

function sessionWindows(window: JsonObject): SessionWindows {
  return sessions({ gap: number(window, 'gapMs'), grace: number(window, 'graceMs', 0) });
}

function otherWindows(window: JsonObject): TimeWindows | SlidingWindows {
  const grace = number(window, 'graceMs', 0);
  if (window.type === 'sliding') return sliding({ timeDifference: number(window, 'timeDifferenceMs'), grace });
  const size = number(window, 'sizeMs');
  return hopping({ size, advance: number(window, 'advanceMs', size), grace });
}
