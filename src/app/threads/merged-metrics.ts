/** One `AppMetrics` out of those of an instance's threads: counters add up, also over threads that have ended; of what is a state, those that run tell. */
import type { EpochMetricsSnapshot } from '../../observability/epoch-metrics.js';
import type { LatencySummary } from '../../observability/latency-ring.js';
import type { TimeSharesSnapshot } from '../../observability/time-shares.js';
import { parseTaskId, compareTaskIds } from '../../rebalance/task-id.js';
import type { ProducerMetrics } from '../../transactions/producer/epoch-producer.js';
import type {
  AppMetrics,
  OwnMetrics,
  GlobalTablesSnapshot,
  GroupMetricsSnapshot,
  TaskMetricsSnapshot,
  ThreadMetricsSnapshot,
} from '../app-metrics.js';
import { notRunning, taskCounters, type TaskCounters } from '../task-snapshot.js';

/** @param ended of threads that are gone, as last told */
export function mergedMetrics(own: OwnMetrics, live: readonly AppMetrics[], ended: readonly AppMetrics[]): AppMetrics {
  const all = [...ended.map(withoutState), ...live];
  return {
    ...own,
    tasks: mergedTasks(all),
    epochs: merged(all, ({ epochs }) => epochs, mergedEpochs),
    thread: merged(live, ({ thread }) => thread, mergedThreads),
    producer: merged(all, ({ producer }) => producer, mergedProducers),
    fetcher: merged(
      all,
      ({ fetcher }) => fetcher,
      (each) => sumFields(each),
    ),
    group: merged(live, ({ group }) => group, mergedGroups),
    memory: merged(live, ({ memory }) => memory, sumFields),
    threads: Object.assign({}, ...live.map(({ threads }) => threads)) as AppMetrics['threads'],
    standbys: Object.assign({}, ...live.map(({ standbys }) => standbys)) as AppMetrics['standbys'],
    restoring: live.flatMap(({ restoring }) => restoring),
    globalTables: merged(all, ({ globalTables }) => globalTables, mergedGlobals),
    droppedRecords: all.reduce((sum, { droppedRecords }) => sum + droppedRecords, 0),
  };
}

/** One more thread is gone: of all of them only what adds up is kept. */
export function withEnded(ended: AppMetrics | null, metrics: AppMetrics): AppMetrics {
  return mergedMetrics(metrics, [], ended === null ? [metrics] : [ended, metrics]);
}

const noLatency: LatencySummary = Object.freeze({ p50: 0, p99: 0, max: 0 });

/** What adds up of a thread that is gone. */
function withoutState(metrics: AppMetrics): AppMetrics {
  const tasks = Object.fromEntries(Object.entries(metrics.tasks).map(([id, task]) => [id, { ...task, ...notRunning }]));
  const globalTables = metrics.globalTables === null ? null : { ...metrics.globalTables, stores: {} };
  const { epochs, producer, fetcher } = metrics;
  return {
    ...metrics,
    tasks,
    epochs: epochs === null ? null : { ...epochs, commitLatencyMs: noLatency, barrierMs: noLatency, epochStartDelayMs: noLatency },
    producer: producer === null ? null : { ...producer, lastCommitMs: 0 },
    fetcher: fetcher === null ? null : { ...fetcher, bufferedBytes: 0 },
    globalTables,
  };
}

function merged<T>(
  all: readonly AppMetrics[],
  part: (metrics: AppMetrics) => T | null,
  merge: (each: readonly [T, ...T[]]) => T,
): T | null {
  const [first, ...others] = all.flatMap((metrics) => part(metrics) ?? []);
  return first === undefined ? null : merge([first, ...others]);
}

function mergedTasks(all: readonly AppMetrics[]): Record<string, TaskMetricsSnapshot> {
  const tasks = new Map<string, TaskMetricsSnapshot>();
  for (const metrics of all) {
    for (const [id, task] of Object.entries(metrics.tasks)) {
      const known = tasks.get(id);
      tasks.set(id, known === undefined ? task : mergedTask(known, task));
    }
  }
  return Object.fromEntries([...tasks].sort(([a], [b]) => compareTaskIds(parseTaskId(a), parseTaskId(b))));
}

/** It has been in both threads; where it runs it tells how it stands. */
function mergedTask(a: TaskMetricsSnapshot, b: TaskMetricsSnapshot): TaskMetricsSnapshot {
  const counters = Object.fromEntries(taskCounters.map((name) => [name, a[name] + b[name]])) as unknown as TaskCounters;
  return { ...(a.active && !b.active ? a : b), ...counters, dropped: sumFields([a.dropped, b.dropped]) };
}

function mergedEpochs(each: readonly [EpochMetricsSnapshot, ...EpochMetricsSnapshot[]]): EpochMetricsSnapshot {
  const last = each.reduce((latest, next) => ((next.lastEpochCommittedAt ?? 0) > (latest.lastEpochCommittedAt ?? 0) ? next : latest));
  const sum = (name: 'epochs' | 'failedEpochs' | 'recordsProduced' | 'bytesProduced'): number =>
    each.reduce((total, next) => total + next[name], 0);
  return {
    ...last,
    epochs: sum('epochs'),
    failedEpochs: sum('failedEpochs'),
    recordsProduced: sum('recordsProduced'),
    bytesProduced: sum('bytesProduced'),
    commitLatencyMs: slowest(each.map(({ commitLatencyMs }) => commitLatencyMs)),
    barrierMs: slowest(each.map(({ barrierMs }) => barrierMs)),
    epochStartDelayMs: slowest(each.map(({ epochStartDelayMs }) => epochStartDelayMs)),
  };
}

function slowest(each: readonly LatencySummary[]): LatencySummary {
  const most = (name: keyof LatencySummary): number => Math.max(...each.map((summary) => summary[name]));
  return { p50: most('p50'), p99: most('p99'), max: most('max') };
}

function mergedThreads(each: readonly ThreadMetricsSnapshot[]): ThreadMetricsSnapshot {
  const mean = (name: keyof TimeSharesSnapshot): number => Math.round(each.reduce((sum, next) => sum + next[name], 0) / each.length);
  return {
    busyTimeMsPerSecond: mean('busyTimeMsPerSecond'),
    backPressuredTimeMsPerSecond: mean('backPressuredTimeMsPerSecond'),
    idleTimeMsPerSecond: mean('idleTimeMsPerSecond'),
    mailboxLatencyMs: slowest(each.map(({ mailboxLatencyMs }) => mailboxLatencyMs)),
  };
}

function mergedProducers(each: readonly ProducerMetrics[]): ProducerMetrics {
  return { ...sumFields(each), lastCommitMs: Math.max(...each.map(({ lastCommitMs }) => lastCommitMs)) };
}

function mergedGroups(each: readonly [GroupMetricsSnapshot, ...GroupMetricsSnapshot[]]): GroupMetricsSnapshot {
  const [first] = each;
  return {
    phase: (each.find(({ phase }) => phase !== 'stable') ?? first).phase,
    generation: Math.max(...each.map(({ generation }) => generation)),
    memberId: first.memberId,
    stable: each.every(({ stable }) => stable),
    ownedTasks: each.flatMap(({ ownedTasks }) => ownedTasks),
  };
}

function mergedGlobals(each: readonly [GlobalTablesSnapshot, ...GlobalTablesSnapshot[]]): GlobalTablesSnapshot {
  const counters = sumFields(each.map(({ dropped: _, stores: __, ...numbers }) => numbers));
  const names = new Set(each.flatMap(({ stores }) => Object.keys(stores)));
  const stores = [...names].map((name) => [name, sumFields(each.flatMap((globals) => globals.stores[name] ?? []))] as const);
  return { ...counters, dropped: sumFields(each.map(({ dropped }) => dropped)), stores: Object.fromEntries(stores) };
}

function sumFields<T extends object>(each: readonly T[]): T {
  const sums: Record<string, number> = {};
  for (const fields of each)
    for (const [name, value] of Object.entries(fields) as [string, number][]) sums[name] = (sums[name] ?? 0) + value;
  return sums as T;
}
