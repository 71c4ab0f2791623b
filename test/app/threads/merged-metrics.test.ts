import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AppMetrics, TaskMetricsSnapshot } from '../../../src/app/app-metrics.js';
import { notRunning, taskCounters, type TaskCounters } from '../../../src/app/task-snapshot.js';
import type { LatencySummary } from '../../../src/observability/latency-ring.js';
import { mergedMetrics, withEnded } from '../../../src/app/threads/merged-metrics.js';

const own = {} as AppMetrics;

/** Of one thread, as far as it adds up. */
const metrics = fc.record({ task: fc.integer({ min: 0, max: 2 }), count: fc.nat(1_000), at: fc.nat(1_000), active: fc.boolean() }).map(
  ({ task, count, at, active }) =>
    ({
      tasks: { [`0_${task}`]: { recordsProcessed: count, retries: 1, dropped: { late: count }, active, lag: { in: 3 }, stores: {} } },
      epochs: {
        epochs: count,
        failedEpochs: 1,
        lastEpochCommittedAt: at,
        commitLatencyMs: { p50: at, p99: at, max: count },
        barrierMs: { p50: 1, p99: 1, max: at },
        epochStartDelayMs: { p50: 1, p99: at, max: at },
      },
      thread: { busyTimeMsPerSecond: 1, mailboxLatencyMs: { p50: 1, p99: 2, max: 3 } },
      producer: { records: count, lastCommitMs: at },
      fetcher: { bytes: count },
      group: null,
      threads: { 0: {} },
      standbys: { '0_1': {} },
      restoring: [{}],
      globalTables:
        count % 2 === 0 ? null : { recordsProcessed: count, dropped: {}, stores: { names: { estimateNumKeys: 2, memoryBytes: count } } },
      droppedRecords: count,
    }) as unknown as AppMetrics,
);

describe('metrics of threads that are gone', () => {
  it('add up to what they would one by one, however many there were', () => {
    fc.assert(
      fc.property(fc.array(metrics, { minLength: 1, maxLength: 6 }), metrics, (ended, live) => {
        const kept = ended.reduce<AppMetrics | null>(withEnded, null) as AppMetrics;
        expect(mergedMetrics(own, [live], [kept])).toEqual(mergedMetrics(own, [live], ended));
        expect([Object.keys(kept.threads), kept.standbys, kept.restoring]).toEqual([[], {}, []]);
      }),
      { numRuns: 50 },
    );
  });
});

describe('what a thread that is gone measured last', () => {
  const latency = (ms: number): LatencySummary => ({ p50: ms, p99: ms, max: ms });
  const of = (ms: number): AppMetrics =>
    ({
      ...own,
      tasks: {},
      epochs: {
        epochs: 2,
        commitLatencyMs: latency(ms),
        barrierMs: latency(ms),
        epochStartDelayMs: latency(ms),
        lastEpochCommittedAt: 10 - ms,
      },
      thread: { busyTimeMsPerSecond: ms, mailboxLatencyMs: latency(ms) },
      producer: { recordsSent: 2, lastCommitMs: ms },
      fetcher: { bytes: 2, bufferedBytes: ms },
      globalTables: null,
      threads: {},
      standbys: {},
      restoring: [],
    }) as unknown as AppMetrics;

  it('is in no latency and no size; of those that run the slowest counts', () => {
    const { epochs, thread, producer, fetcher } = mergedMetrics(own, [of(1), of(2)], [of(7)]);
    expect(epochs).toMatchObject({ epochs: 6, commitLatencyMs: latency(2), barrierMs: latency(2), epochStartDelayMs: latency(2) });
    expect(thread).toMatchObject({ busyTimeMsPerSecond: 2, mailboxLatencyMs: latency(2) });
    expect(producer).toEqual({ recordsSent: 6, lastCommitMs: 2 });
    expect(fetcher).toEqual({ bytes: 6, bufferedBytes: 3 });
  });
});

describe('sizes of stores', () => {
  const of = (task: string, active: boolean, keys: number): AppMetrics =>
    ({
      ...own,
      tasks: { [task]: { active, dropped: {}, lag: {}, stores: active ? { counts: { estimateNumKeys: keys } } : {} } },
      epochs: null,
      thread: null,
      producer: null,
      fetcher: null,
      group: null,
      memory: null,
      threads: {},
      standbys: {},
      restoring: [],
      globalTables: { dropped: {}, stores: { names: { estimateNumKeys: keys, memoryBytes: 10 } } },
      droppedRecords: 0,
    }) as unknown as AppMetrics;

  it('are those of the thread where the task runs; each thread has global tables of its own', () => {
    const { tasks, globalTables } = mergedMetrics(own, [of('0_0', true, 5), of('0_0', false, 0)], [of('0_0', true, 7)]);
    expect(tasks['0_0']?.stores).toEqual({ counts: { estimateNumKeys: 5 } });
    expect(globalTables?.stores).toEqual({ names: { estimateNumKeys: 5, memoryBytes: 20 } });
  });
});

describe('a task of a thread that is gone', () => {
  const task: TaskMetricsSnapshot = {
    ...notRunning,
    ...(Object.fromEntries(taskCounters.map((name, i) => [name, i + 1])) as unknown as TaskCounters),
    dropped: { late: 3 },
    active: true,
    busyTimeMsPerSecond: 900,
    unfinishedRecords: 4,
    currentInputWatermark: 1_000,
    watermarkLag: 50,
    watermarkAlignmentDrift: 7,
    sourceIdleTime: 20,
    currentEmitEventTimeLag: 30,
  };
  const metrics = { ...own, tasks: { '0_0': task }, globalTables: null, threads: {}, standbys: {}, restoring: [] } as unknown as AppMetrics;

  it('keeps what it has counted, and stands nowhere', () => {
    const { tasks } = mergedMetrics(own, [], [metrics]);
    expect(tasks['0_0']).toEqual({ ...task, ...notRunning });
  });
});
