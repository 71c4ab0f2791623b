/** Counters and latencies of a thread's epochs. Latencies are kept in a bounded ring. */
export class EpochMetrics {
  epochs = 0;
  failed = 0;
  records = 0;
  bytes = 0;
  private lastBarrierMs = 0;
  private last: { readonly durationMs: number; readonly bytes: number; readonly at: number } | null = null;
  private readonly commits = new LatencyRing(1024);
  private readonly barriers = new LatencyRing(1024);

  /** How long tasks stood still for a barrier, ms. */
  barrier(ms: number): void {
    this.lastBarrierMs = ms;
    this.barriers.add(ms);
  }

  /** @param at ms of the wall clock */
  committed(ms: number, records: number, bytes: number, at: number): void {
    this.last = { durationMs: this.lastBarrierMs + ms, bytes, at };
    this.epochs++;
    this.records += records;
    this.bytes += bytes;
    this.commits.add(ms);
  }

  snapshot(): EpochMetricsSnapshot {
    return {
      epochs: this.epochs,
      failedEpochs: this.failed,
      recordsProduced: this.records,
      bytesProduced: this.bytes,
      commitLatencyMs: this.commits.summary(),
      barrierMs: this.barriers.summary(),
      lastEpochDuration: this.last?.durationMs ?? null,
      lastEpochSize: this.last?.bytes ?? null,
      lastEpochCommittedAt: this.last?.at ?? null,
    };
  }
}

/** Of the last 1024 measurements, ms. */
export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** The barriers and commits of this instance. */
export interface EpochMetricsSnapshot {
  /** Committed epochs. */
  readonly epochs: number;
  /** Epochs that were aborted and processed again. */
  readonly failedEpochs: number;
  /** Output, changelogs included. */
  readonly recordsProduced: number;
  /** Output, changelogs included. */
  readonly bytesProduced: number;
  /** From the barrier's end to the committed transaction, over the last 1024 epochs. */
  readonly commitLatencyMs: LatencySummary;
  /** How long tasks stood still for the barrier. */
  readonly barrierMs: LatencySummary;
  /** From the barrier's beginning to the committed transaction, ms, of the last committed epoch; null before the first, as the two below. */
  readonly lastEpochDuration: number | null;
  /** Bytes of its output, changelogs included. */
  readonly lastEpochSize: number | null;
  /** When it was committed, ms since the epoch: what was processed since is processed again after a crash. */
  readonly lastEpochCommittedAt: number | null;
}

class LatencyRing {
  private readonly values: Float64Array;
  private count = 0;

  constructor(size: number) {
    this.values = new Float64Array(size);
  }

  add(value: number): void {
    this.values[this.count++ % this.values.length] = value;
  }

  summary(): LatencySummary {
    const sorted = this.values.slice(0, Math.min(this.count, this.values.length)).sort();
    const at = (fraction: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? 0;
    return { p50: at(0.5), p99: at(0.99), max: sorted[sorted.length - 1] ?? 0 };
  }
}
