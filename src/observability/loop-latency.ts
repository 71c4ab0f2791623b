import { LatencyRing, type LatencySummary } from './latency-ring.js';

/** Flink's mail to itself comes once a second. */
const everyMs = 500;
/** Of the last minute. */
const measurements = 120;

/**
 * How late the event loop of a stream thread is: a timer that is due twice a second, and when it fires. Whatever holds it up, a function that does not give way or other work of the same JavaScript thread,
 * holds up the answers of brokers, heartbeats and commits for as long.
 */
export class LoopLatency {
  private readonly late = new LatencyRing(measurements);
  private timer: NodeJS.Timeout | null = null;

  start(): void {
    let due = performance.now() + everyMs;
    this.timer ??= setInterval(() => {
      const now = performance.now();
      this.late.add(Math.max(0, now - due));
      due = now + everyMs;
    }, everyMs).unref();
  }

  stop(): void {
    if (this.timer !== null) clearInterval(this.timer);
    this.timer = null;
  }

  summary(): LatencySummary {
    return this.late.summary();
  }
}
