import { describe, expect, it } from '@jest/globals';
import { EpochMetrics } from '../../src/observability/epoch-metrics.js';

describe('the metrics of epochs', () => {
  it('begin at zero', () => {
    expect(new EpochMetrics(() => 7).snapshot()).toEqual({
      epochs: 0,
      failedEpochs: 0,
      recordsProduced: 0,
      bytesProduced: 0,
      commitLatencyMs: { p50: 0, p99: 0, max: 0 },
      barrierMs: { p50: 0, p99: 0, max: 0 },
      epochStartDelayMs: { p50: 0, p99: 0, max: 0 },
      lastEpochDuration: null,
      lastEpochSize: null,
      lastEpochCommittedAt: null,
    });
  });

  it('add up epochs, records and bytes, and keep latencies as percentiles', () => {
    const metrics = new EpochMetrics(() => 7);
    metrics.barrier(3, 8);
    for (let ms = 1; ms <= 100; ms++) metrics.committed(ms, 2, 10);
    metrics.failed++;
    expect(metrics.snapshot()).toEqual({
      epochs: 100,
      failedEpochs: 1,
      recordsProduced: 200,
      bytesProduced: 1000,
      commitLatencyMs: { p50: 51, p99: 100, max: 100 },
      barrierMs: { p50: 3, p99: 3, max: 3 },
      epochStartDelayMs: { p50: 8, p99: 8, max: 8 },
      lastEpochDuration: 103,
      lastEpochSize: 10,
      lastEpochCommittedAt: 7,
    });
  });

  it('forget latencies beyond the last 1024', () => {
    const metrics = new EpochMetrics(() => 7);
    metrics.committed(9999, 0, 0);
    for (let i = 0; i < 1024; i++) metrics.committed(1, 0, 0);
    expect(metrics.snapshot().commitLatencyMs).toEqual({ p50: 1, p99: 1, max: 1 });
  });
});
