/** `stream-aggregate`: aggregate `count`, `reduce+` or `aggregate0+`. */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { text, type JsonObject } from '../../case.js';
import { consumed, stream } from './inputs.js';

export function streamAggregate(builder: StreamsBuilder, definition: JsonObject): void {
  const grouped = stream(builder, 'L').groupByKey();
  const aggregate = text(definition, 'aggregate');
  const materialized = { storeName: 'a' };
  if (aggregate === 'count') {
    const counts = grouped.count({ materialized }).toStream();
    counts.mapValues((count: number | null) => (count === null ? null : String(count)), { valueSerde: printed }).to('OUT', consumed);
  } else if (aggregate === 'reduce+') {
    grouped
      .reduce((all, value) => `${all}+${value}`, { materialized })
      .toStream()
      .to('OUT', consumed);
  } else {
    const table = grouped.aggregate(
      () => '0',
      (all: string, value) => `${all}+${value}`,
      { materialized: { ...materialized, ...consumed } },
    );
    table.toStream().to('OUT', consumed);
  }
}

/** A null never reaches a serde. */
const printed = consumed.valueSerde as never;
