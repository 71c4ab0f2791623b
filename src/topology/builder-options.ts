/** What the options of a `TopologyBuilder` may be. Null stands for what is not there. */
import { anything, callback, flag, list, objectWith, orNull, serde, text, type ShapeOf } from '../errors/checked-options.js';
import { offsetResetOption } from '../time/offset-reset.js';
import { timestampExtractorOption } from '../time/timestamp-extractor.js';
import { watermarksOption } from '../time/watermarks/watermark-strategy.js';
import type { SinkOptions } from './sink-node.js';
import type { SourceOptions } from './source-node.js';
import type { GlobalStoreOptions, StateStoreOptions } from './topology-draft.js';

/** The check of an option that is a `Partitioner`. */
export const partitionerOption = objectWith('a partitioner, an object with partition()', 'partition');

const serdes = { keySerde: orNull(serde), valueSerde: orNull(serde) };
const source = {
  ...serdes,
  timestampExtractor: orNull(timestampExtractorOption),
  offsetReset: orNull(offsetResetOption),
  watermarks: orNull(watermarksOption),
} satisfies ShapeOf<SourceOptions>;

export const builderShapes = {
  source: { ...source, topics: list, pattern: anything },
  sink: { ...serdes, partitioner: orNull(partitionerOption) } satisfies ShapeOf<SinkOptions>,
  stateStore: { processors: list, sourceTopic: orNull(text) } satisfies ShapeOf<StateStoreOptions>,
  globalStore: {
    ...source,
    topic: text,
    sourceName: text,
    processorName: text,
    processor: orNull(callback),
  } satisfies ShapeOf<GlobalStoreOptions>,
  repartitionTopic: { carriesWatermarks: flag },
};
