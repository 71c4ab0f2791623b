import { LatencyRing, type LatencySummary } from './latency-ring.js';

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
  private readonly startDelays = new LatencyRing(1024);

  /** @param wallClock ms since the epoch */
  constructor(private readonly wallClock: () => number) {}

  /**
   * @param ms how long tasks stood still
   * @param startDelayMs how long after the epoch was due the barrier began
   */
  barrier(ms: number, startDelayMs: number): void {
    this.lastBarrierMs = ms;
    this.barriers.add(ms);
    this.startDelays.add(startDelayMs);
  }

  committed(ms: number, records: number, bytes: number): void {
    this.last = { durationMs: this.lastBarrierMs + ms, bytes, at: this.wallClock() };
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
      epochStartDelayMs: this.startDelays.summary(),
      lastEpochDuration: this.last?.durationMs ?? null,
      lastEpochSize: this.last?.bytes ?? null,
      lastEpochCommittedAt: this.last?.at ?? null,
    };
  }
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
  /** From the moment an epoch was due to the beginning of its barrier. */
  readonly epochStartDelayMs: LatencySummary;
  /** From the barrier's beginning to the committed transaction, ms, of the last committed epoch; null before the first, as the two below. */
  readonly lastEpochDuration: number | null;
  /** Bytes of its output, changelogs included. */
  readonly lastEpochSize: number | null;
  /** When it was committed, ms since the epoch: what was processed since is processed again after a crash. */
  readonly lastEpochCommittedAt: number | null;
}
