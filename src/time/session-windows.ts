/**
 * Session windows: the activity of one key between pauses. Both ends are inclusive; records less than or exactly `gap` apart are in one session.
 */
import { shown, anything, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';

/** For `sessions`. */
export interface SessionOptions {
  /** Longest pause inside a session, ms; 0: records of the same time alone are in one. */
  readonly gap: number;
  /** How long after its end and gap a session still takes late records, ms. Default 0. */
  readonly grace?: number;
}

const shape = { gap: anything, grace: anything } satisfies ShapeOf<SessionOptions>;

/**
 * Windows that a pause ends.
 *
 * @example sessions({ gap: 30 * 60_000, grace: 60_000 })
 * @throws MILL_CONFIG_INVALID when a number is out of range.
 */
export function sessions(options: SessionOptions): SessionWindows {
  requireOptions('sessions', options, shape);
  return new SessionWindows(options.gap, options.grace ?? 0);
}

/** Made by `sessions`; frozen. */
export class SessionWindows {
  readonly kind = 'session';

  constructor(
    /** ms */
    readonly gap: number,
    /** ms */
    readonly grace: number,
  ) {
    const faults: string[] = [];
    if (!Number.isSafeInteger(gap) || gap < 0) faults.push(`gap must be a whole number of milliseconds, 0 or more, not ${shown(gap)}`);
    if (!Number.isSafeInteger(grace) || grace < 0)
      faults.push(`grace must be a whole number of milliseconds, 0 or more, not ${shown(grace)}`);
    if (faults.length > 0) {
      throw new MillraceError('MILL_CONFIG_INVALID', `session windows: ${faults.join('; ')}.`, { details: { gap, grace } });
    }
    Object.freeze(this);
  }

  /** A session that ends before it takes no more records at that stream time. */
  closeTime(streamTime: number): number {
    return streamTime - this.gap - this.grace;
  }
}
