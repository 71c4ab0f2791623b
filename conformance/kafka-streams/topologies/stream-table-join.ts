/** `stream-table-join`: kind, joiner, tableStore, repartitionLeft, graceMs. */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { NotBuiltError, type JsonObject } from '../../case.js';
import { consumed, joiner, stream, table } from './inputs.js';

export function streamTableJoin(builder: StreamsBuilder, definition: JsonObject): void {
  if (definition.graceMs !== undefined) throw new NotBuiltError('versioned tables');
  const source = stream(builder, 'L');
  const left = definition.repartitionLeft === true ? source.repartition() : source;
  const right = table(builder, 'R', definition, 'tableStore', 'tbl');
  const join = joiner(definition);
  const joined = definition.kind === 'inner' ? left.join(right, join, consumed) : left.leftJoin(right, join, consumed);
  joined.to('OUT', consumed);
}
