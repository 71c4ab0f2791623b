/// <reference types="node" preserve="true" />
/**
 * Millrace: exactly-once, stateful stream processing inside any Node.js service, on plain Kafka.
 *
 * `StreamsBuilder` (or `TopologyBuilder`) declares a topology, `StreamsApp` runs it.
 *
 * @module millrace
 */
export { StreamsApp } from './app/streams-app.js';
export type { CloseOptions, RemoveThreadOptions, StreamsAppEvents, StreamsState } from './app/streams-app.js';
export type { UncaughtErrorAnswer, UncaughtErrorHandler } from './app/uncaught-errors.js';
export type {
  AppMetrics,
  GlobalTablesSnapshot,
  GroupMetricsSnapshot,
  MemoryMetricsSnapshot,
  StandbyMetricsSnapshot,
  StreamThreadSnapshot,
  TaskMetricsSnapshot,
  ThreadMetricsSnapshot,
} from './app/app-metrics.js';
export type { FailureSnapshot, RestartMetricsSnapshot } from './app/restarts.js';
export type {
  ExponentialDelayRestart,
  FailureRateRestart,
  FixedDelayRestart,
  NoRestart,
  RestartOptions,
} from './runtime/restart-strategy.js';
export type { StreamsConfig } from './app/config.js';
export type { ThreadResourceLimits } from './app/thread-limits.js';
export type { TopologyContext, TopologyFactory, TopologyModule } from './app/topology-module.js';
export { catchUpSeconds } from './observability/catch-up.js';
export { latestRevision } from './processors/latest-revision.js';
export type { Revised } from './processors/latest-revision.js';
export { keyGroupOf, partitionFor, rangeFor } from './rebalance/key-groups.js';
export type { KeyGroupRange } from './rebalance/key-groups.js';
export type { GroupView, GroupViewMember } from './rebalance/group-view.js';
export { errorTable, KafkaTransportError, MillraceError } from './errors.js';
export type { ErrorCode, MillraceErrorOptions } from './errors.js';
export type { CompressionType } from './kafka/compression/compression-type.js';
export type { Header, Headers } from './bytes/headers.js';
export type { ByteWriter } from './bytes/byte-writer.js';
export type { MaybeAsync } from './bytes/maybe-async.js';
export type { FetcherMetrics } from './kafka/fetcher/fetcher-options.js';
export type { EpochMetricsSnapshot } from './observability/epoch-metrics.js';
export type { LatencySummary } from './observability/latency-ring.js';
export type { ProducerMetrics } from './transactions/producer/epoch-producer.js';
export type { GroupPhase } from './rebalance/group-protocol.js';
export type { StoreSize } from './stores/store-sizes.js';
export type { TimeSharesSnapshot } from './observability/time-shares.js';
export type { TaskWatermark, WatermarkExplanation, WatermarkInput, WatermarkInputState } from './runtime/watermark-explanation.js';
export { metricCatalogue } from './app/metric-catalogue.js';
export type { MetricInfo, MetricUnit } from './app/metric-catalogue.js';
export { consoleLogger } from './observability/console-logger.js';
export type { LogLevel } from './observability/console-logger.js';
export { silentLogger } from './observability/logger.js';
export type { Logger } from './observability/logger.js';
export type {
  AssignorInput,
  AssignorMember,
  AssignorSettings,
  AssignorTask,
  MemberTarget,
  TargetAssignment,
  TaskAssignor,
} from './rebalance/assignor.js';
export { rangeAssignor, stickyAssignor } from './rebalance/built-in-assignors.js';
export type { TaskOffsetSum } from './rebalance/member-subscription.js';
export type { TaskId } from './rebalance/task-id.js';
export type { StandbyProgress, StandbySuspension, StandbyUpdateListener } from './runtime/standby-listener.js';
export type { RestoreListener, RestoreProgress } from './runtime/state-restorer.js';
export type {
  DeserializationHandler,
  FailedRecord,
  HandlerAnswer,
  ProcessingHandler,
  ProductionHandler,
  HandlerRetryOptions,
} from './runtime/error-policy.js';
export { serdes } from './serdes/serdes.js';
export type { DefaultSerdes, Serde, SerdeUse } from './serdes/serde.js';
export type { ResultSerde, SerdeFor, SerdeOfAnything, Widened } from './serdes/serde-for.js';
export type { InPlaceSerde } from './serdes/in-place-serde.js';
export type { RegistryClient, RegistryConnection } from './serdes/registry/registry-client.js';
export type { RegistrySerdeOptions } from './serdes/registry/registry-serde.js';

export { StreamsBuilder } from './dsl/streams-builder.js';
export type { BuildOptions } from './dsl/streams-builder.js';
export type { ExplicitNames } from './dsl/graph/explicit-names.js';
export type { Optimization } from './dsl/graph/write-graph.js';
export { untilTimeLimit, untilWindowCloses } from './dsl/suppressed.js';
export type { Suppressed, SuppressBuffer } from './dsl/suppressed.js';
export type { Branches, BranchedKStream, BranchOptions } from './dsl/branched-kstream.js';
export type { CogroupedKStream, SessionWindowedCogroupedKStream, WindowedCogroupedKStream } from './dsl/cogrouped-kstream.js';
export type { GlobalKTable } from './dsl/global-ktable.js';
export type { KGroupedStream } from './dsl/kgrouped-stream.js';
export type { KGroupedTable } from './dsl/kgrouped-table.js';
export type { GlobalJoinOptions, KStream, TopicOf } from './dsl/kstream.js';
export type { KTable } from './dsl/ktable.js';
export type { SessionWindowedKStream } from './dsl/session-windowed-kstream.js';
export type { TimeWindowedKStream } from './dsl/time-windowed-kstream.js';
export type { AppliedAggregateOptions, PlainAggregateOptions } from './dsl/applied-aggregate.js';
export type * from './dsl/options.js';
export type * from './dsl/async-options.js';
export type { EndOffsets } from './app/app-engine.js';
export type { RunSummary, RunUntilEndOptions } from './app/run-until-end.js';
export type { AsyncCall } from './processors/async/async-operator.js';
export type { AsyncCallOptions, AsyncOrder, RetryOptions } from './processors/async/async-options.js';
export type { Lookup, LookupCall } from './processors/lookup/lookup-work.js';
export type { AsyncProcessor } from './processors/async/async-processor.js';

export type {
  FixedKey,
  FixedKeyProcessor,
  FixedKeyProcessorContext,
  FixedKeyRecord,
  ProcessingContext,
  Processor,
  ProcessorContext,
  Record,
  RecordMetadata,
} from './processors/processor.js';
export type { ValueTransformer, ValueTransformerSupplier } from './processors/value-transformer.js';
export type { ProcessorAround, ProcessorWrapper, WrappedProcessor } from './processors/processor-wrapper.js';
export type { Change } from './processors/operator.js';
export type { RecordMeta } from './processors/record-meta.js';
export type { Cancellable, DropReason, OperatorSupplier, ScheduleOptions } from './processors/operator.js';
export type {
  Aggregator,
  Awaitable,
  FlatRecordMapper,
  FlatValueMapper,
  Given,
  GlobalTableJoiner,
  Initializer,
  Predicate,
  RecordAction,
  RecordMapper,
  Reducer,
  RowJoiner,
  SessionMerger,
  TableGrouper,
  TableJoiner,
  ValueMapper,
} from './processors/user-functions.js';

export { stores } from './stores/stores.js';
export type { StoreOptions, WindowStoreOptions } from './stores/store-builders.js';
export type {
  JoinWindowStoreOptions,
  LruStoreOptions,
  SessionStoreOptions,
  SlidingWindowStoreOptions,
  TimeOrderedBufferOptions,
  VersionedStoreOptions,
} from './stores/list-store-builders.js';
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
  StoreKind,
  StoreSpec,
  TimeOrderedBuffer,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  ValueAndTimestamp,
  VersionedKeyValueStore,
  VersionedRecord,
  WindowStore,
} from './stores/store.js';

export { queries } from './queries/query.js';
export type {
  KeyRangeOptions,
  PageOptions,
  Query,
  QueryBody,
  RangeOptions,
  TimedPageOptions,
  TimedRangeOptions,
  TimeRangeOptions,
} from './queries/query.js';
export type { QueryIterator } from './queries/query-iterator.js';
export type { KeyPartitioner } from './queries/key-partition.js';
export type { InstanceMetadata, KeyMetadata, KeyMetadataOptions } from './queries/metadata.js';
export type { StoreInfo } from './queries/store-info.js';
export { mergePositions } from './queries/position.js';
export type { Position } from './queries/position.js';
export type { Isolation } from './queries/query-host.js';
export type { KeyValueRow, SessionWindowRow, WindowRow } from './queries/rows.js';
export type { StateQueryResult } from './queries/state-query.js';
export type {
  PartitionFailure,
  PartitionResult,
  PartitionSuccess,
  QueryFailureReason,
  ReadOptions,
  StateQueryRequest,
} from './queries/state-query.js';
export type { KeyValueView } from './queries/views/key-value-view.js';
export type { SessionView } from './queries/views/session-view.js';
export type { ViewOptions } from './queries/views/store-view.js';
export type { VersionedView } from './queries/views/versioned-view.js';
export type { WindowView } from './queries/views/window-view.js';

export { joinWindows } from './time/join-windows.js';
export type { JoinWindows, JoinWindowsOptions } from './time/join-windows.js';
export { sessions } from './time/session-windows.js';
export type { SessionOptions, SessionWindows } from './time/session-windows.js';
export { sliding } from './time/sliding-windows.js';
export type { SlidingOptions, SlidingWindows } from './time/sliding-windows.js';
export { hopping, tumbling, unlimited } from './time/time-windows.js';
export type { HoppingOptions, TimeWindows, TumblingOptions, UnlimitedOptions } from './time/time-windows.js';
export { Windowed } from './time/windowed.js';
export type { Window } from './time/windowed.js';
export type { OffsetReset, OffsetResetByDuration } from './time/offset-reset.js';
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
export type { SliceSpan } from './time/slices.js';
export { tumblingEventTime, tumblingProcessingTime } from './time/windowing/tumbling-windows.js';
export type { TumblingWindowsOptions, WindowStagger } from './time/windowing/tumbling-windows.js';
export { slidingEventTime, slidingProcessingTime } from './time/windowing/sliding-windows.js';
export type { SlidingWindowsOptions } from './time/windowing/sliding-windows.js';
export { sessionEventTime, sessionProcessingTime } from './time/windowing/session-windows.js';
export type { SessionWindowsOptions } from './time/windowing/session-windows.js';
export { globalWindows } from './time/windowing/global-windows.js';
export type { MergeContext, Trigger, TriggerContext, TriggerResult } from './processors/windowing/trigger.js';
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
  AnyStateDescriptor,
  ListStateDescriptor,
  MapStateDescriptor,
  ReducingStateDescriptor,
  StateOptions,
  ValueStateDescriptor,
} from './processors/state/state-descriptor.js';
export { operatorListState } from './processors/operator-state/operator-state-descriptor.js';
export type {
  AnyOperatorStateDescriptor,
  OperatorListStateDescriptor,
  OperatorListStateOptions,
  Redistribution,
} from './processors/operator-state/operator-state-descriptor.js';
export type { OperatorListState, OperatorStateAccess } from './processors/operator-state/operator-list-state.js';
export type { AggregateFunction } from './processors/state/aggregate-function.js';
export type { AggregatingState, ListState, MapState, ReducingState, ValueState } from './processors/state/keyed-state.js';
export type { StateAccess } from './processors/state/keyed-states.js';
export type { IncrementalCleanup, StateTtl } from './processors/state/state-ttl.js';
export type { FiredTimer, KeyedProcessor, KeyedProcessorContext, KeyTimers } from './processors/event-time/keyed-processor.js';
export type { TimerKind } from './processors/timers/timer-service.js';
export type { IntervalBounds } from './processors/interval-join/interval-bounds.js';
export type * from './dsl/keyed-stream.js';
export type * from './dsl/broadcast-stream.js';
export type { BroadcastState, ReadonlyBroadcastState } from './processors/broadcast/broadcast-state.js';
export type {
  BroadcastAccess,
  BroadcastProcessor,
  BroadcastProcessorContext,
  BroadcastStateAccess,
  KeyedBroadcastAccess,
  KeyedBroadcastProcessor,
  KeyedBroadcastProcessorContext,
  StateOf,
} from './processors/broadcast/broadcast-processor.js';

export { TopologyBuilder } from './topology/topology-builder.js';
export type { GlobalStoreOptions, SourceSpec, StateStoreOptions } from './topology/topology-draft.js';
export type { SinkOptions } from './topology/sink-node.js';
export type { SourceOptions } from './topology/source-node.js';
export type {
  ExecutionMode,
  GlobalStoreNode,
  Partitioner,
  ProcessorNode,
  RepartitionTopic,
  SinkNode,
  SourceNode,
  StoreNode,
  SubTopology,
  TopicNameExtractor,
  TopicRef,
  Topology,
  TopologyNode,
} from './topology/nodes.js';
