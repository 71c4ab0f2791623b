/** Writes down what a generator or combiner emits, in the words of the case files. */
import type { WatermarkOutput } from '../../src/time/watermarks/watermark.js';
import type { Json } from '../case.js';
import { shownWatermark } from './shown.js';

export class WatermarkRecorder implements WatermarkOutput {
  private seen: Json[] = [];

  /** @param activations whether the case files of this kind write down that an output becomes active */
  constructor(private readonly activations: boolean) {}

  emit(watermark: number): void {
    this.seen.push({ wm: shownWatermark(watermark) });
  }

  markIdle(): void {
    this.seen.push('IDLE');
  }

  markActive(): void {
    if (this.activations) this.seen.push('ACTIVE');
  }

  take(): Json[] {
    const { seen } = this;
    this.seen = [];
    return seen;
  }
}
