/** The options objects of the DSL. Everything in them is optional; what is absent is derived, carried along or the app's default. */
import type { KStream } from './kstream.js';
import type { AnyOperatorStateDescriptor } from '../processors/operator-state/operator-state-descriptor.js';
import type { Awaitable, SessionMerger } from '../processors/user-functions.js';
import type { Serde } from '../serdes/serde.js';
import type { ResultSerde, SerdeFor } from '../serdes/serde-for.js';
import type { StoreSpec } from '../stores/store.js';
import type { OffsetReset } from '../time/offset-reset.js';
import type { JoinWindows } from '../time/join-windows.js';
import type { Partitioner } from '../topology/nodes.js';
import type { WatermarkStrategy } from '../time/watermarks/watermark-strategy.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';

/** For every operator. */
export interface NamedOptions {
  /** Name of the operator, in `topology.describe()`, metrics and errors. ASCII letters, digits, `.`, `_`, `-`. Default: generated as in Kafka Streams. */
  readonly name?: string;
}

/** For `print`. */
export interface PrintOptions extends NamedOptions {
  /** What each line begins with, in brackets. Default: the name of the stream's node. */
  readonly label?: string;
  /** Gets each line; what it gives is awaited. Default: `console.log`. */
  readonly write?: (line: string) => unknown;
}

/** How a topic is read. */
export interface ConsumedOptions<K, V> extends NamedOptions {
  /** Default: the app's `defaultKeySerde`. */
  readonly keySerde?: Serde<K>;
  /** Default: the app's `defaultValueSerde`. */
  readonly valueSerde?: Serde<V>;
  /** Where a record's time comes from. Default: the app's `defaultTimestampExtractor`, else `failOnInvalidTimestamp`: the record's own. */
  readonly timestampExtractor?: TimestampExtractor;
  /** Where to begin without a committed offset: also `{ duration: ms }`, so long before now. Default: the app's `autoOffsetReset`. */
  readonly offsetReset?: OffsetReset;
  /** What the records say about event time, for windows and timers in event time (`keyBy`). Default: nothing. */
  readonly watermarks?: WatermarkStrategy<NoInfer<V>>;
}

/** How a topic is written. */
export interface ProducedOptions<K, V> extends NamedOptions {
  /** Default: the serde that the stream carries, else the app's. */
  readonly keySerde?: SerdeFor<K>;
  /** Default: the one known for the stream, else the app's. */
  readonly valueSerde?: SerdeFor<V>;
  /** Which partition, or which several. Default: murmur2 of the key bytes, as Kafka's own producers; for windowed keys, of the key inside the window. */
  readonly partitioner?: Partitioner;
}

/** For operators that make new keys. */
export interface KeyOptions<K> extends NamedOptions {
  /** Serde of the new keys, carried along. */
  readonly keySerde?: ResultSerde<K>;
}

/** For operators that make new values. */
export interface ValueOptions<V> extends NamedOptions {
  /** Serde of the new values, carried along. */
  readonly valueSerde?: ResultSerde<V>;
}

/** For operators that make new keys and values. */
export interface RecordOptions<K, V> extends NamedOptions {
  /** Serde of the new keys, carried along. */
  readonly keySerde?: ResultSerde<K>;
  /** Serde of the new values, carried along. */
  readonly valueSerde?: ResultSerde<V>;
}

/** For grouping by new keys. `name` also names the repartition topic: `<applicationId>-<name>-repartition`. */
export interface GroupedByOptions<K, V> extends KeyOptions<K> {
  /** Serde of the values. Default: the one known for the stream, else the app's. */
  readonly valueSerde?: SerdeFor<V>;
}

/** For processors, which forward records. */
export interface ForwardedOptions<K, V> extends ForwardedValueOptions<V> {
  /** Serde of the keys that are forwarded, carried along. */
  readonly keySerde?: SerdeFor<K>;
}

/** For processors that can't change the key. */
export interface ForwardedValueOptions<V> extends NamedOptions {
  /** Serde of the values that are forwarded, carried along. */
  readonly valueSerde?: SerdeFor<V>;
}

/** `name` also names the repartition topic, when one is needed: `<applicationId>-<name>-repartition`. */
export interface GroupedOptions<K, V> extends NamedOptions {
  /** Default: the serde that the stream carries, else the app's. */
  readonly keySerde?: SerdeFor<K>;
  /** Default: the one known for the stream, else the app's. */
  readonly valueSerde?: SerdeFor<V>;
}

/** `name` names the topic: `<applicationId>-<name>-repartition`. */
export interface RepartitionedOptions<K, V> extends GroupedOptions<K, V> {
  /** Partitions of the topic. Default: as many as the largest topic upstream, or what a join downstream needs. */
  readonly partitions?: number;
  /** Default: Kafka's, murmur2 of the key bytes. */
  readonly partitioner?: Partitioner;
}

/** `name` also names the repartition topic, when one is needed. */
export interface JoinedOptions<K, V, VR> extends NamedOptions {
  /** Serde of the stream's keys, for the repartition topic. Default: carried, else the app's. */
  readonly keySerde?: SerdeFor<K>;
  /** Serde of the stream's values, for the repartition topic. Default: carried, else the app's. */
  readonly streamValueSerde?: SerdeFor<V>;
  /** Serde of the joined values, carried along. */
  readonly valueSerde?: ResultSerde<VR>;
  /**
   * How long a record waits before it is joined, ms of stream time, so that rows of the table that come late are seen (KIP-923). Needs a versioned table whose history
   * is at least as long. Default: records are joined at once.
   */
  readonly grace?: number;
}

/** `name` names the operators of the join. Without `materialized` the result is not kept: operators that need its rows compute them from both tables. */
export interface TableJoinOptions<K, VR> extends Omit<TableOptions<K, VR>, 'materialized'> {
  /** Its store. Default: one with a generated name where the operator needs it. */
  readonly materialized?: ResultMaterializedOptions<K, VR>;
}

/** A join by a key that is found in the left table's values. `name` also names the two internal topics and the store of subscriptions. */
export interface ForeignKeyJoinOptions<K, V, KO, VR> extends TableJoinOptions<K, VR> {
  /** The key of the other table's row. null: the row joins nothing. */
  readonly foreignKey: (value: V, key: K) => Awaitable<KO | null>;
  /** How the other table's topic is partitioned. Default: murmur2 of the key bytes. */
  readonly otherPartitioner?: Partitioner;
}

/** `name` names the operators and, when they are needed, the repartition topics: `<name>-left-repartition` and `<name>-right-repartition`. */
export interface StreamJoinOptions<K, V, VO, VR> extends NamedOptions {
  /** Which records meet, by their times. */
  readonly windows: JoinWindows;
  /** What the names of the join's stores begin with. Default: generated. */
  readonly storeName?: string;
  /** Serdes for stores and repartition topics. Default: carried, else the app's. */
  readonly keySerde?: SerdeFor<K>;
  /** Of this stream's values, for its store and its repartition topic. Default: the one known for the stream, else the app's. */
  readonly leftValueSerde?: SerdeFor<V>;
  /** The same for the other stream. */
  readonly rightValueSerde?: SerdeFor<VO>;
  /** Serde of the joined values, carried along. */
  readonly valueSerde?: ResultSerde<VR>;
  /** Engine of the stores. Default: the app's. */
  readonly engine?: 'memory' | 'leveldb';
  /**
   * What becomes of records that come so late that the other side can't find them any more: later than their windows' size and grace. They are joined with what is still there, and then
   * `drop` (default) forgets them, `deadLetter` sends them to the app's `deadLetterTopic`, and functions get the streams of them, a side each.
   */
  readonly late?:
    | 'drop'
    | 'deadLetter'
    | {
        /** Gets those of this stream. */
        readonly left?: (late: KStream<K, V>) => void;
        /** Gets those of the other stream. */
        readonly right?: (late: KStream<K, VO>) => void;
      };
  /** Whether the stores have changelogs. Default true. */
  readonly logged?: boolean;
  /** Further configs of the changelog topics. */
  readonly changelogConfigs?: Readonly<Record<string, string>>;
}

/** Which stores a processor uses. */
export interface StoresOption {
  /**
   * The stores that the processor uses: the name of one that `builder.addStateStore` adds, or the store itself, which is added with it; several processors may bring the same one.
   * Global stores need not be named.
   */
  readonly stores?: readonly (string | StoreSpec)[];
}

/** Which state of its tasks a processor has. */
export interface OperatorStatesOption {
  /** All operator states that the processor asks for, made by `operatorListState`. Each lies in a store, `<name>-operator-<state>`. */
  readonly operatorStates?: readonly AnyOperatorStateDescriptor[];
}

/** Of `process`. */
export type ProcessOptions<K, V> = ForwardedOptions<K, V> & StoresOption & OperatorStatesOption;

/** Of `processValues`. */
export type ProcessValuesOptions<V> = ForwardedValueOptions<V> & StoresOption & OperatorStatesOption;

/** How the rows of a table are kept. */
export interface MaterializedOptions<K, V> {
  /** Name of the store, by which it can be queried; its changelog is `<applicationId>-<storeName>-changelog`. Default: generated. */
  readonly storeName?: string;
  /** Default: carried, else the app's. */
  readonly keySerde?: SerdeFor<K>;
  /** Default: the one known for the table, else the app's. */
  readonly valueSerde?: SerdeFor<V>;
  /** Default: the app's. */
  readonly engine?: 'memory' | 'leveldb';
  /** Whether changes go to a changelog topic, from which the store is restored. Default true. */
  readonly logged?: boolean;
  /** Further configs of the changelog topic. */
  readonly changelogConfigs?: Readonly<Record<string, string>>;
  /**
   * Makes the table versioned (KIP-889): the versions of a row are kept for this long, ms of stream time, and stream joins see the table as of their records'
   * time. Changes of a versioned table go downstream at once. Default: only the latest row is kept.
   */
  readonly historyRetention?: number;
}

/** How the rows that a joiner makes are kept. */
export interface ResultMaterializedOptions<K, VR> extends Omit<MaterializedOptions<K, VR>, 'valueSerde'> {
  /** Default: the app's. */
  readonly valueSerde?: ResultSerde<VR>;
}

export interface WindowMaterializedOptions<K, V> extends MaterializedOptions<K, V> {
  /** How long a window is kept after its start, ms of stream time: at least size + grace, which is the default. */
  readonly retention?: number;
}

/**
 * What becomes of late records: `drop` counts them (default), `deadLetter` sends them to the app's `deadLetterTopic`, and a function gets the stream of them. A record is late
 * when everything it could have changed is closed; one that goes elsewhere is not counted as dropped.
 */
export type LateOption<K, V> = 'drop' | 'deadLetter' | ((late: KStream<K, V>) => void);

/** For operators that may get late records. */
export interface LateOptions<K, V> {
  /**
   * What becomes of them. Default `drop`.
   *
   * @example
   * { late: (late) => late.to('late-clicks') }
   */
  readonly late?: LateOption<K, V>;
}

/** When results go downstream: at every record (`onUpdate`), or the last value of each key at every commit (`onCommit`). */
export type TableEmitOption = 'onUpdate' | 'onCommit';

/** As `TableEmitOption`, or once a window, when it is closed (`onWindowClose`). */
export type WindowEmitOption = TableEmitOption | 'onWindowClose';

/** For tables that need not tell what changes nothing. */
export interface EmitOnChangeOption {
  /**
   * Results that are what they were go no further: the serialised value is compared with that of the last result that went downstream. The store, its changelog and
   * queries are as without it, so that a row's timestamp goes on. Costs a serialisation a result. Not with `historyRetention`, nor in apps with
   * `processingGuarantee: 'at_least_once'`, which could lose results by it after a crash (MILL_CONFIG_INVALID). Default false, as Kafka Streams.
   */
  readonly emitOnChange?: boolean;
}

/** For operators whose result is a table. */
export interface TableOptions<K, V> extends NamedOptions, EmitOnChangeOption {
  /** Its store. Default: one with a generated name where the operator needs it. */
  readonly materialized?: MaterializedOptions<K, V>;
  /** Default: the app's `emit`. */
  readonly emit?: TableEmitOption;
}

/** How an aggregation in two stages folds its parts. */
export interface TwoStageOptions {
  /**
   * The records of each key go to so many partitions in turn first, where the parts are folded: for a key that is too much for the one task that reads it, or that folds it. Costs a
   * further repartition topic, through which all records go. Default: parts are folded where the records are read.
   */
  readonly spread?: number;
  /** Parts that a task holds in memory, one a key and, with windows, slice of time; beyond that all of them leave before the commit. Default 10 000. */
  readonly maxKeys?: number;
}

/** For aggregations that can be done in two stages. */
export interface TwoStageOption {
  /**
   * True: each task folds what it reads of a key between two commits into one part, and only the parts go through the repartition topic, `<store>-parts`, where they are combined. A key
   * that is hot then costs one record a task and commit. The rows are those of one stage, if it does not matter how records are cut into parts: combining must be associative and
   * commutative, what the initializer gives neutral, and no row may be deleted. Default false.
   *
   * Parts are not mixed with what one stage writes: the topics have other names. Changing it between two runs is safe when the old topic has been read to its end.
   */
  readonly twoStage?: boolean | TwoStageOptions;
}

/** For `aggregate` of a grouped stream. */
export interface AggregateOptions<K, A> extends TableOptions<K, A>, TwoStageOption {
  /** Combines two parts into one; needed with `twoStage`. Parts are accumulators (sum and count), never results (means). */
  readonly merger?: SessionMerger<K, A>;
}

/** For `aggregate` of a grouped stream with an aggregate function, whose accumulator is what is stored. */
export interface AggregateFunctionOptions<K, Acc, Out> extends TableOptions<K, Acc>, TwoStageOption {
  /** Serde of the results, carried along. That of the accumulator is `materialized.valueSerde`. */
  readonly valueSerde?: ResultSerde<Out>;
}

/** For operators that compute a table out of another one: without `materialized.storeName` the result is not kept, and `emitOnChange` is refused. */
export interface DerivedTableOptions<K, V> extends NamedOptions, EmitOnChangeOption {
  /** Its store. Default: none; rows are computed when asked for. */
  readonly materialized?: MaterializedOptions<K, V>;
}

/** For `mapValues` of a table. */
export interface MappedTableOptions<K, V> extends DerivedTableOptions<K, V> {
  /** Serde of the new values, carried along. */
  readonly valueSerde?: SerdeFor<V>;
}

/** For `transformValues` of a table. */
export interface TransformedTableOptions<K, V> extends MappedTableOptions<K, V>, StoresOption {}

/** For cogrouped windows, which have no `onWindowClose`. */
export interface CogroupedWindowOptions<K, V> extends NamedOptions, EmitOnChangeOption {
  /** Its store. Default: one with a generated name. */
  readonly materialized?: WindowMaterializedOptions<K, V>;
  /** Default: the app's `emit`. */
  readonly emit?: TableEmitOption;
}

/** For operators whose result is a table of windows. `emitOnChange` is not for `onWindowClose`, which tells each window once. */
export interface WindowTableOptions<K, V> extends NamedOptions, EmitOnChangeOption {
  /** Its store. Default: one with a generated name. */
  readonly materialized?: WindowMaterializedOptions<K, V>;
  /** Default: the app's `emit`. */
  readonly emit?: WindowEmitOption;
}

/** For `aggregate` of a stream grouped by key and window. */
export interface WindowedAggregateOptions<K, A> extends WindowTableOptions<K, A>, TwoStageOption {
  /** Combines two parts into one; needed with `twoStage`. Parts are accumulators (sum and count), never results (means). */
  readonly merger?: SessionMerger<K, A>;
}

/** For `builder.table`. `late` is for versioned tables: records that are older than the history. */
export type SourceTableOptions<K, V> = ConsumedOptions<K, V> &
  Pick<TableOptions<K, V>, 'materialized' | 'emit' | 'emitOnChange'> &
  LateOptions<K, V | null>;

/** For `toTable`. `late` is for versioned tables: records that are older than the history. */
export type StreamTableOptions<K, V> = TableOptions<K, V> & LateOptions<K, V | null>;

/** For `builder.addGlobalStore`: all of the topic is read, from its beginning, with the records' own timestamps. */
export type GlobalConsumedOptions<K, V> = Pick<ConsumedOptions<K, V>, 'name' | 'keySerde' | 'valueSerde'>;

/** For `builder.globalTable`. */
export type GlobalTableOptions<K, V> = GlobalConsumedOptions<K, V> & {
  /** Its store. Default: one with a generated name. */
  readonly materialized?: Pick<MaterializedOptions<K, V>, 'storeName' | 'keySerde' | 'valueSerde' | 'engine'>;
};
