/** `table-filter`: keeps (or, with `not`, drops) even numbers; `tableStore` none or kv. */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import type { JsonObject } from '../../case.js';
import { consumed, table } from './inputs.js';

export function tableFilter(builder: StreamsBuilder, definition: JsonObject): void {
  const source = definition.tableStore === undefined ? builder.table('L', consumed) : table(builder, 'L', definition, 'tableStore', 'src');
  const isEven = (value: string): boolean => Number.parseInt(value, 10) % 2 === 0;
  const filtered = definition.not === true ? source.filterNot(isEven) : source.filter(isEven);
  filtered.toStream().to('OUT', consumed);
}
