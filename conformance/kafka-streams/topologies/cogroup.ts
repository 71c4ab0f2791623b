/** `cogroup`: inputs, separators (one an input), init. */
import type { CogroupedKStream } from '../../../src/dsl/cogrouped-kstream.js';
import type { StreamsBuilder } from '../../../src/dsl/streams-builder.js';
import { list, text, type JsonObject } from '../../case.js';
import { consumed, stream } from './inputs.js';

export function cogroup(builder: StreamsBuilder, definition: JsonObject): void {
  const separators = list(definition, 'separators') as readonly string[];
  let cogrouped: CogroupedKStream<string, string> | null = null;
  (list(definition, 'inputs') as readonly string[]).forEach((topic, index) => {
    const grouped = stream(builder, topic).groupByKey();
    const aggregator = (all: string, value: string): string => `${all}${separators[index] ?? ''}${value}`;
    cogrouped = cogrouped === null ? grouped.cogroup(aggregator) : cogrouped.cogroup(grouped, aggregator);
  });
  const table = (cogrouped as CogroupedKStream<string, string> | null)?.aggregate(() => text(definition, 'init'), {
    materialized: { storeName: 'a', ...consumed },
  });
  table?.toStream().to('OUT', consumed);
}
