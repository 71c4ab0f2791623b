/** What the options of each DSL call may be. */
import {
  anyObject,
  anything,
  callback,
  flag,
  list,
  milliseconds,
  oneOf,
  serde,
  text,
  wholeNumber,
  type ShapeOf,
} from '../errors/checked-options.js';
import type { RetryOptions } from '../processors/async/async-options.js';
import { offsetResetOption } from '../time/offset-reset.js';
import type { AsyncProcessOptions, AsyncRecordOptions, AsyncValueOptions } from './async-options.js';
import type {
  IntervalJoinedOptions,
  KeyedProcessOptions,
  SideOutputLate,
  WindowAggregateOptions,
  WindowOptions,
  WindowProcessOptions,
  WindowResultOptions,
} from './keyed-stream.js';
import type { GlobalJoinOptions } from './kstream.js';
import type {
  CogroupedWindowOptions,
  ConsumedOptions,
  DerivedTableOptions,
  EmitOnChangeOption,
  ForeignKeyJoinOptions,
  GlobalTableOptions,
  GroupedOptions,
  JoinedOptions,
  KeyOptions,
  LateOptions,
  MappedTableOptions,
  MaterializedOptions,
  NamedOptions,
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
  ValueOptions,
  WindowMaterializedOptions,
  WindowTableOptions,
} from './options.js';

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
  timestampExtractor: anyObject,
  offsetReset: offsetResetOption,
  watermarks: anyObject,
} satisfies ShapeOf<ConsumedOptions<unknown, unknown>>;
const kept = { storeName: text, ...both, engine, logged: flag, changelogConfigs: anyObject };
const materialized = { ...kept, historyRetention: milliseconds } satisfies ShapeOf<MaterializedOptions<unknown, unknown>>;
const windowMaterialized = { ...materialized, retention: anything } satisfies ShapeOf<WindowMaterializedOptions<unknown, unknown>>;
/** Told apart where it is taken. */
const late = { late: anything } satisfies ShapeOf<LateOptions<unknown, unknown>>;
const onChange = { emitOnChange: flag } satisfies ShapeOf<EmitOnChangeOption>;
const table = { ...named, materialized, emit: tableEmit, ...onChange } satisfies ShapeOf<TableOptions<unknown, unknown>>;
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

export const shapes = {
  named,
  keyed,
  valued,
  record,
  grouped,
  consumed,
  produced: { ...record, partitioner: anyObject } satisfies ShapeOf<ProducedOptions<unknown, unknown>>,
  repartitioned: { ...grouped, partitions: wholeNumber, partitioner: anyObject } satisfies ShapeOf<RepartitionedOptions<unknown, unknown>>,
  process: { ...record, stores: list } satisfies ShapeOf<ProcessOptions<unknown, unknown>>,
  processValues: { ...valued, stores: list } satisfies ShapeOf<ProcessValuesOptions<unknown>>,
  streamJoin: {
    ...record,
    windows: anything,
    storeName: text,
    leftValueSerde: serde,
    rightValueSerde: serde,
    engine,
    late: anything,
    logged: flag,
    changelogConfigs: anyObject,
  } satisfies ShapeOf<StreamJoinOptions<unknown, unknown, unknown, unknown>>,
  tableJoin: { ...record, streamValueSerde: serde, grace: milliseconds } satisfies ShapeOf<JoinedOptions<unknown, unknown, unknown>>,
  globalJoin: { ...valued, keyOf: callback } satisfies ShapeOf<GlobalJoinOptions<unknown, unknown, unknown, unknown>>,
  table,
  streamTable: { ...table, ...late } satisfies ShapeOf<StreamTableOptions<unknown, unknown>>,
  sourceTable: { ...consumed, materialized, emit: tableEmit, ...onChange, ...late } satisfies ShapeOf<SourceTableOptions<unknown, unknown>>,
  globalTable: { ...consumed, materialized: { storeName: text, ...both, engine } } satisfies ShapeOf<GlobalTableOptions<unknown, unknown>>,
  foreignKeyJoin: { ...table, foreignKey: callback, otherPartitioner: anyObject } satisfies ShapeOf<
    ForeignKeyJoinOptions<unknown, unknown, unknown, unknown>
  >,
  asyncValue: { ...valued, ...calls } satisfies ShapeOf<AsyncValueOptions<unknown, unknown, unknown>>,
  asyncRecord: { ...record, ...calls } satisfies ShapeOf<AsyncRecordOptions<unknown, unknown, unknown, unknown>>,
  asyncProcess: { ...record, ...calls, stores: list } satisfies ShapeOf<AsyncProcessOptions<unknown, unknown, unknown, unknown>>,
  window: { trigger: anyObject, evictor: anyObject, allowedLateness: anything } satisfies ShapeOf<WindowOptions<unknown>>,
  windowReduce: windowResult,
  windowAggregate: { ...windowResult, accumulatorSerde: serde, apply: callback, clear: callback } satisfies ShapeOf<
    WindowAggregateOptions<unknown, unknown, unknown, unknown>
  >,
  windowProcess: { ...windowResult, clear: callback } satisfies ShapeOf<WindowProcessOptions<unknown, unknown>>,
  keyedProcess: { ...record, states: list } satisfies ShapeOf<KeyedProcessOptions<unknown, unknown>>,
  intervalJoin: { ...valued, sideOutputLate: flag } satisfies ShapeOf<IntervalJoinedOptions<unknown> & SideOutputLate>,
  derived,
  mapped: { ...derived, ...both } satisfies ShapeOf<MappedTableOptions<unknown, unknown>>,
  transformed: { ...derived, ...both, stores: list } satisfies ShapeOf<TransformedTableOptions<unknown, unknown>>,
  windowTable: {
    ...named,
    materialized: windowMaterialized,
    emit: oneOf('onUpdate', 'onCommit', 'onWindowClose'),
    ...onChange,
    ...late,
  } satisfies ShapeOf<WindowTableOptions<unknown, unknown> & LateOptions<unknown, unknown>>,
  cogroupedWindow: { ...named, materialized: windowMaterialized, emit: tableEmit, ...onChange, ...late } satisfies ShapeOf<
    CogroupedWindowOptions<unknown, unknown> & LateOptions<unknown, unknown>
  >,
};
