import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { AppMetrics } from '../../../src/app/app-metrics.js';
import { mergedMetrics, withEnded } from '../../../src/app/threads/merged-metrics.js';

const own = {} as AppMetrics;

/** Of one thread, as far as it adds up. */
const metrics = fc.record({ task: fc.integer({ min: 0, max: 2 }), count: fc.nat(1_000), at: fc.nat(1_000), active: fc.boolean() }).map(
  ({ task, count, at, active }) =>
    ({
      tasks: { [`0_${task}`]: { recordsProcessed: count, retries: 1, dropped: { late: count }, active, lag: { in: 3 } } },
      epochs: {
        epochs: count,
        failedEpochs: 1,
        lastEpochCommittedAt: at,
        commitLatencyMs: { p50: at, p99: at, max: count },
        barrierMs: { p50: 1, p99: 1, max: at },
      },
      thread: { busyTimeMsPerSecond: 1 },
      producer: { records: count, lastCommitMs: at },
      fetcher: { bytes: count },
      group: null,
      threads: { 0: {} },
      standbys: { '0_1': {} },
      restoring: [{}],
      globalTables: null,
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
