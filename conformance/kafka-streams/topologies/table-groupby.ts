/** The operations that group a table: `table-groupby-aggregate`, `table-groupby-value-count-suppress`, `table-suppress-groupby-count`. */
import type { KTable } from '../../../src/dsl/ktable.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { untilTimeLimit } from '../../../src/dsl/suppressed.js';
import { number, object, text, type JsonObject } from '../../case.js';
import { consumed, suppressBuffer, table } from './inputs.js';

/** groupBy, aggregate, tableStore. */
export function tableGroupByAggregate(builder: StreamsBuilder, definition: JsonObject): void {
  const group = groupings[text(definition, 'groupBy')];
  if (group === undefined) throw new Error(`groupBy ${JSON.stringify(definition.groupBy)}`);
  const grouped = table(builder, 'L', definition, 'tableStore', 'src').groupBy((value, key) => group(key, value), consumed);
  const aggregate = text(definition, 'aggregate');
  const materialized = { storeName: 'a', ...consumed };
  if (aggregate === 'count') print(grouped.count({ materialized: { storeName: 'a' } }), 'OUT');
  else if (aggregate === 'concat-remove') {
    const concatenated = grouped.aggregate(
      () => '',
      (all: string, value) => all + value,
      (all, value) => all.replaceAll(value, ''),
      { materialized },
    );
    concatenated.toStream().to('OUT', consumed);
  } else {
    const signed = grouped.aggregate(
      () => '0',
      (all: string, value) => `${all}+${value}`,
      (all, value) => `${all}-${value}`,
      { materialized },
    );
    signed.toStream().to('OUT', consumed);
  }
}

/** timeLimitMs (or infinite), buffer. */
export function tableGroupByValueCountSuppress(builder: StreamsBuilder, definition: JsonObject): void {
  const counts = builder
    .table('L', consumed)
    .groupBy((value, key) => [value, key], consumed)
    .count();
  const limit = typeof definition.timeLimitMs === 'string' ? Infinity : number(definition, 'timeLimitMs');
  print(counts.suppress(untilTimeLimit(limit, suppressBuffer(object(definition, 'buffer')))), 'SUPPRESSED');
  print(counts, 'OUT');
}

/** timeLimitMs. */
export function tableSuppressGroupByCount(builder: StreamsBuilder, definition: JsonObject): void {
  const suppressed = builder.table('L', consumed).suppress(untilTimeLimit(number(definition, 'timeLimitMs')));
  print(suppressed.groupBy((value, key) => [key, value], consumed).count(), 'OUT');
}

type Grouping = (key: string, value: string) => readonly [string, string] | null;

const groupings: Readonly<Record<string, Grouping | undefined>> = {
  'same-key': (key, value) => [key, value],
  'value-as-key': (_key, value) => [value, value],
  'value-as-key-keep-key': (key, value) => [value, key],
  'value-as-key-null-special': (key, value) => {
    if (key === 'NULL') return null;
    return [key === 'null' ? (null as unknown as string) : value, value];
  },
  'first-char-to-second-char': (key) => [key.slice(0, 1), key.slice(1, 2)],
};

function print(rows: KTable<string, string | number>, topic: string): void {
  // A null never reaches a serde.
  const printed = { valueSerde: consumed.valueSerde as never };
  rows
    .toStream()
    .mapValues((value: string | number | null) => (value === null ? null : String(value)), printed)
    .to(topic, { keySerde: consumed.keySerde, valueSerde: consumed.valueSerde });
}
