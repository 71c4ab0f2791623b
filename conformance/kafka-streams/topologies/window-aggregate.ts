/** `window-aggregate`: window (time: sizeMs, advanceMs, graceMs), aggregate, emit `update` or `close`, suppress. Keys are printed as Windowed prints them. */
import type { KTable } from '../../../src/dsl/ktable.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { hopping, type TimeWindows } from '../../../src/time/time-windows.js';
import type { Windowed } from '../../../src/time/windowed.js';
import { NotBuiltError, number, object, text, type JsonObject } from '../../case.js';
import { FinalResults } from '../final-results.js';
import { consumed, stream } from './inputs.js';

export function windowAggregate(builder: StreamsBuilder, definition: JsonObject): void {
  if (definition.suppress !== undefined) throw new NotBuiltError('suppress');
  const windowed = stream(builder, 'L').groupByKey().windowedBy(timeWindows(definition));
  const emit = definition.emit === 'close' ? ('onWindowClose' as const) : ('onUpdate' as const);
  const aggregate = text(definition, 'aggregate');
  const options = { emit, materialized: { storeName: 'st', valueSerde: consumed.valueSerde } };
  if (aggregate === 'count') print(windowed.count({ emit, materialized: { storeName: 'st' } }));
  else if (aggregate === 'reduce+') print(windowed.reduce((all, value) => `${all}+${value}`, options));
  else
    print(
      windowed.aggregate(
        () => initial(aggregate),
        (all: string, value) => `${all}+${value}`,
        options,
      ),
    );
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

function timeWindows(definition: JsonObject): TimeWindows {
  const window = object(definition, 'window');
  if (window.type !== 'time') throw new NotBuiltError(`${text(window, 'type')} windows`);
  const size = number(window, 'sizeMs');
  return hopping({ size, advance: number(window, 'advanceMs', size), grace: number(window, 'graceMs', 0) });
}

function initial(aggregate: string): string {
  return aggregate === "aggregate''+" ? '' : '0';
}

function print(table: KTable<Windowed<string>, string | number>): void {
  table
    .toStream()
    .map((value: string | number | null, key) => [key.toString(), value === null ? null : String(value)] as const, printed)
    .to('OUT', consumed);
}

/** A null never reaches a serde. */
const printed = { keySerde: consumed.keySerde, valueSerde: consumed.valueSerde as never };
