/** What makes watermarks out of the timestamps of one partition. */
import { noWatermark, type WatermarkOutput } from './watermark.js';

/** One for each partition, made by the strategy. Called in the partition's order. */
export interface WatermarkGenerator<V = unknown> {
  /** For each record; may emit at once (punctuated watermarks), or only remember. `timestamp` in ms since the epoch. */
  onEvent(timestamp: number, value: V, output: WatermarkOutput): void;
  /** Every `interval` of the strategy, and before each commit. */
  onPeriodicEmit(output: WatermarkOutput): void;
}

/** The highest timestamp seen, less the bound, less 1 ms: a record that is exactly `bound` behind is not late. */
export class BoundedOutOfOrderness implements WatermarkGenerator {
  private highest = noWatermark;

  /** @param bound how far behind the highest timestamp a record may come, ms */
  constructor(private readonly bound: number) {}

  onEvent(timestamp: number): void {
    if (timestamp > this.highest) this.highest = timestamp;
  }

  onPeriodicEmit(output: WatermarkOutput): void {
    output.emit(this.highest - this.bound - 1);
  }
}

/** Says nothing. */
export class NoWatermarks implements WatermarkGenerator {
  onEvent(): void {
    // Nothing follows from a record.
  }

  onPeriodicEmit(): void {
    // Nor from the time.
  }
}
