/** What the operations of the vocabulary share: texts as keys and values, topics, and the pieces of a definition. */
import type { KTable } from '../../../src/dsl/ktable.js';
import type { KStream } from '../../../src/dsl/kstream.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { serdes } from '../../../src/serdes/serdes.js';
import type { SuppressBuffer } from '../../../src/dsl/suppressed.js';
import { isObject, NotBuiltError, type JsonObject } from '../../case.js';

export const consumed = { keySerde: serdes.string, valueSerde: serdes.string };

export function stream(builder: StreamsBuilder, topic: string): KStream<string, string> {
  return builder.stream(topic, consumed);
}

/** A table whose store the definition tells under `field`: `"kv"`, or absent for the same, `"none"`, or `{ "versionedMs": history }`. */
export function table(
  builder: StreamsBuilder,
  topic: string,
  definition: JsonObject,
  field: string,
  storeName: string,
): KTable<string, string> {
  const store = definition[field];
  if (isObject(store) && typeof store.versionedMs === 'number') {
    return builder.table(topic, { ...consumed, materialized: { storeName, historyRetention: store.versionedMs } });
  }
  if (store === 'none') return builder.table(topic, consumed);
  checkStore(definition, field);
  return builder.table(topic, { ...consumed, materialized: { storeName } });
}

export function checkStore(definition: JsonObject, field: string): void {
  const store = definition[field];
  if (store === undefined || store === 'kv') return;
  throw new NotBuiltError(isObject(store) && 'versionedMs' in store ? 'versioned tables' : `store ${JSON.stringify(store)}`);
}

/** Joins two values as the definition’s pattern says; null prints as `null`. */
export function joiner(definition: JsonObject): (left: string | null, right: string | null) => string {
  const pattern = typeof definition.joiner === 'string' ? definition.joiner : '{l}-{r}';
  return (left, right) => pattern.replaceAll('{l}', () => String(left)).replaceAll('{r}', () => String(right));
}

/** A buffer that emits early when it is full, or has no bound. */
export function suppressBuffer({ maxRecords, maxBytes }: JsonObject): SuppressBuffer {
  if (typeof maxRecords === 'number') return { maxRecords, whenFull: 'emitEarly' };
  return typeof maxBytes === 'number' ? { maxBytes, whenFull: 'emitEarly' } : {};
}
