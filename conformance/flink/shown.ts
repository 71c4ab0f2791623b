/** Compares two JSON values and tells the difference. */
import type { Json } from '../case.js';

export function differs(what: string, expected: Json | undefined, got: unknown): string[] {
  const [wanted, shown] = [JSON.stringify(expected) as string | undefined, JSON.stringify(got) as string | undefined];
  return wanted === shown ? [] : [`${what}: expected ${wanted ?? 'nothing'}, got ${shown ?? 'nothing'}`];
}

/** Watermarks as the case files write them: `MIN` before the first one. */
export function shownWatermark(watermark: number): string | number {
  return watermark === -Infinity ? 'MIN' : watermark === Infinity ? 'MAX' : watermark;
}
