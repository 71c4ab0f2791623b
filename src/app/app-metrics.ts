import type { FetcherMetrics } from '../kafka/fetcher/fetcher-options.js';
import type { EpochMetricsSnapshot } from '../observability/epoch-metrics.js';
import type { GroupPhase } from '../rebalance/group-protocol.js';
import type { StandbyProgress } from '../runtime/standby-listener.js';
import type { RestoreProgress } from '../runtime/state-restorer.js';
import { formatTaskId } from '../rebalance/task-id.js';
import type { LatencySummary } from '../observability/latency-ring.js';
import type { TimeSharesSnapshot } from '../observability/time-shares.js';
import type { TaskMetrics } from '../runtime/task-metrics.js';
import type { BuiltThread } from '../runtime/thread-factory.js';
import type { ProducerMetrics } from '../transactions/producer/epoch-producer.js';
import type { StoreSize } from '../stores/store-sizes.js';
import type { TaskState } from '../stores/task-state.js';
import type { RestartMetricsSnapshot } from './restarts.js';
import type { StreamsState } from './streams-app.js';
import { taskSnapshot } from './task-snapshot.js';

/** What `app.metrics()` gives: plain data, safe to serialise. */
export interface AppMetrics {
  /** As `app.state`. */
  readonly state: StreamsState;
  /** As `app.isPaused`. */
  readonly paused: boolean;
  /** Uncaught errors, and the restarts that followed. */
  readonly restarts: RestartMetricsSnapshot;
  /** By task id; also tasks that ran here and have moved away (`active` is false then). */
  readonly tasks: Readonly<Record<string, TaskMetricsSnapshot>>;
  /** Barriers and commits; of several threads the latencies are those of the slowest, and the last epoch is the latest. null before the app has started, as all below. */
  readonly epochs: EpochMetricsSnapshot | null;
  /** How the stream thread spends its time; several threads: their mean, and how late the latest is. */
  readonly thread: ThreadMetricsSnapshot | null;
  /** Requests and bytes of output, changelogs included. */
  readonly producer: ProducerMetrics | null;
  /** Fetches of input: requests, bytes, failures, positions set anew, stalls. Restores are not in it. */
  readonly fetcher: Readonly<FetcherMetrics> | null;
  /** Where this instance stands in its consumer group; with several threads the member id is that of the first. */
  readonly group: GroupMetricsSnapshot | null;
  /** What this instance holds of `maxMemoryBytes` now. */
  readonly memory: MemoryMetricsSnapshot | null;
  /** Each stream thread by its index, in `GroupViewMember` and in the log; what stands above is of all of them together. Empty before the start. */
  readonly threads: Readonly<Record<string, StreamThreadSnapshot>>;
  /** Copies of other instances' tasks that follow their changelogs here, by task id. */
  readonly standbys: Readonly<Record<string, StandbyMetricsSnapshot>>;
  /** Stores that are being restored now, with progress and time left; empty when everything runs. */
  readonly restoring: readonly RestoreProgress[];
  /** The global tables of this instance together; null when the topology has none, or before the start. */
  readonly globalTables: GlobalTablesSnapshot | null;
  /** Total of `dropped` over tasks, global tables and reasons. */
  readonly droppedRecords: number;
}

/** Bytes, over all threads of the instance. */
export interface MemoryMetricsSnapshot {
  /** Rows of LevelDB stores in memory, those included that wait for their commit or for the disk. Bound for clean ones: `statestoreCacheMaxBytes`. */
  readonly cachedBytes: number;
  /** Changed rows and output of the epoch that fills. Bound: `maxUncommittedBytes`. */
  readonly uncommittedBytes: number;
  /** Input records. Bound: `maxBufferedBytes`. */
  readonly bufferedBytes: number;
  /** What the open LevelDB databases may take for themselves. Bound: `storeEngineMaxBytes`. */
  readonly engineBytes: number;
}

/** How a stream thread spends its time, and how late its event loop is. */
export interface ThreadMetricsSnapshot extends TimeSharesSnapshot {
  /** How late a timer fired that is due twice a second, over the last minute, ms. */
  readonly mailboxLatencyMs: LatencySummary;
}

/** One stream thread of an instance. */
export interface StreamThreadSnapshot {
  readonly epochs: EpochMetricsSnapshot;
  /** How it spends its time. */
  readonly thread: ThreadMetricsSnapshot;
  readonly producer: ProducerMetrics;
  readonly fetcher: Readonly<FetcherMetrics>;
  readonly group: GroupMetricsSnapshot;
}

/** Of all global tables and stores of the instance together. */
export type GlobalTablesSnapshot = Pick<
  TaskMetricsSnapshot,
  'recordsProcessed' | 'dropped' | 'deserializationErrors' | 'processingErrors' | 'deadLetters' | 'retries' | 'stores'
>;

/** The member of the consumer group. */
export interface GroupMetricsSnapshot {
  /** What the member does: `stable` when it has its tasks and knows of no rebalance. */
  readonly phase: GroupPhase;
  /** Of the last join; -1 before the first. Counts the group's rebalances. */
  readonly generation: number;
  /** Given by the broker; empty before the first join. */
  readonly memberId: string;
  /** True when no further rebalance is known to come. */
  readonly stable: boolean;
  /** Ids of the tasks that the group has given to this instance, those being restored included. */
  readonly ownedTasks: readonly string[];
}

/** A copy of another instance's task. */
export interface StandbyMetricsSnapshot {
  /** Records behind the ends of its changelogs; offsets of transaction markers count. */
  readonly lag: number;
  /** By store name. */
  readonly stores: Readonly<Record<string, StandbyProgress>>;
  /** How large they are here, by store name. */
  readonly sizes: Readonly<Record<string, StoreSize>>;
}

/** Counters of one task since this instance began to run it. */
export interface TaskMetricsSnapshot extends TimeSharesSnapshot {
  readonly recordsProcessed: number;
  /** Records that a rule drops (null keys, late records, …), by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  /** Input records that a serde could not read, whatever the handler answered. */
  readonly deserializationErrors: number;
  /** User functions that threw or rejected, whatever the handler answered. */
  readonly processingErrors: number;
  /** Output records that could not be written, whatever the handler answered. */
  readonly productionErrors: number;
  /** Records sent to the dead-letter topic. */
  readonly deadLetters: number;
  /** Answers `retry` that were followed. */
  readonly retries: number;
  /** Timers fired. */
  readonly punctuations: number;
  /** Records for which asynchronous operators called their functions; further calls after failures; calls given up because they took too long. */
  readonly asyncCalls: number;
  readonly asyncRetries: number;
  readonly asyncTimeouts: number;
  /** Records whose call has begun and not ended. */
  readonly asyncCallsInFlight: number;
  /** Records of lookup joins: answered by the cache with a row, or with none; not, of these because what it had was too old; answered by the call of another record. */
  readonly lookupHits: number;
  readonly lookupMissingHits: number;
  readonly lookupMisses: number;
  readonly lookupExpired: number;
  readonly lookupShared: number;
  /** Records that asynchronous operators have taken and not finished. */
  readonly unfinishedRecords: number;
  /** Input positions that were no longer in the log and were set anew by `autoOffsetReset`. */
  readonly positionResets: number;
  /** Times that the local state of the task could not be read: it was deleted and restored whole. Copies for other instances count too. */
  readonly damagedStates: number;
  /** Writes to the local disk that failed; what they had stays in memory, and is tried again. */
  readonly failedStateWrites: number;
  /** True while the task runs on this instance. */
  readonly active: boolean;
  /** How large each of its stores is, by name; those of processors' states too. Empty where the task does not run. */
  readonly stores: Readonly<Record<string, StoreSize>>;
  /** Records behind the end of the input, by `topic-partition`; absent when not known. */
  readonly lag: Readonly<Record<string, number>>;
  /** The lowest watermark that has come in, ms since the epoch; null before the first, and without event time. At the end of time `Number.MAX_SAFE_INTEGER`. */
  readonly currentInputWatermark: number | null;
  /** The watermark that all operators of the task have worked off, those behind asynchronous calls included: tasks downstream hear of it next. */
  readonly currentOutputWatermark: number | null;
  /** How far `currentInputWatermark` is behind the wall clock, ms. */
  readonly watermarkLag: number | null;
  /**
   * How far the foremost of the task's aligned partitions is ahead of the slowest that it is aligned with, ms: over `maxDrift` it waits. 0 when it is the slowest itself; null when no source has the
   * option `alignment`, and while none of them has a watermark.
   */
  readonly watermarkAlignmentDrift: number | null;
  /** Since the task took its last record, ms; before the first since it was opened here. */
  readonly sourceIdleTime: number | null;
  /** The wall clock when the task took its last record minus the record's timestamp, ms; below 0 when the timestamp was ahead. null before the first. */
  readonly currentEmitEventTimeLag: number | null;
  /** Records that came too late for a window or a join: `dropped.late`. Those of a side output are not in it. */
  readonly numLateRecordsDropped: number;
}

const nothingYet: Omit<AppMetrics, keyof OwnMetrics | 'globalTables'> = Object.freeze({
  tasks: {},
  epochs: null,
  thread: null,
  producer: null,
  fetcher: null,
  group: null,
  memory: null,
  threads: {},
  standbys: {},
  restoring: [],
  droppedRecords: 0,
});

/** What the app knows of itself, started or not. */
export type OwnMetrics = Pick<AppMetrics, 'state' | 'paused' | 'restarts'>;

/** The global tables, with their state once it is open. */
export interface GlobalsInUse {
  readonly metrics: TaskMetrics;
  readonly tables: TaskState | null;
}

export function snapshotMetrics(own: OwnMetrics, built: BuiltThread | null, globals: GlobalsInUse | null = null): AppMetrics {
  const globalTables = globals === null ? null : globalSnapshot(globals);
  if (built === null) return { ...nothingYet, ...own, globalTables, droppedRecords: globals?.metrics.droppedTotal ?? 0 };
  const tasks: Record<string, TaskMetricsSnapshot> = {};
  let droppedRecords = globals?.metrics.droppedTotal ?? 0;
  for (const [id, metrics] of built.taskMetrics) {
    droppedRecords += metrics.droppedTotal;
    tasks[id] = taskSnapshot(metrics, built.thread.tasks.get(id) ?? null, (input) => built.fetcher.highWatermark(input));
  }
  const thread: StreamThreadSnapshot = {
    epochs: built.epochMetrics.snapshot(),
    thread: { ...built.thread.timeShares.snapshot(performance.now()), mailboxLatencyMs: built.loopLatency.summary() },
    producer: built.producer.metrics(),
    fetcher: { ...built.fetcher.metrics },
    group: groupSnapshot(built.member),
  };
  return {
    ...own,
    tasks,
    ...thread,
    memory: {
      ...built.localState.memory,
      uncommittedBytes: built.epochs.uncommittedBytes,
      bufferedBytes: built.fetcher.metrics.bufferedBytes,
    },
    threads: { [built.index]: thread },
    standbys: standbySnapshots(built),
    restoring: built.restorer.progress(),
    globalTables,
    droppedRecords,
  };
}

/** Somebody asks for metrics: sizes of stores that are not known for sure are looked up in the background. */
export function refreshSizes(built: BuiltThread | null, globals: GlobalsInUse | null): void {
  for (const { state } of built?.thread.tasks.values() ?? []) state.sizes.refresh();
  for (const { state } of built?.standbys.tasks.values() ?? []) state.sizes.refresh();
  globals?.tables?.sizes.refresh();
}

function standbySnapshots({ standbys }: BuiltThread): Record<string, StandbyMetricsSnapshot> {
  return Object.fromEntries(
    [...standbys.tasks].map(([id, task]) => [
      id,
      {
        lag: task.lag,
        stores: Object.fromEntries(task.stores.map((store) => [store.changelog.store, store.progress()])),
        sizes: task.state.sizes.snapshot(),
      },
    ]),
  );
}

function globalSnapshot({ metrics, tables }: GlobalsInUse): GlobalTablesSnapshot {
  const { recordsProcessed, deserializationErrors, processingErrors, deadLetters, retries } = metrics;
  const dropped = Object.fromEntries(metrics.dropped);
  const stores = tables?.sizes.snapshot() ?? {};
  return { recordsProcessed, dropped, deserializationErrors, processingErrors, deadLetters, retries, stores };
}

function groupSnapshot(member: BuiltThread['member']): GroupMetricsSnapshot {
  const { generation, memberId } = member.identity();
  return { phase: member.state, generation, memberId, stable: member.memberStable, ownedTasks: member.ownedTasks.map(formatTaskId) };
}
