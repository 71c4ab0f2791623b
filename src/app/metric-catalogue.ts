/**
 * Every metric of `app.metrics()`: what it is in words, and what it is called in Flink and in Kafka Streams. docs/Reference/metrics.md is made from it, and the
 * compiler sees to it that no field is missing.
 */
import type { EpochMetricsSnapshot } from '../observability/epoch-metrics.js';
import type { FetcherMetrics } from '../kafka/fetcher/fetcher-options.js';
import type { ProducerMetrics } from '../transactions/producer/epoch-producer.js';
import type { StoreSize } from '../stores/store-sizes.js';
import type { RestartMetricsSnapshot } from './restarts.js';
import type {
  AppMetrics,
  GroupMetricsSnapshot,
  MemoryMetricsSnapshot,
  StandbyMetricsSnapshot,
  TaskMetricsSnapshot,
  ThreadMetricsSnapshot,
} from './app-metrics.js';

/** What a metric is counted in. */
export type MetricUnit =
  'records' | 'bytes' | 'ms' | 'ms since the epoch' | 'ms a second' | 'count' | 'text' | 'yes or no' | 'more metrics';

/** What a metric is. */
export interface MetricInfo {
  readonly unit: MetricUnit;
  readonly meaning: string;
  /** Only grows, from 0 at the start of the process. */
  readonly counter?: boolean;
  readonly flink?: string;
  readonly kafkaStreams?: string;
}

type Catalogue<T> = Readonly<Record<keyof T, MetricInfo>>;

const app: Catalogue<AppMetrics> = {
  state: { unit: 'text', meaning: 'as `app.state`', kafkaStreams: 'state' },
  paused: { unit: 'yes or no', meaning: 'as `app.isPaused`' },
  restarts: { unit: 'more metrics', meaning: '`RestartMetricsSnapshot`: uncaught errors and the restarts that followed' },
  tasks: {
    unit: 'more metrics',
    meaning: '`TaskMetricsSnapshot` by task id (`<sub-topology>_<partition>`), for every task that ran here since the start',
  },
  epochs: { unit: 'more metrics', meaning: '`EpochMetricsSnapshot`; null before the app has started, as all below' },
  thread: {
    unit: 'more metrics',
    meaning:
      '`ThreadMetricsSnapshot`: how the stream thread spends its time, over the last five to ten seconds, and how late its event loop is',
  },
  producer: { unit: 'more metrics', meaning: 'counters of the producer' },
  fetcher: { unit: 'more metrics', meaning: 'counters of reading input, restores not included' },
  group: { unit: 'more metrics', meaning: '`GroupMetricsSnapshot`: where this instance stands in its consumer group' },
  memory: { unit: 'more metrics', meaning: '`MemoryMetricsSnapshot`: what the instance holds of `maxMemoryBytes` now' },
  threads: {
    unit: 'more metrics',
    meaning:
      '`StreamThreadSnapshot` by index: `epochs`, `thread`, `producer`, `fetcher` and `group` of each stream thread. Above they are of all threads together: counters added up, also of threads that have ended; latencies of the slowest; `thread` the mean of those that run',
  },
  standbys: {
    unit: 'more metrics',
    meaning: '`StandbyMetricsSnapshot` by task id, for every copy of another instance’s task here',
  },
  restoring: {
    unit: 'more metrics',
    meaning: 'stores that are being restored now, as [`RestoreProgress`](configuration.md#streamsapp); empty when everything runs',
    kafkaStreams: 'restore-remaining-records-total',
  },
  globalTables: { unit: 'more metrics', meaning: '`GlobalTablesSnapshot` of all global tables and stores together; null without any' },
  droppedRecords: {
    unit: 'records',
    counter: true,
    meaning: 'sum of `dropped` over tasks, global tables and reasons',
    kafkaStreams: 'dropped-records-total',
  },
};

const task: Catalogue<TaskMetricsSnapshot> = {
  recordsProcessed: {
    unit: 'records',
    counter: true,
    meaning: 'input records taken',
    flink: 'numRecordsIn',
    kafkaStreams: 'process-total',
  },
  dropped: {
    unit: 'records',
    counter: true,
    meaning: 'records that a rule drops, by reason (below)',
    kafkaStreams: 'dropped-records-total',
  },
  deserializationErrors: {
    unit: 'records',
    counter: true,
    meaning: 'undecodable records, whatever the handler answered',
    flink: 'numRecordsInErrors',
  },
  processingErrors: { unit: 'records', counter: true, meaning: 'records on which a user function failed, whatever the handler answered' },
  productionErrors: {
    unit: 'records',
    counter: true,
    meaning: 'records that could not be written, whatever the handler answered',
    flink: 'numRecordsOutErrors',
  },
  deadLetters: { unit: 'records', counter: true, meaning: 'records written to the dead-letter topic' },
  retries: { unit: 'records', counter: true, meaning: 'records tried again after an answer `retry`' },
  punctuations: { unit: 'count', counter: true, meaning: 'timers of processors that fired', kafkaStreams: 'punctuate-total' },
  asyncCalls: {
    unit: 'records',
    counter: true,
    meaning: 'records for which [asynchronous operators](../Guides/async.md) called their functions',
  },
  asyncRetries: { unit: 'count', counter: true, meaning: 'further calls for records whose call had failed' },
  asyncTimeouts: { unit: 'count', counter: true, meaning: 'calls that were given up because they took too long' },
  asyncCallsInFlight: { unit: 'records', meaning: 'records whose call has begun and not ended, pauses between two attempts included' },
  lookupHits: {
    unit: 'records',
    counter: true,
    meaning: 'records of [lookup joins](../Guides/joins.md#stream-with-what-lies-outside) whose row was in the cache',
    flink: 'hitCount',
  },
  lookupMissingHits: { unit: 'records', counter: true, meaning: 'records of lookup joins of whose key the cache knew that it has no row' },
  lookupMisses: {
    unit: 'records',
    counter: true,
    meaning: 'records of lookup joins for which the cache had no answer, so that the function was called',
    flink: 'missCount',
  },
  lookupExpired: { unit: 'records', counter: true, meaning: 'those of `lookupMisses` for which the cache had an answer that was too old' },
  lookupShared: { unit: 'records', counter: true, meaning: 'records of lookup joins that took the answer to another record of their key' },
  unfinishedRecords: { unit: 'records', meaning: 'records that asynchronous operators have taken and not finished' },
  positionResets: {
    unit: 'count',
    counter: true,
    meaning: 'input positions that were no longer in the log and were set anew by `autoOffsetReset`: records may have been missed',
  },
  damagedStates: {
    unit: 'count',
    counter: true,
    meaning: 'times that the local state could not be read: it was deleted and restored whole; copies for other instances count too',
  },
  failedStateWrites: {
    unit: 'count',
    counter: true,
    meaning: 'writes to the local disk that failed: what they had stays in memory, and is tried again',
  },
  active: { unit: 'yes or no', meaning: 'whether the task runs on this instance now' },
  busyTimeMsPerSecond: {
    unit: 'ms a second',
    meaning: 'at work on this task: its functions that are awaited, and asynchronous operators that take no more, included',
    flink: 'busyTimeMsPerSecond',
  },
  backPressuredTimeMsPerSecond: {
    unit: 'ms a second',
    meaning: 'held up by the commit of an epoch, or by the disk, as its thread is',
    flink: 'backPressuredTimeMsPerSecond',
  },
  idleTimeMsPerSecond: {
    unit: 'ms a second',
    meaning: 'the rest: no records, paused, or other tasks of the thread have their turns',
    flink: 'idleTimeMsPerSecond',
  },
  stores: {
    unit: 'more metrics',
    meaning: '`StoreSize` by store name, the states of processors included; empty where the task does not run',
  },
  lag: {
    unit: 'records',
    meaning:
      'records behind the end of the input, by `<topic>-<partition>`, as of the last fetch of that partition: none is sent while `maxBufferedBytes` are used up. Absent when not known',
    flink: 'pendingRecords',
    kafkaStreams: 'records-lag',
  },
  currentInputWatermark: {
    unit: 'ms since the epoch',
    meaning: 'the lowest watermark that has come in from partitions and upstream tasks; null before the first',
    flink: 'currentInputWatermark',
  },
  currentOutputWatermark: {
    unit: 'ms since the epoch',
    meaning:
      'the watermark that all operators of the task have worked off, those behind asynchronous calls included: tasks downstream hear of it at the next commit',
    flink: 'currentOutputWatermark',
  },
  watermarkLag: {
    unit: 'ms',
    meaning: 'how far `currentInputWatermark` is behind the wall clock',
    flink: 'watermarkLag',
  },
  watermarkAlignmentDrift: {
    unit: 'ms',
    meaning:
      'how far the foremost of the task’s [aligned](../Guides/event-time.md#watermarks) partitions is ahead of the slowest that it is aligned with: it waits while that is more than `maxDrift`. 0 for the slowest; null without alignment, and before the first watermark',
    flink: 'watermarkAlignmentDrift',
  },
  sourceIdleTime: {
    unit: 'ms',
    meaning: 'since the task took its last record; before the first, since it was opened here; null where it does not run',
    flink: 'sourceIdleTime',
  },
  currentEmitEventTimeLag: {
    unit: 'ms',
    meaning:
      'the wall clock when the task took its last record minus the record’s timestamp: below 0 when that was ahead; stays while no record comes; null before the first',
    flink: 'currentEmitEventTimeLag',
  },
  numLateRecordsDropped: {
    unit: 'records',
    counter: true,
    meaning: '`dropped.late`: records too late for a window or a join that has no side output for them',
    flink: 'numLateRecordsDropped',
  },
};

const store: Catalogue<StoreSize> = {
  estimateNumKeys: {
    unit: 'count',
    meaning:
      'rows that have a value: keys of a table, windows of all keys, sessions, records that wait for a join, keys in each state of a processor. An estimate: after a restore too high at first, until what was asked for is counted anew in the background',
    flink: 'rocksdb.estimate-num-keys',
    kafkaStreams: 'estimate-num-keys',
  },
  memoryBytes: {
    unit: 'bytes',
    meaning: 'rows in memory, estimated: all of a store in memory; of LevelDB those that are cached or wait for the disk',
  },
  diskBytes: {
    unit: 'bytes',
    meaning:
      'what LevelDB’s table files hold of it, as of at most some seconds ago; the newest rows are in LevelDB’s log alone, and not in it. 0 for a store in memory',
    flink: 'rocksdb.live-sst-files-size',
    kafkaStreams: 'live-sst-files-size',
  },
};

const restarts: Catalogue<RestartMetricsSnapshot> = {
  numRestarts: {
    unit: 'count',
    counter: true,
    meaning: 'returns to the last commit after an uncaught error',
    flink: 'numRestarts',
  },
  uncaughtErrors: { unit: 'count', counter: true, meaning: 'errors that Millrace could not mend by itself, whatever followed' },
  attempt: { unit: 'count', meaning: 'restarts that the strategy counts: by this number it pauses longer, or gives up' },
  lastFailure: {
    unit: 'more metrics',
    meaning:
      '`FailureSnapshot`: code and message of the last uncaught error, its task, node, topic, partition and offset as far as there are any, when it came, and `times`: how often in a row at this record; null before the first',
  },
};

const standby: Catalogue<StandbyMetricsSnapshot> = {
  lag: {
    unit: 'records',
    meaning: 'records behind the ends of its changelogs, summed; offsets of transaction markers count',
  },
  stores: { unit: 'more metrics', meaning: '[`StandbyProgress`](configuration.md#streamsapp) by store name' },
  sizes: { unit: 'more metrics', meaning: '[`StoreSize`](#storesize) by store name: what the copy takes here' },
};

const epochs: Catalogue<EpochMetricsSnapshot> = {
  epochs: {
    unit: 'count',
    counter: true,
    meaning: 'committed epochs',
    flink: 'numberOfCompletedCheckpoints',
    kafkaStreams: 'commit-total',
  },
  failedEpochs: {
    unit: 'count',
    counter: true,
    meaning: 'epochs that were lost and processed again',
    flink: 'numberOfFailedCheckpoints',
  },
  recordsProduced: {
    unit: 'records',
    counter: true,
    meaning: 'output of committed epochs, changelogs included',
    flink: 'numRecordsOut',
    kafkaStreams: 'records-produced-total',
  },
  bytesProduced: {
    unit: 'bytes',
    counter: true,
    meaning: 'output of committed epochs, changelogs included',
    flink: 'numBytesOut',
    kafkaStreams: 'bytes-produced-total',
  },
  commitLatencyMs: {
    unit: 'ms',
    meaning: '`LatencySummary`: from the end of the barrier to the committed transaction, over the last 1024 epochs',
    kafkaStreams: 'commit-latency-avg, commit-latency-max',
  },
  barrierMs: {
    unit: 'ms',
    meaning: '`LatencySummary`: how long tasks stood still for the barrier',
    flink: 'checkpointAlignmentTime',
  },
  epochStartDelayMs: {
    unit: 'ms',
    meaning:
      '`LatencySummary`: from the moment an epoch was due (`commitInterval` had passed and there was something to commit, a commit was asked for, or `maxUncommittedBytes` was reached) until its barrier began. The commit before it took longer than that, or the event loop was late',
    flink: 'checkpointStartDelayNanos',
  },
  lastEpochDuration: {
    unit: 'ms',
    meaning: 'from the beginning of the barrier to the committed transaction, of the last epoch',
    flink: 'lastCheckpointDuration',
  },
  lastEpochSize: { unit: 'bytes', meaning: 'output of the last epoch, changelogs included', flink: 'lastCheckpointSize' },
  lastEpochCommittedAt: {
    unit: 'ms since the epoch',
    meaning: 'when the last epoch was committed: what came since is processed again after a crash',
    flink: 'lastCheckpointCompletedTimestamp',
  },
};

const thread: Catalogue<ThreadMetricsSnapshot> = {
  busyTimeMsPerSecond: { unit: 'ms a second', meaning: 'at work, user functions that are awaited included', flink: 'busyTimeMsPerSecond' },
  backPressuredTimeMsPerSecond: {
    unit: 'ms a second',
    meaning: 'waiting for the commit of an epoch, or for the disk, although there may be more to do: `maxUncommittedBytes` is reached',
    flink: 'backPressuredTimeMsPerSecond',
  },
  idleTimeMsPerSecond: { unit: 'ms a second', meaning: 'waiting for records', flink: 'idleTimeMsPerSecond', kafkaStreams: 'poll-ratio' },
  mailboxLatencyMs: {
    unit: 'ms',
    meaning:
      '`LatencySummary`: how late the thread’s event loop is: when a timer fired that is due twice a second, over the last minute. A function that does not give way holds heartbeats and commits up for as long; with one thread so does other work of the process',
    flink: 'mailboxLatencyMs',
  },
};

const producer: Catalogue<ProducerMetrics> = {
  recordsSent: { unit: 'records', counter: true, meaning: 'sent', kafkaStreams: 'record-send-total' },
  bytesSent: { unit: 'bytes', counter: true, meaning: 'sent, repetitions included', kafkaStreams: 'outgoing-byte-total' },
  produceRequests: { unit: 'count', counter: true, meaning: 'requests', kafkaStreams: 'request-total' },
  batchesRepeated: {
    unit: 'count',
    counter: true,
    meaning: 'batches sent again after an answer that allows it',
    kafkaStreams: 'record-retry-total',
  },
  epochsCommitted: { unit: 'count', counter: true, meaning: 'transactions that were committed' },
  epochsFailed: { unit: 'count', counter: true, meaning: 'transactions that were lost' },
  timesFenced: { unit: 'count', counter: true, meaning: 'how often another process took over this transactional id' },
  lastCommitMs: { unit: 'ms', meaning: 'of the last epoch that was not empty' },
};

const fetcher: Catalogue<FetcherMetrics> = {
  bufferedBytes: {
    unit: 'bytes',
    meaning: 'input held in memory now; fetching pauses as `maxBufferedBytes` comes near',
    kafkaStreams: 'input-buffer-bytes-total',
  },
  requests: { unit: 'count', counter: true, meaning: 'fetches sent', kafkaStreams: 'fetch-total' },
  bytes: { unit: 'bytes', counter: true, meaning: 'bytes received', flink: 'numBytesIn', kafkaStreams: 'bytes-consumed-total' },
  failures: { unit: 'count', counter: true, meaning: 'fetches that failed' },
  resets: { unit: 'count', counter: true, meaning: 'positions that were no longer in the log' },
  stalls: { unit: 'count', counter: true, meaning: 'times that a partition had no answer for long' },
};

const memory: Catalogue<MemoryMetricsSnapshot> = {
  cachedBytes: {
    unit: 'bytes',
    meaning:
      'rows of LevelDB stores in memory, those included that wait for their commit or for the disk; bound for clean ones: `statestoreCacheMaxBytes`',
    kafkaStreams: 'cache-size-bytes-total',
  },
  uncommittedBytes: { unit: 'bytes', meaning: 'changed rows and output of the epoch that fills; bound: `maxUncommittedBytes`' },
  bufferedBytes: { unit: 'bytes', meaning: 'input records; bound: `maxBufferedBytes`', kafkaStreams: 'input-buffer-bytes-total' },
  engineBytes: {
    unit: 'bytes',
    meaning: 'what the open LevelDB databases may take for themselves; bound: `storeEngineMaxBytes`',
    kafkaStreams: 'block-cache-capacity',
  },
};

const group: Catalogue<GroupMetricsSnapshot> = {
  phase: { unit: 'text', meaning: 'what the member does: `stable` when it has its tasks and knows of no rebalance' },
  generation: {
    unit: 'count',
    meaning: 'of the last join, -1 before the first; counts the rebalances of the group',
    kafkaStreams: 'rebalance-total',
  },
  memberId: { unit: 'text', meaning: 'given by the broker; empty before the first join' },
  stable: { unit: 'yes or no', meaning: 'no further rebalance is known to come' },
  ownedTasks: { unit: 'text', meaning: 'ids of the tasks that the group has given to this instance', kafkaStreams: 'assigned-partitions' },
};

/** By where they stand in `AppMetrics`, then by field. */
export const metricCatalogue = Object.freeze({ app, restarts, task, store, standby, epochs, thread, producer, fetcher, memory, group });
