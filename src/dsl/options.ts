/** The options objects of the DSL. Everything in them is optional; what is absent is derived, carried along or the app's default. */
import type { Serde } from '../serdes/serde.js';
import type { Partitioner } from '../topology/nodes.js';
import type { WatermarkStrategy } from '../time/watermarks/watermark-strategy.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';

export interface NamedOptions {
  /** Name of the operator, in `topology.describe()`, metrics and errors. ASCII letters, digits, `.`, `_`, `-`. Default: generated as in Kafka Streams. */
  readonly name?: string;
}

/** How a topic is read. */
export interface ConsumedOptions<K, V> extends NamedOptions {
  /** Default: the app's `defaultKeySerde`. */
  readonly keySerde?: Serde<K>;
  /** Default: the app's `defaultValueSerde`. */
  readonly valueSerde?: Serde<V>;
  /** Where a record's time comes from. Default: the app's. */
  readonly timestampExtractor?: TimestampExtractor;
  /** Where to begin without a committed offset. Default: the app's `autoOffsetReset`. */
  readonly offsetReset?: 'earliest' | 'latest' | 'none';
  /** What the records say about event time, for windows and timers in event time (`keyBy`). Default: nothing. */
  readonly watermarks?: WatermarkStrategy<NoInfer<V>>;
}

/** How a topic is written. */
export interface ProducedOptions<K, V> extends NamedOptions {
  /** Default: the serde that the stream carries, else the app's. */
  readonly keySerde?: Serde<K>;
  readonly valueSerde?: Serde<V>;
  /** Default: murmur2 of the key bytes, as Kafka's own producers; for windowed keys, of the key inside the window. */
  readonly partitioner?: Partitioner;
}

/** For operators that make new keys. */
export interface KeyOptions<K> extends NamedOptions {
  /** Serde of the new keys, carried along. */
  readonly keySerde?: Serde<K>;
}

/** For operators that make new values. */
export interface ValueOptions<V> extends NamedOptions {
  /** Serde of the new values, carried along. */
  readonly valueSerde?: Serde<V>;
}

/** For operators that make new keys and values. */
export interface RecordOptions<K, V> extends NamedOptions {
  /** Serde of the new keys, carried along. */
  readonly keySerde?: Serde<K>;
  /** Serde of the new values, carried along. */
  readonly valueSerde?: Serde<V>;
}

/** `name` also names the repartition topic, when one is needed: `<applicationId>-<name>-repartition`. */
export interface GroupedOptions<K, V> extends NamedOptions {
  /** Default: the serde that the stream carries, else the app's. */
  readonly keySerde?: Serde<K>;
  readonly valueSerde?: Serde<V>;
}

/** `name` names the topic: `<applicationId>-<name>-repartition`. */
export interface RepartitionedOptions<K, V> extends GroupedOptions<K, V> {
  /** Partitions of the topic. Default: as many as the largest topic upstream, or what a join downstream needs. */
  readonly partitions?: number;
  readonly partitioner?: Partitioner;
}

/** `name` also names the repartition topic, when one is needed. */
export interface JoinedOptions<K, V, VR> extends NamedOptions {
  /** Serde of the stream's keys, for the repartition topic. Default: carried, else the app's. */
  readonly keySerde?: Serde<K>;
  /** Serde of the stream's values, for the repartition topic. Default: carried, else the app's. */
  readonly streamValueSerde?: Serde<V>;
  /** Serde of the joined values, carried along. */
  readonly valueSerde?: Serde<VR>;
}

export interface ProcessOptions<K, V> extends RecordOptions<K, V> {
  /** Names of the stores that the processor uses, added with `builder.addStateStore`. Global stores need not be named. */
  readonly stores?: readonly string[];
}

/** How the rows of a table are kept. */
export interface MaterializedOptions<K, V> {
  /** Name of the store, by which it can be queried; its changelog is `<applicationId>-<storeName>-changelog`. Default: generated. */
  readonly storeName?: string;
  /** Default: carried, else the app's. */
  readonly keySerde?: Serde<K>;
  readonly valueSerde?: Serde<V>;
  /** Default: the app's. */
  readonly engine?: 'memory' | 'leveldb';
  /** Whether changes go to a changelog topic, from which the store is restored. Default true. */
  readonly logged?: boolean;
  /** Further configs of the changelog topic. */
  readonly changelogConfigs?: Readonly<Record<string, string>>;
}

export interface WindowMaterializedOptions<K, V> extends MaterializedOptions<K, V> {
  /** How long a window is kept after its start, ms of stream time: at least size + grace, which is the default. */
  readonly retention?: number;
}

/** When results go downstream: at every record (`onUpdate`), or the last value of each key at every commit (`onCommit`). */
export type TableEmitOption = 'onUpdate' | 'onCommit';

/** As `TableEmitOption`, or once a window, when it is closed (`onWindowClose`). */
export type WindowEmitOption = TableEmitOption | 'onWindowClose';

/** For operators whose result is a table. */
export interface TableOptions<K, V> extends NamedOptions {
  readonly materialized?: MaterializedOptions<K, V>;
  /** Default: the app's `emit`. */
  readonly emit?: TableEmitOption;
}

/** For operators whose result is a table of windows. */
export interface WindowTableOptions<K, V> extends NamedOptions {
  readonly materialized?: WindowMaterializedOptions<K, V>;
  /** Default: the app's `emit`. */
  readonly emit?: WindowEmitOption;
}

export type SourceTableOptions<K, V> = ConsumedOptions<K, V> & Pick<TableOptions<K, V>, 'materialized' | 'emit'>;

export type GlobalTableOptions<K, V> = ConsumedOptions<K, V> & {
  readonly materialized?: Pick<MaterializedOptions<K, V>, 'storeName' | 'keySerde' | 'valueSerde' | 'engine'>;
};
