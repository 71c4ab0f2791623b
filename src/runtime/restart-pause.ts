import { backoffMs } from '../kafka/backoff.js';
import type { Logger } from '../observability/logger.js';

/** Before tasks run again after failures with no commit in between; the first time there is none. */
const growth = { initialMs: 100, maxMs: 30_000 };

/** The pause before the tasks of a thread that has failed are opened again: a record that fails every time must not keep the thread, the brokers and the log busy. */
export class RestartPause {
  /** Since the last committed epoch. */
  private failures = 0;
  private timer: NodeJS.Timeout | null = null;

  constructor(private readonly logger: Logger) {}

  get isOn(): boolean {
    return this.timer !== null;
  }

  /** An epoch was committed. */
  committed(): void {
    this.failures = 0;
  }

  /** Counts a failure. Returns for how long to rest after it, ms; null for not at all. */
  afterFailure(): number | null {
    this.failures++;
    if (this.failures === 1) return null;
    const ms = Math.round(backoffMs(this.failures - 1, growth, Math.random));
    this.logger.info(
      { inMs: ms, failures: this.failures },
      'failed again before an epoch was committed: resting before the tasks are opened',
    );
    return ms;
  }

  /** Rests for `ms` from now on. */
  begin(ms: number, onOver: () => void): void {
    this.end();
    this.timer = setTimeout(() => {
      this.timer = null;
      onOver();
    }, ms);
  }

  /** `onOver` is not called any more. */
  end(): void {
    if (this.timer !== null) clearTimeout(this.timer);
    this.timer = null;
  }
}
