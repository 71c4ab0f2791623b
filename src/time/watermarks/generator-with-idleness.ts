import { IdlenessClock } from './idleness.js';
import type { WatermarkGenerator } from './watermark-generator.js';
import type { WatermarkOutput } from './watermark.js';

/** A generator that also says when its partition is idle. Any record ends the idleness, at the next probe. */
export class GeneratorWithIdleness<V> {
  private readonly clock: IdlenessClock | null;
  private idle = false;

  /** @param idleTimeout ms; null: never idle */
  constructor(
    private readonly generator: WatermarkGenerator<V>,
    idleTimeout: number | null,
  ) {
    this.clock = idleTimeout === null ? null : new IdlenessClock(idleTimeout);
  }

  get isIdle(): boolean {
    return this.idle;
  }

  get quietSince(): number | null {
    return this.clock?.since ?? null;
  }

  onEvent(timestamp: number, value: V, output: WatermarkOutput): void {
    this.clock?.activity();
    this.generator.onEvent(timestamp, value, output);
  }

  onPeriodicEmit(now: number, atEnd: boolean, output: WatermarkOutput): void {
    if (this.clock?.probe(now, atEnd) === true) {
      if (!this.idle) output.markIdle();
      this.idle = true;
      return;
    }
    if (this.idle) output.markActive();
    this.idle = false;
    this.generator.onPeriodicEmit(output);
  }
}
