/** The operations without options: `source-table`, `stream-to-table`, `stream-repartition`, `merge`. */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import type { JsonObject } from '../../case.js';
import { consumed, stream, table } from './inputs.js';

export function sourceTable(builder: StreamsBuilder, definition: JsonObject): void {
  table(builder, 'L', definition, 'tableStore', 'src').toStream().to('OUT', consumed);
}

export function streamToTable(builder: StreamsBuilder): void {
  stream(builder, 'L')
    .toTable({ materialized: { storeName: 'x' } })
    .toStream()
    .to('OUT', consumed);
}

export function streamRepartition(builder: StreamsBuilder): void {
  stream(builder, 'L').repartition().to('OUT', consumed);
}

export function merge(builder: StreamsBuilder): void {
  stream(builder, 'L').merge(stream(builder, 'R')).to('OUT', consumed);
}
