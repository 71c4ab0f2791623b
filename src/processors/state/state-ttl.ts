/**
 * Time to live of state, by the wall clock alone, as in Flink.
 *
 * A value is expired when its last update plus the time to live is at or before now. The last update is part of the state, so the time while nothing ran
 * counts. An expired value is removed when it is met. Each value has the slot of its last update whether or not there is a time to live: it can be turned on
 * later.
 */
import { MillraceError } from '../../errors.js';
import { shown, anything, flag, oneOf, requireOptions, type ShapeOf } from '../../errors/checked-options.js';

/** How long a value of keyed state lives, by the wall clock. */
export interface StateTtl {
  /** ms */
  readonly ttl: number;
  /** What renews it. Default: writes; `onReadAndWrite`: reads too; `disabled`: there is no time to live. */
  readonly update?: 'onCreateAndWrite' | 'onReadAndWrite' | 'disabled';
  /** Whether an expired value may be given out when it is met, once, before it is removed. Default: never. */
  readonly visibility?: 'neverReturnExpired' | 'returnExpiredIfNotCleanedUp';
  /** Removes expired values that nobody touches, a few rows for each access of the state. Default: a value is removed when it is met. */
  readonly cleanupIncrementally?: IncrementalCleanup;
}

/** How many rows are looked at for expired values. They are looked at when the epoch ends, so the work of an epoch is bounded by what it has done. */
export interface IncrementalCleanup {
  /** Rows for each reading or writing of the state, a row being what the state holds for a key. */
  readonly size: number;
  /** True: as many for each record that the operator gets, too. Default false. */
  readonly runForEveryRecord?: boolean;
}

const shape = {
  ttl: anything,
  update: oneOf('onCreateAndWrite', 'onReadAndWrite', 'disabled'),
  visibility: oneOf('neverReturnExpired', 'returnExpiredIfNotCleanedUp'),
  cleanupIncrementally: { size: anything, runForEveryRecord: flag } satisfies ShapeOf<IncrementalCleanup>,
} satisfies ShapeOf<StateTtl>;

export function checkedTtl(state: string, ttl: StateTtl): StateTtl {
  requireOptions(`ttl of state ${state}`, ttl, shape, 'MILL_CONFIG_INVALID');
  const size = ttl.cleanupIncrementally === undefined ? 1 : ttl.cleanupIncrementally.size;
  if (!Number.isSafeInteger(size) || size < 1) {
    throw new MillraceError(
      'MILL_CONFIG_INVALID',
      `State ${state}: cleanupIncrementally.size must be a whole number of at least 1, not ${shown(size)}.`,
    );
  }
  if (typeof ttl.ttl === 'number' && ttl.ttl > 0) return Object.freeze({ ...ttl });
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `State ${state}: the time to live must be a number of ms above 0, not ${String(ttl.ttl)}.`,
  );
}

/** A descriptor's time to live with the clock to measure it. */
export class TtlPolicy {
  readonly renewsOnRead: boolean;
  readonly returnsExpired: boolean;
  private readonly ttl: number;

  constructor(
    ttl: StateTtl | null,
    private readonly clock: () => number,
  ) {
    this.ttl = ttl === null || ttl.update === 'disabled' ? Infinity : ttl.ttl;
    this.renewsOnRead = this.ttl !== Infinity && ttl?.update === 'onReadAndWrite';
    this.returnsExpired = ttl?.visibility === 'returnExpiredIfNotCleanedUp';
  }

  now(): number {
    return this.clock();
  }

  isExpired(updatedAt: number): boolean {
    return this.ttl !== Infinity && updatedAt + this.ttl <= this.clock();
  }
}
