import type { Serde } from '../serdes/serde.js';
import type { OffsetReset } from '../time/offset-reset.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';
import type { WatermarkStrategy } from '../time/watermarks/watermark-strategy.js';
import type { SourceNode, TopicRef } from './nodes.js';

/** How records of a source are read. Absent = the app's default. */
export interface SourceOptions {
  /** Default: the app's. */
  readonly keySerde?: Serde<unknown> | null;
  /** Default: the app's. */
  readonly valueSerde?: Serde<unknown> | null;
  /** Default: the app's, which is `failOnInvalidTimestamp`. */
  readonly timestampExtractor?: TimestampExtractor | null;
  /** Where to begin when the group has no committed offset, or the committed one is gone. */
  readonly offsetReset?: OffsetReset | null;
  /** What its records say about event time. */
  readonly watermarks?: WatermarkStrategy<never> | null;
}

export function sourceNode(
  name: string,
  topics: readonly TopicRef[],
  pattern: RegExp | null,
  options: SourceOptions,
  children: readonly string[],
): SourceNode {
  return Object.freeze({
    kind: 'source',
    name,
    topics: Object.freeze(topics.slice()),
    pattern,
    keySerde: options.keySerde ?? null,
    valueSerde: options.valueSerde ?? null,
    timestampExtractor: options.timestampExtractor ?? null,
    offsetReset: options.offsetReset ?? null,
    watermarks: options.watermarks ?? null,
    children: Object.freeze(children.slice()),
  });
}
