/** What the options of a `TopologyBuilder` may be. Null stands for what is not there. */
import { anyObject, anything, callback, flag, list, orNull, serde, text, type ShapeOf } from '../errors/checked-options.js';
import { offsetResetOption } from '../time/offset-reset.js';
import type { SinkOptions } from './sink-node.js';
import type { SourceOptions } from './source-node.js';
import type { GlobalStoreOptions, StateStoreOptions } from './topology-draft.js';

const serdes = { keySerde: orNull(serde), valueSerde: orNull(serde) };
const source = {
  ...serdes,
  timestampExtractor: orNull(anyObject),
  offsetReset: orNull(offsetResetOption),
  watermarks: orNull(anyObject),
} satisfies ShapeOf<SourceOptions>;

export const builderShapes = {
  source: { ...source, topics: list, pattern: anything },
  sink: { ...serdes, partitioner: orNull(anyObject) } satisfies ShapeOf<SinkOptions>,
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
