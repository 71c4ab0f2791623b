/**
 * `window-aggregate`: window (time: sizeMs, advanceMs, graceMs; session: gapMs, graceMs; sliding: timeDifferenceMs, graceMs), aggregate, emit `update` or
 * `close`, suppress `until-window-closes`. Keys are printed as Windowed prints them.
 */
import type { KGroupedStream } from '../../../src/dsl/kgrouped-stream.js';
import type { KTable } from '../../../src/dsl/ktable.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { untilWindowCloses } from '../../../src/dsl/suppressed.js';
import { sessions } from '../../../src/time/session-windows.js';
import { sliding } from '../../../src/time/sliding-windows.js';
import { hopping, type TimeWindows } from '../../../src/time/time-windows.js';
import type { Windowed } from '../../../src/time/windowed.js';
import { number, object, text, type JsonObject } from '../../case.js';
import { FinalResults } from '../final-results.js';
import { consumed, stream } from './inputs.js';

type Printable = KTable<Windowed<string>, string> | KTable<Windowed<string>, number>;

export function windowAggregate(builder: StreamsBuilder, definition: JsonObject): void {
  const grouped = stream(builder, 'L').groupByKey();
  const isSession = object(definition, 'window').type === 'session';
  const table = (isSession ? bySession(grouped, definition) : byWindow(grouped, definition)) as KTable<Windowed<string>, string | number>;
  if (definition.suppress === 'until-window-closes') print(table.suppress(untilWindowCloses()), 'SUPPRESSED');
  print(table, 'OUT');
}

/** The complete final results of a definition; null when it has none (another window, or emitted on update). */
export function finalResultsModel(definition: JsonObject): FinalResults | null {
  if (definition.op !== 'window-aggregate' || definition.emit !== 'close' || object(definition, 'window').type !== 'time') return null;
  const { size, advance, grace } = timeWindows(definition);
  const aggregate = text(definition, 'aggregate');
  const next = (before: string | null, value: string | null): string | null => {
    if (aggregate === 'count') return String(Number(before ?? 0) + 1);
    if (aggregate === 'reduce+') return before === null ? value : `${before}+${value}`;
    return `${before ?? initial(aggregate)}+${value}`;
  };
  return new FinalResults({ size, advance, grace, next });
}

function byWindow(grouped: KGroupedStream<string, string>, definition: JsonObject): Printable {
  const window = object(definition, 'window');
  const windows =
    window.type === 'sliding'
      ? sliding({ timeDifference: number(window, 'timeDifferenceMs', 0), grace: number(window, 'graceMs', 0) })
      : timeWindows(definition);
  const windowed = grouped.windowedBy(windows);
  const { aggregate, emit, materialized } = common(definition);
  if (aggregate === 'count') return windowed.count({ emit, materialized: { storeName: 'st' } });
  if (aggregate === 'reduce+') return windowed.reduce((all, value) => `${all}+${value}`, { emit, materialized });
  return windowed.aggregate(
    () => initial(aggregate),
    (all: string, value) => `${all}+${value}`,
    { emit, materialized },
  );
}

function bySession(grouped: KGroupedStream<string, string>, definition: JsonObject): Printable {
  const window = object(definition, 'window');
  const windowed = grouped.windowedBy(sessions({ gap: number(window, 'gapMs'), grace: number(window, 'graceMs', 0) }));
  const { aggregate, emit, materialized } = common(definition);
  if (aggregate === 'count') return windowed.count({ emit, materialized: { storeName: 'st' } });
  if (aggregate === 'reduce+') return windowed.reduce((all, value) => `${all}+${value}`, { emit, materialized });
  return windowed.aggregate(
    () => '0',
    (all: string, value) => `${all}+${value}`,
    (one, other) => `${one}+${other}`,
    { emit, materialized },
  );
}

function common(definition: JsonObject) {
  return {
    aggregate: text(definition, 'aggregate'),
    emit: definition.emit === 'close' ? ('onWindowClose' as const) : ('onUpdate' as const),
    materialized: { storeName: 'st', valueSerde: consumed.valueSerde },
  };
}

function timeWindows(definition: JsonObject): TimeWindows {
  const window = object(definition, 'window');
  const size = number(window, 'sizeMs');
  return hopping({ size, advance: number(window, 'advanceMs', size), grace: number(window, 'graceMs', 0) });
}

function initial(aggregate: string): string {
  return aggregate === "aggregate''+" ? '' : '0';
}

function print(table: KTable<Windowed<string>, string | number>, topic: string): void {
  table
    .toStream()
    .map((value: string | number | null, key) => [key.toString(), value === null ? null : String(value)] as const, printed)
    .to(topic, consumed);
}

/** A null never reaches a serde. */
const printed = { keySerde: consumed.keySerde, valueSerde: consumed.valueSerde as never };
