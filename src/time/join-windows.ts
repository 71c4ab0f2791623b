import { shown, anything, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';

/** For `joinWindows`. */
export interface JoinWindowsOptions {
  /** How far before a left record's time its right partners may lie, ms. Negative: they lie at least that far after it. */
  readonly before: number;
  /** How far after a left record's time its right partners may lie, ms. Negative: they lie at least that far before it. */
  readonly after: number;
  /** How long after the end of a record's window late partners are still waited for, ms. Default 0. */
  readonly grace?: number;
}

const shape = { before: anything, after: anything, grace: anything } satisfies ShapeOf<JoinWindowsOptions>;

/**
 * Which records of two streams meet: a left record at time t and a right one at [t − before, t + after], both ends included.
 *
 * @example
 * joinWindows({ before: 0, after: 60_000 }); // a click within a minute after its view
 * @throws MILL_CONFIG_INVALID when a number is not a whole one, the window would end before it starts, or grace is below 0.
 */
export function joinWindows(options: JoinWindowsOptions): JoinWindows {
  requireOptions('joinWindows', options, shape);
  return new JoinWindows(options.before, options.after, options.grace ?? 0);
}

/** Made by `joinWindows`; frozen. */
export class JoinWindows {
  readonly kind = 'join';

  constructor(
    /** ms */
    readonly before: number,
    /** ms */
    readonly after: number,
    /** ms */
    readonly grace: number,
  ) {
    const faults: string[] = [];
    if (!Number.isSafeInteger(before)) faults.push(`before must be a whole number of milliseconds, not ${shown(before)}`);
    if (!Number.isSafeInteger(after)) faults.push(`after must be a whole number of milliseconds, not ${shown(after)}`);
    if (before + after < 0) faults.push(`the window would end ${-(before + after)} ms before it starts: before + after must be 0 or more`);
    if (!Number.isSafeInteger(grace) || grace < 0)
      faults.push(`grace must be a whole number of milliseconds, 0 or more, not ${shown(grace)}`);
    if (faults.length > 0) {
      throw new MillraceError('MILL_CONFIG_INVALID', `Join windows: ${faults.join('; ')}.`, { details: { before, after, grace } });
    }
    Object.freeze(this);
  }

  /** Length of the window, ms. */
  get size(): number {
    return this.before + this.after;
  }
}
