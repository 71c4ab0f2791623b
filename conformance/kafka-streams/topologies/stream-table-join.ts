/** `stream-table-join`: kind, joiner, tableStore, repartitionLeft, graceMs. */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import type { JsonObject } from '../../case.js';
import { consumed, joiner, stream, table } from './inputs.js';

export function streamTableJoin(builder: StreamsBuilder, definition: JsonObject): void {
  const source = stream(builder, 'L');
  const left = definition.repartitionLeft === true ? source.repartition() : source;
  const right = table(builder, 'R', definition, 'tableStore', 'tbl');
  const join = joiner(definition);
  const options = { ...consumed, ...(typeof definition.graceMs === 'number' ? { grace: definition.graceMs, name: 'grace' } : {}) };
  const joined = definition.kind === 'inner' ? left.join(right, join, options) : left.leftJoin(right, join, options);
  joined.to('OUT', consumed);
}
