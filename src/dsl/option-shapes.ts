/** What the options of each DSL call may be. */
import {
  anything,
  atLeastOne,
  callback,
  flag,
  list,
  milliseconds,
  objectWith,
  oneOf,
  serde,
  text,
  texts,
  type ShapeOf,
} from '../errors/checked-options.js';
import type { RetryOptions } from '../processors/async/async-options.js';
import { offsetResetOption } from '../time/offset-reset.js';
import { timestampExtractorOption } from '../time/timestamp-extractor.js';
import { watermarksOption } from '../time/watermarks/watermark-strategy.js';
import { partitionerOption } from '../topology/builder-options.js';
import type { AsyncProcessOptions, AsyncRecordOptions, AsyncValueOptions, LookupCacheOptions, LookupJoinOptions } from './async-options.js';
import type {
  IntervalJoinedOptions,
  KeyedProcessOptions,
  SideOutputLate,
  TemporalJoinedOptions,
  WindowAggregateOptions,
  WindowJoinOptions,
  WindowOptions,
  WindowProcessOptions,
  WindowResultOptions,
} from './keyed-stream.js';
import type { BroadcastOptions, BroadcastProcessOptions } from './broadcast-stream.js';
import type { GlobalJoinOptions } from './kstream.js';
import type {
  AggregateFunctionOptions,
  AggregateOptions,
  CogroupedWindowOptions,
  ConsumedOptions,
  DerivedTableOptions,
  EmitOnChangeOption,
  ForeignKeyJoinOptions,
  GlobalConsumedOptions,
  GlobalTableOptions,
  GroupedOptions,
  JoinedOptions,
  KeyOptions,
  LateOptions,
  MappedTableOptions,
  MaterializedOptions,
  NamedOptions,
  PrintOptions,
  ProcessOptions,
  ProcessValuesOptions,
  ProducedOptions,
  RecordOptions,
  RepartitionedOptions,
  SourceTableOptions,
  StreamJoinOptions,
  StreamTableOptions,
  TableOptions,
  TransformedTableOptions,
  TwoStageOption,
  ValueOptions,
  WindowMaterializedOptions,
  WindowedAggregateOptions,
  WindowTableOptions,
} from './options.js';

const triggerOption = objectWith('a trigger, such as countTrigger(10)', 'onElement', 'onEventTime', 'onProcessingTime', 'clear');
const evictorOption = objectWith('an evictor, such as countEvictor(10)', 'before', 'after');
const engine = oneOf('memory', 'leveldb');
const tableEmit = oneOf('onUpdate', 'onCommit');
const both = { keySerde: serde, valueSerde: serde };

const named = { name: text } satisfies ShapeOf<NamedOptions>;
// Both serdes everywhere: people keep them in one object, and the one that is not needed does no harm.
const keyed = { ...named, ...both } satisfies ShapeOf<KeyOptions<unknown>>;
const valued = { ...named, ...both } satisfies ShapeOf<ValueOptions<unknown>>;
const record = { ...named, ...both } satisfies ShapeOf<RecordOptions<unknown, unknown>>;
const grouped = { ...named, ...both } satisfies ShapeOf<GroupedOptions<unknown, unknown>>;
const consumed = {
  ...record,
  timestampExtractor: timestampExtractorOption,
  offsetReset: offsetResetOption,
  watermarks: watermarksOption,
} satisfies ShapeOf<ConsumedOptions<unknown, unknown>>;
const kept = { storeName: text, ...both, engine, logged: flag, changelogConfigs: texts };
const materialized = { ...kept, historyRetention: milliseconds } satisfies ShapeOf<MaterializedOptions<unknown, unknown>>;
const windowMaterialized = { ...materialized, retention: anything } satisfies ShapeOf<WindowMaterializedOptions<unknown, unknown>>;
/** Told apart where it is taken. */
const late = { late: anything } satisfies ShapeOf<LateOptions<unknown, unknown>>;
const onChange = { emitOnChange: flag } satisfies ShapeOf<EmitOnChangeOption>;
const table = { ...named, materialized, emit: tableEmit, ...onChange } satisfies ShapeOf<TableOptions<unknown, unknown>>;
/** True, false, or options of its own, told apart where it is taken. */
const twoStage = { twoStage: anything } satisfies ShapeOf<TwoStageOption>;
/** Numbers are checked by whoever makes the rules of the calls of them. */
const calls = {
  concurrency: anything,
  maxBufferedRecords: anything,
  maxBufferedBytes: anything,
  order: anything,
  timeout: anything,
  retry: { attempts: anything, backoff: anything, maxBackoff: anything, when: callback } satisfies ShapeOf<RetryOptions>,
  inputKeySerde: serde,
  inputValueSerde: serde,
};
const windowResult = { ...valued, states: list, sideOutputLate: flag } satisfies ShapeOf<WindowResultOptions<unknown> & SideOutputLate>;
const derived = { ...named, materialized, ...onChange } satisfies ShapeOf<DerivedTableOptions<unknown, unknown>>;

const windowTable = {
  ...named,
  materialized: windowMaterialized,
  emit: oneOf('onUpdate', 'onCommit', 'onWindowClose'),
  ...onChange,
  ...late,
} satisfies ShapeOf<WindowTableOptions<unknown, unknown> & LateOptions<unknown, unknown>>;

export const shapes = {
  named,
  keyed,
  valued,
  record,
  grouped,
  consumed,
  produced: { ...record, partitioner: partitionerOption } satisfies ShapeOf<ProducedOptions<unknown, unknown>>,
  print: { ...named, label: text, write: callback } satisfies ShapeOf<PrintOptions>,
  repartitioned: { ...grouped, partitions: atLeastOne, partitioner: partitionerOption } satisfies ShapeOf<
    RepartitionedOptions<unknown, unknown>
  >,
  process: { ...record, stores: list, operatorStates: list } satisfies ShapeOf<ProcessOptions<unknown, unknown>>,
  processValues: { ...valued, stores: list, operatorStates: list } satisfies ShapeOf<ProcessValuesOptions<unknown>>,
  streamJoin: {
    ...record,
    windows: anything,
    storeName: text,
    leftValueSerde: serde,
    rightValueSerde: serde,
    engine,
    late: anything,
    logged: flag,
    changelogConfigs: texts,
  } satisfies ShapeOf<StreamJoinOptions<unknown, unknown, unknown, unknown>>,
  tableJoin: { ...record, streamValueSerde: serde, grace: milliseconds } satisfies ShapeOf<JoinedOptions<unknown, unknown, unknown>>,
  globalJoin: { ...valued, keyOf: callback } satisfies ShapeOf<GlobalJoinOptions<unknown, unknown, unknown, unknown>>,
  table,
  combined: { ...table, ...twoStage } satisfies ShapeOf<TableOptions<unknown, unknown> & TwoStageOption>,
  aggregate: { ...table, ...twoStage, merger: callback } satisfies ShapeOf<AggregateOptions<unknown, unknown>>,
  aggregateFunction: { ...table, ...twoStage, valueSerde: serde } satisfies ShapeOf<AggregateFunctionOptions<unknown, unknown, unknown>>,
  streamTable: { ...table, ...late } satisfies ShapeOf<StreamTableOptions<unknown, unknown>>,
  sourceTable: { ...consumed, materialized, emit: tableEmit, ...onChange, ...late } satisfies ShapeOf<SourceTableOptions<unknown, unknown>>,
  globalStore: record satisfies ShapeOf<GlobalConsumedOptions<unknown, unknown>>,
  globalTable: { ...record, materialized: { storeName: text, ...both, engine } } satisfies ShapeOf<GlobalTableOptions<unknown, unknown>>,
  foreignKeyJoin: { ...table, foreignKey: callback, otherPartitioner: partitionerOption } satisfies ShapeOf<
    ForeignKeyJoinOptions<unknown, unknown, unknown, unknown>
  >,
  asyncValue: { ...valued, ...calls } satisfies ShapeOf<AsyncValueOptions<unknown, unknown, unknown>>,
  asyncRecord: { ...record, ...calls } satisfies ShapeOf<AsyncRecordOptions<unknown, unknown, unknown, unknown>>,
  asyncProcess: { ...record, ...calls, stores: list, operatorStates: list } satisfies ShapeOf<
    AsyncProcessOptions<unknown, unknown, unknown, unknown>
  >,
  lookupJoin: {
    ...valued,
    ...calls,
    keyOf: callback,
    lookupKeySerde: serde,
    cache: { ttl: anything, missingTtl: anything, maxRows: anything, valueSerde: serde } satisfies ShapeOf<LookupCacheOptions<unknown>>,
    retryMissing: flag,
  } satisfies ShapeOf<LookupJoinOptions<unknown, unknown, unknown, unknown, unknown>>,
  window: { trigger: triggerOption, evictor: evictorOption, allowedLateness: anything } satisfies ShapeOf<WindowOptions<unknown>>,
  windowReduce: { ...windowResult, ...twoStage } satisfies ShapeOf<WindowResultOptions<unknown> & SideOutputLate & TwoStageOption>,
  windowAggregate: { ...windowResult, ...twoStage, accumulatorSerde: serde, apply: callback, clear: callback } satisfies ShapeOf<
    WindowAggregateOptions<unknown, unknown, unknown, unknown>
  >,
  windowProcess: { ...windowResult, clear: callback } satisfies ShapeOf<WindowProcessOptions<unknown, unknown>>,
  keyedProcess: { ...record, states: list, operatorStates: list } satisfies ShapeOf<KeyedProcessOptions<unknown, unknown>>,
  broadcastProcess: { ...record, operatorStates: list } satisfies ShapeOf<BroadcastProcessOptions<unknown, unknown>>,
  broadcast: { ...record, states: anything } satisfies ShapeOf<BroadcastOptions<unknown, unknown>>,
  intervalJoin: { ...valued, sideOutputLate: flag } satisfies ShapeOf<IntervalJoinedOptions<unknown> & SideOutputLate>,
  temporalJoin: { ...valued, sideOutputLate: flag } satisfies ShapeOf<TemporalJoinedOptions<unknown> & SideOutputLate>,
  windowJoin: {
    ...valued,
    sideOutputLate: flag,
    allowedLateness: anything,
    kind: oneOf('inner', 'left', 'right', 'full'),
  } satisfies ShapeOf<WindowJoinOptions<unknown> & SideOutputLate>,
  coGroup: { ...valued, sideOutputLate: flag, allowedLateness: anything } satisfies ShapeOf<
    Omit<WindowJoinOptions<unknown>, 'kind'> & SideOutputLate
  >,
  derived,
  mapped: { ...derived, ...both } satisfies ShapeOf<MappedTableOptions<unknown, unknown>>,
  transformed: { ...derived, ...both, stores: list } satisfies ShapeOf<TransformedTableOptions<unknown, unknown>>,
  windowCombined: { ...windowTable, ...twoStage } satisfies ShapeOf<
    WindowTableOptions<unknown, unknown> & LateOptions<unknown, unknown> & TwoStageOption
  >,
  windowedAggregate: { ...windowTable, ...twoStage, merger: callback } satisfies ShapeOf<
    WindowedAggregateOptions<unknown, unknown> & LateOptions<unknown, unknown>
  >,
  cogroupedWindow: { ...named, materialized: windowMaterialized, emit: tableEmit, ...onChange, ...late } satisfies ShapeOf<
    CogroupedWindowOptions<unknown, unknown> & LateOptions<unknown, unknown>
  >,
};
