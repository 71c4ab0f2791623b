/**
 * Tumbling, hopping and unlimited windows: `[start, end)`, aligned to the epoch, never starting below 0.
 *
 * Pure arithmetic. Window operators call it for each record, so the windows of a timestamp are told as a first start and a step
 * (`firstStart`, `advance`) and not as a list.
 */
import { shown, anything, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';
import type { Window } from './windowed.js';

/** For `tumbling`. */
export interface TumblingOptions {
  /** Length of a window, ms, above 0. */
  readonly size: number;
  /** How long after its end a window still takes late records, ms. Default 0: there is no implicit grace (KIP-633). */
  readonly grace?: number;
}

/** For `hopping`. */
export interface HoppingOptions extends TumblingOptions {
  /** Distance between the starts of two windows, ms: above 0 and at most `size`. */
  readonly advance: number;
}

const tumblingShape = { size: anything, grace: anything } satisfies ShapeOf<TumblingOptions>;
const hoppingShape = { ...tumblingShape, advance: anything } satisfies ShapeOf<HoppingOptions>;

/**
 * Windows of a fixed size, one after the other.
 *
 * @example tumbling({ size: 60_000, grace: 5_000 })
 * @throws MILL_CONFIG_INVALID when a number is out of range; MILL_TOPOLOGY_INVALID when there is no such option.
 */
export function tumbling(options: TumblingOptions): TimeWindows {
  requireOptions('tumbling', options, tumblingShape);
  return new TimeWindows('tumbling', options.size, options.size, options.grace ?? 0);
}

/**
 * Windows of a fixed size that start every `advance` ms, so that a record may be in several.
 *
 * @example hopping({ size: 60_000, advance: 10_000, grace: 0 })
 * @throws MILL_CONFIG_INVALID when a number is out of range; MILL_TOPOLOGY_INVALID when there is no such option.
 */
export function hopping(options: HoppingOptions): TimeWindows {
  requireOptions('hopping', options, hoppingShape);
  return new TimeWindows('hopping', options.size, options.advance, options.grace ?? 0);
}

/** For `unlimited`. */
export interface UnlimitedOptions {
  /** Where the window begins, ms since the epoch; records before it are in no window. Default 0. */
  readonly start?: number;
}

const unlimitedShape = { start: anything } satisfies ShapeOf<UnlimitedOptions>;

/**
 * One window from `start` on, without an end: it never closes.
 *
 * @example unlimited({ start: Date.parse('2026-01-01') })
 * @throws MILL_CONFIG_INVALID when the number is out of range.
 */
export function unlimited(options: UnlimitedOptions = {}): TimeWindows {
  requireOptions('unlimited', options, unlimitedShape);
  return new UnlimitedWindows(options.start ?? 0);
}

/** Made by `tumbling`, `hopping` and `unlimited`; frozen. */
export class TimeWindows {
  constructor(
    readonly kind: 'tumbling' | 'hopping' | 'unlimited',
    /** ms */
    readonly size: number,
    /** ms */
    readonly advance: number,
    /** ms */
    readonly grace: number,
  ) {
    const faults = windowFaults(kind, size, advance, grace);
    if (faults.length > 0) {
      throw new MillraceError('MILL_CONFIG_INVALID', `${kind} windows: ${faults.join('; ')}.`, { details: { size, advance, grace } });
    }
    Object.freeze(this);
  }

  /** Start of the first window that holds `timestamp`; the others follow `advance` apart, the last one not after `timestamp`. */
  firstStart(timestamp: number): number {
    const earliest = timestamp - this.size + this.advance;
    return earliest <= 0 ? 0 : Math.floor(earliest / this.advance) * this.advance;
  }

  /** All windows that hold `timestamp`, by ascending start. */
  windowsFor(timestamp: number): Window[] {
    const windows: Window[] = [];
    for (let start = this.firstStart(timestamp); start <= timestamp; start += this.advance) windows.push({ start, end: start + this.size });
    return windows;
  }
}

class UnlimitedWindows extends TimeWindows {
  readonly #start: number;

  constructor(start: number) {
    if (!Number.isSafeInteger(start) || start < 0) {
      throw new MillraceError('MILL_CONFIG_INVALID', `unlimited windows: start must be a time in ms, 0 or more, not ${shown(start)}.`, {
        details: { start },
      });
    }
    const size = Number.MAX_SAFE_INTEGER - start;
    super('unlimited', size, size, 0);
    this.#start = start;
  }

  override firstStart(timestamp: number): number {
    return timestamp < this.#start ? Infinity : this.#start;
  }

  override windowsFor(timestamp: number): Window[] {
    return timestamp < this.#start ? [] : [{ start: this.#start, end: Number.MAX_SAFE_INTEGER }];
  }
}

/** Tumbling windows have no `advance` of their own. */
function windowFaults(kind: TimeWindows['kind'], size: number, advance: number, grace: number): string[] {
  const faults: string[] = [];
  if (!Number.isSafeInteger(size) || size <= 0) faults.push(`size must be a whole number of milliseconds above 0, not ${shown(size)}`);
  if (kind === 'hopping' && (!Number.isSafeInteger(advance) || advance <= 0 || advance > size)) {
    faults.push(`advance must be a whole number of milliseconds above 0 and at most the size (${size}), not ${shown(advance)}`);
  }
  if (!Number.isSafeInteger(grace) || grace < 0)
    faults.push(`grace must be a whole number of milliseconds, 0 or more, not ${shown(grace)}`);
  return faults;
}
