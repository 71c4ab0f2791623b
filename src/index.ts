/**
 * Millrace: exactly-once, stateful stream processing inside any Node.js service, on plain Kafka.
 *
 * `StreamsBuilder` (or `TopologyBuilder`) declares a topology, `StreamsApp` runs it.
 */
export { StreamsApp } from './app/streams-app.js';
export type { CloseOptions, StreamsState, UncaughtErrorAnswer, UncaughtErrorHandler } from './app/streams-app.js';
export type { AppMetrics, GroupMetricsSnapshot, TaskMetricsSnapshot } from './app/app-metrics.js';
export type { StreamsConfig } from './app/config.js';
export { errorTable, KafkaTransportError, MillraceError } from './errors.js';
export type { ErrorCode } from './errors.js';
export type { Header, Headers } from './bytes/headers.js';
export type { ByteWriter } from './bytes/byte-writer.js';
export type { EpochMetricsSnapshot, LatencySummary } from './observability/epoch-metrics.js';
export { consoleLogger } from './observability/console-logger.js';
export type { LogLevel } from './observability/console-logger.js';
export { silentLogger } from './observability/logger.js';
export type { Logger } from './observability/logger.js';
export type { RestoreListener, RestoreProgress } from './runtime/state-restorer.js';
export type { DeserializationHandler, FailedRecord, HandlerAnswer, ProcessingHandler, ProductionHandler } from './runtime/error-policy.js';
export { serdes } from './serdes/serdes.js';
export type { Serde, SerdeUse } from './serdes/serde.js';

export { StreamsBuilder } from './dsl/streams-builder.js';
export type { BuildOptions } from './dsl/streams-builder.js';
export { untilTimeLimit, untilWindowCloses } from './dsl/suppressed.js';
export type { Suppressed, SuppressBuffer } from './dsl/suppressed.js';
export type { BranchedKStream } from './dsl/branched-kstream.js';
export type { CogroupedKStream, SessionWindowedCogroupedKStream, WindowedCogroupedKStream } from './dsl/cogrouped-kstream.js';
export type { GlobalKTable } from './dsl/global-ktable.js';
export type { KGroupedStream } from './dsl/kgrouped-stream.js';
export type { KGroupedTable } from './dsl/kgrouped-table.js';
export type { KStream } from './dsl/kstream.js';
export type { KTable } from './dsl/ktable.js';
export type { SessionWindowedKStream } from './dsl/session-windowed-kstream.js';
export type { TimeWindowedKStream } from './dsl/time-windowed-kstream.js';
export type * from './dsl/options.js';

export type { Processor, ProcessorContext, Record, RecordMetadata } from './processors/processor.js';
export { processorOperator } from './processors/processor-operator.js';
export type { RecordMeta } from './processors/record-meta.js';
export type { Cancellable, ScheduleOptions } from './processors/operator.js';

export { stores } from './stores/stores.js';
export type {
  JoinWindowStore,
  KeyRange,
  KeyValueStore,
  ReadonlyKeyValueStore,
  SessionRow,
  SessionStore,
  SlidingWindowRow,
  SlidingWindowStore,
  StateStore,
  StoreSpec,
  TimeOrderedBuffer,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  ValueAndTimestamp,
  VersionedKeyValueStore,
  VersionedRecord,
  WindowStore,
} from './stores/store.js';

export { joinWindows } from './time/join-windows.js';
export type { JoinWindows } from './time/join-windows.js';
export { sessions } from './time/session-windows.js';
export type { SessionWindows } from './time/session-windows.js';
export { sliding } from './time/sliding-windows.js';
export type { SlidingWindows } from './time/sliding-windows.js';
export { hopping, tumbling, unlimited } from './time/time-windows.js';
export type { TimeWindows } from './time/time-windows.js';
export { Windowed } from './time/windowed.js';
export type { TimestampExtractor, ExtractableRecord } from './time/timestamp-extractor.js';
export {
  failOnInvalidTimestamp,
  logAndSkipOnInvalidTimestamp,
  usePartitionTimeOnInvalidTimestamp,
  wallclockTimestamp,
} from './time/timestamp-extractors.js';

export { watermarks } from './time/watermarks/watermark-strategy.js';
export type { WatermarkOptions, WatermarkStrategy } from './time/watermarks/watermark-strategy.js';
export type { WatermarkGenerator } from './time/watermarks/watermark-generator.js';
export type { WatermarkOutput } from './time/watermarks/watermark.js';
export type { WindowAssigner } from './time/windowing/window-assigner.js';
export { tumblingEventTime, tumblingProcessingTime } from './time/windowing/tumbling-windows.js';
export { slidingEventTime, slidingProcessingTime } from './time/windowing/sliding-windows.js';
export { sessionEventTime, sessionProcessingTime } from './time/windowing/session-windows.js';
export { globalWindows } from './time/windowing/global-windows.js';
export type { Trigger, TriggerContext, TriggerResult } from './processors/windowing/trigger.js';
export { eventTimeTrigger, neverTrigger, processingTimeTrigger } from './processors/windowing/triggers/time-triggers.js';
export { countTrigger } from './processors/windowing/triggers/count-trigger.js';
export { continuousEventTimeTrigger, continuousProcessingTimeTrigger } from './processors/windowing/triggers/continuous-triggers.js';
export { deltaTrigger } from './processors/windowing/triggers/delta-trigger.js';
export { purgingTrigger } from './processors/windowing/triggers/purging-trigger.js';
export { timeoutTrigger } from './processors/windowing/triggers/timeout-trigger.js';
export type { TimeoutTriggerOptions } from './processors/windowing/triggers/timeout-trigger.js';
export { countEvictor, deltaEvictor, timeEvictor } from './processors/windowing/evictor.js';
export type { Evictor, EvictorOptions, WindowElement } from './processors/windowing/evictor.js';
export type { WindowInfo } from './processors/windowing/window-context.js';

export { aggregatingState, listState, mapState, reducingState, valueState } from './processors/state/state-descriptor.js';
export type {
  AggregatingStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  StateOptions,
  ValueStateDescriptor,
} from './processors/state/state-descriptor.js';
export type { AggregateFunction } from './processors/state/aggregate-function.js';
export type { AggregatingState, ListState, MapState, ReducingState, ValueState } from './processors/state/keyed-state.js';
export type { StateAccess } from './processors/state/keyed-states.js';
export type { StateTtl } from './processors/state/state-ttl.js';
export type { FiredTimer, KeyedProcessor, KeyedProcessorContext, KeyTimers } from './processors/event-time/keyed-processor.js';
export type { IntervalBounds } from './processors/interval-join/interval-bounds.js';
export type * from './dsl/keyed-stream.js';

export { TopologyBuilder } from './topology/topology-builder.js';
export type { Partitioner, Topology, TopicNameExtractor } from './topology/nodes.js';
