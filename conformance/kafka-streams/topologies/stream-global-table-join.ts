/** `stream-globaltable-join`: kind, joiner. The table key is the text after the comma of the stream's value, else null. */
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import type { JsonObject } from '../../case.js';
import { checkStore, consumed, joiner, stream } from './inputs.js';

export function streamGlobalTableJoin(builder: StreamsBuilder, definition: JsonObject): void {
  checkStore(definition, 'tableStore');
  const left = stream(builder, 'L');
  const right = builder.globalTable('R', { ...consumed, materialized: { storeName: 'gtbl' } });
  const join = joiner(definition);
  const options = { keyOf, valueSerde: consumed.valueSerde };
  const joined = definition.kind === 'inner' ? left.join(right, join, options) : left.leftJoin(right, join, options);
  joined.to('OUT', consumed);
}

/** Java's `split` leaves trailing empty texts out, so `"a,"` has no second part. */
function keyOf(value: string): string | null {
  const parts = value.split(',');
  return parts.slice(1).every((part) => part === '') ? null : (parts[1] ?? null);
}
