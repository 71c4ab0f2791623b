/** `table-table-join`: kinds (one join after the other, all with the right table), joiner, leftStore, rightStore, suppressLeftMs, suppressRightMs, unmaterialized. */
import type { KTable } from '../../../src/dsl/ktable.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { untilTimeLimit } from '../../../src/dsl/suppressed.js';
import { list, type Json, type JsonObject } from '../../case.js';
import { consumed, joiner, table } from './inputs.js';

type TextTable = KTable<string, string>;

export function tableTableJoin(builder: StreamsBuilder, definition: JsonObject): void {
  const left = suppressed(table(builder, 'L', definition, 'leftStore', 'left'), definition.suppressLeftMs);
  const right = suppressed(table(builder, 'R', definition, 'rightStore', 'right'), definition.suppressRightMs);
  const join = joiner(definition);
  const kinds = list(definition, 'kinds');
  let joined = left;
  kinds.forEach((kind, index) => {
    const keep = index === kinds.length - 1 && definition.unmaterialized !== true;
    const options = keep ? { materialized: { ...consumed, storeName: 'res' } } : {};
    if (kind === 'inner') joined = joined.join(right, join, options);
    else if (kind === 'left') joined = joined.leftJoin(right, join, options);
    else joined = joined.outerJoin(right, join, options);
  });
  joined.toStream().to('OUT', consumed);
}

function suppressed(source: TextTable, limit: Json | undefined): TextTable {
  return typeof limit === 'number' ? source.suppress(untilTimeLimit(limit)) : source;
}
