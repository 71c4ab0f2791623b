/**
 * Sliding windows: one window for each set of records of a key that lie within `timeDifference` of each other. Both ends are inclusive, so a window
 * is `[start, start + timeDifference]`.
 */
import { shown, anything, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';

/** For `sliding`. */
export interface SlidingOptions {
  /** Largest distance in time between two records of a window, ms, 0 or more. */
  readonly timeDifference: number;
  /** How long after its end a window still takes late records, ms. Default 0. */
  readonly grace?: number;
}

const shape = { timeDifference: anything, grace: anything } satisfies ShapeOf<SlidingOptions>;

/**
 * Windows that move with the records.
 *
 * @example sliding({ timeDifference: 60_000, grace: 5_000 })
 * @throws MILL_CONFIG_INVALID when a number is out of range.
 */
export function sliding(options: SlidingOptions): SlidingWindows {
  requireOptions('sliding', options, shape);
  return new SlidingWindows(options.timeDifference, options.grace ?? 0);
}

/** Made by `sliding`; frozen. */
export class SlidingWindows {
  readonly kind = 'sliding';

  constructor(
    /** ms */
    readonly timeDifference: number,
    /** ms */
    readonly grace: number,
  ) {
    const faults: string[] = [];
    if (!Number.isSafeInteger(timeDifference) || timeDifference < 0) {
      faults.push(`timeDifference must be a whole number of milliseconds, 0 or more, not ${shown(timeDifference)}`);
    }
    if (!Number.isSafeInteger(grace) || grace < 0)
      faults.push(`grace must be a whole number of milliseconds, 0 or more, not ${shown(grace)}`);
    if (faults.length > 0) {
      throw new MillraceError('MILL_CONFIG_INVALID', `sliding windows: ${faults.join('; ')}.`, { details: { timeDifference, grace } });
    }
    Object.freeze(this);
  }

  /** How long rows are needed after their start: the window before a record may begin twice the difference before it. */
  get retention(): number {
    return 2 * this.timeDifference + this.grace;
  }
}
