/**
 * What `app.metrics()` says of one task. Each field either adds up, over the task's lives here and over threads, or says how the task stands where it runs; the compiler sees to it that a new field is one of
 * the two.
 */
import type { TopicPartition } from '../kafka/port.js';
import type { ActiveTask } from '../runtime/active-task.js';
import type { Task } from '../runtime/task.js';
import type { TaskMetrics } from '../runtime/task-metrics.js';
import type { TaskMetricsSnapshot } from './app-metrics.js';

/** Numbers that only grow; `dropped` is the one that is none. */
export const taskCounters = [
  'recordsProcessed',
  'deserializationErrors',
  'processingErrors',
  'productionErrors',
  'deadLetters',
  'retries',
  'punctuations',
  'asyncCalls',
  'asyncRetries',
  'asyncTimeouts',
  'lookupHits',
  'lookupMissingHits',
  'lookupMisses',
  'lookupExpired',
  'lookupShared',
  'positionResets',
  'damagedStates',
  'failedStateWrites',
  'numLateRecordsDropped',
] as const satisfies readonly (keyof TaskMetricsSnapshot)[];

export type TaskCounters = Pick<TaskMetricsSnapshot, (typeof taskCounters)[number]>;
type TaskGauges = Omit<TaskMetricsSnapshot, keyof TaskCounters | 'dropped'>;

/** Of a task that is not here. */
export const notRunning: TaskGauges = Object.freeze({
  active: false,
  asyncCallsInFlight: 0,
  unfinishedRecords: 0,
  busyTimeMsPerSecond: 0,
  backPressuredTimeMsPerSecond: 0,
  idleTimeMsPerSecond: 0,
  stores: {},
  lag: {},
  currentInputWatermark: null,
  currentOutputWatermark: null,
  watermarkLag: null,
  watermarkAlignmentDrift: null,
  sourceIdleTime: null,
  currentEmitEventTimeLag: null,
});

/**
 * @param active null: the task does not run here now
 * @param endOf the end of an input partition, negative when it is not known
 */
export function taskSnapshot(
  metrics: TaskMetrics,
  active: ActiveTask | null,
  endOf: (partition: TopicPartition) => number,
): TaskMetricsSnapshot {
  return {
    ...countersOf(metrics),
    ...(active === null ? notRunning : gaugesOf(active, endOf)),
    // Calls that a task has left behind go on without it.
    asyncCallsInFlight: metrics.asyncCallsInFlight,
  };
}

function countersOf(metrics: TaskMetrics): TaskCounters & Pick<TaskMetricsSnapshot, 'dropped'> {
  return {
    recordsProcessed: metrics.recordsProcessed,
    dropped: Object.fromEntries(metrics.dropped),
    deserializationErrors: metrics.deserializationErrors,
    processingErrors: metrics.processingErrors,
    productionErrors: metrics.productionErrors,
    deadLetters: metrics.deadLetters,
    retries: metrics.retries,
    punctuations: metrics.punctuations,
    asyncCalls: metrics.asyncCalls,
    asyncRetries: metrics.asyncRetries,
    asyncTimeouts: metrics.asyncTimeouts,
    lookupHits: metrics.lookupHits,
    lookupMissingHits: metrics.lookupMissingHits,
    lookupMisses: metrics.lookupMisses,
    lookupExpired: metrics.lookupExpired,
    lookupShared: metrics.lookupShared,
    positionResets: metrics.positionResets,
    damagedStates: metrics.damagedStates,
    failedStateWrites: metrics.failedStateWrites,
    numLateRecordsDropped: metrics.dropped.get('late') ?? 0,
  };
}

function gaugesOf(
  { task, state, timeShares }: ActiveTask,
  endOf: (partition: TopicPartition) => number,
): Omit<TaskGauges, 'asyncCallsInFlight'> {
  return {
    active: true,
    unfinishedRecords: task.unfinishedCount,
    ...timeShares.snapshot(performance.now()),
    stores: state.sizes.snapshot(),
    lag: lagOf(task, endOf),
    ...eventTimeOf(task),
    ...task.intake.snapshot(),
  };
}

function lagOf(task: Task, endOf: (partition: TopicPartition) => number): Record<string, number> {
  const lag: Record<string, number> = {};
  for (const { topic, partition, offset } of task.positions()) {
    const end = endOf({ topic, partition });
    if (end >= 0) lag[`${topic}-${partition}`] = Math.max(0, end - offset);
  }
  return lag;
}

function eventTimeOf(
  task: Task,
): Pick<TaskGauges, 'currentInputWatermark' | 'currentOutputWatermark' | 'watermarkLag' | 'watermarkAlignmentDrift'> {
  const currentInputWatermark = reported(task.inputWatermark);
  return {
    currentInputWatermark,
    currentOutputWatermark: reported(task.outputWatermark),
    watermarkLag: currentInputWatermark === null ? null : Math.max(0, Date.now() - currentInputWatermark),
    watermarkAlignmentDrift: task.alignmentDrift,
  };
}

/** JSON has no infinity. */
function reported(watermark: number): number | null {
  return watermark === -Infinity ? null : Math.min(watermark, Number.MAX_SAFE_INTEGER);
}
