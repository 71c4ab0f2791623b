/**
 * Watermarks: `t` says that no more records with a timestamp at or below `t` are expected. Records that come all the same are late, no error.
 *
 * A watermark is a number of milliseconds. Before the first one it is `noWatermark`; a generator that says `Infinity` expects nothing more. Both behave under
 * plus and minus as they should, so nothing overflows.
 */
export const noWatermark = -Infinity;

/** Takes what a generator or a combiner says. */
export interface WatermarkOutput {
  /** No record at or below `watermark`, ms since the epoch, is to be expected. One that is not higher than the last does nothing. */
  emit(watermark: number): void;
  /** Nothing is to be expected from here until `markActive` or the next watermark. */
  markIdle(): void;
  /** Takes `markIdle` back. */
  markActive(): void;
}
