import { anyObject, anything, callback, flag, oneOf, orNull, serde, text, wholeNumber, type ShapeOf } from '../errors/checked-options.js';
import type { ProcessorWrapper } from '../processors/processor-wrapper.js';
import type { DeserializationHandler, ProcessingHandler, ProductionHandler, HandlerRetryOptions } from '../runtime/error-policy.js';
import { loggerOption, type Logger } from '../observability/logger.js';
import type { Serde } from '../serdes/serde.js';
import { timestampExtractorOption, type TimestampExtractor } from '../time/timestamp-extractor.js';
import { topicName } from '../topology/topic-arguments.js';

/** Options of a `TopologyTestDriver`; those that a `StreamsApp` has too mean the same. */
export interface TestDriverConfig {
  /** Prefix of internal topics. Default `test`. */
  readonly applicationId?: string;
  /** Partition counts by topic name; 1 for topics that are not here. Topics that only a pattern reads must be here; those that the topology neither reads nor writes can't be. */
  readonly partitions?: Readonly<Record<string, number>>;
  /** Default `onCommit`, as in an app. */
  readonly emit?: 'onCommit' | 'onUpdate';
  /** Whether each `pipe` ends with a commit. Default true; with false, what is emitted on commit waits for `commit()`. */
  readonly autoCommit?: boolean;
  /** Wall clock at the start, ms since the epoch. Default 0: results do not depend on when a test runs. */
  readonly wallClock?: number;
  /** Of what `random()` and `uuid()` give processors: the same seed, the same answers. Default 0. */
  readonly seed?: number;
  /** Of sources, sinks and stores that name none. Default: none. */
  readonly defaultKeySerde?: Serde<unknown>;
  /** The same for values. */
  readonly defaultValueSerde?: Serde<unknown>;
  /** Of sources that name none. Default: the record's own time. */
  readonly defaultTimestampExtractor?: TimestampExtractor;
  /** Default `fail`: `pipe` rejects. */
  readonly deserializationHandler?: DeserializationHandler;
  /** Default `fail`: `pipe` rejects. */
  readonly processingHandler?: ProcessingHandler;
  /** Default `fail`: `pipe` rejects. */
  readonly productionHandler?: ProductionHandler;
  /** Topic of `deadLetter` records; read it with `outputTopic`. Default: none. */
  readonly deadLetterTopic?: string | null;
  /** As in an app; nobody waits for the pauses. */
  readonly retry?: HandlerRetryOptions;
  /** Default: nothing runs around processors. */
  readonly processorWrapper?: ProcessorWrapper;
  /** Default: silent. */
  readonly logger?: Logger;
}

export const driverShape = {
  applicationId: text,
  partitions: anyObject,
  emit: oneOf('onCommit', 'onUpdate'),
  autoCommit: flag,
  wallClock: wholeNumber,
  seed: wholeNumber,
  defaultKeySerde: serde,
  defaultValueSerde: serde,
  defaultTimestampExtractor: timestampExtractorOption,
  deserializationHandler: anything,
  processingHandler: anything,
  productionHandler: anything,
  deadLetterTopic: orNull(topicName),
  retry: { attempts: anything, backoff: anything, maxBackoff: anything, afterwards: anything } satisfies ShapeOf<HandlerRetryOptions>,
  processorWrapper: callback,
  logger: loggerOption,
} satisfies ShapeOf<TestDriverConfig>;
