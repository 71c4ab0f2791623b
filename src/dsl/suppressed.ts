/** When a suppressed table lets its rows through: made by `untilTimeLimit` and `untilWindowCloses`, taken by `KTable.suppress`. */
import { shown, milliseconds, oneOf, requireArgument, requireOptions, zeroOrMore, type ShapeOf } from '../errors/checked-options.js';
import { MillraceError } from '../errors.js';

/** How much may be held back. Without bounds: all of it. */
export interface SuppressBuffer {
  /** Rows. */
  readonly maxRecords?: number;
  /** Bytes of keys, values, and the topic names and headers of their records. */
  readonly maxBytes?: number;
  /**
   * What happens beyond a bound: the oldest rows leave early, or the app stops with MILL_BUFFER_FULL, or nothing, since the buffer's store keeps what does not
   * fit in memory on disk. Default `emitEarly`; for `untilWindowCloses`, which never lets a row through early, `shutDown`.
   */
  readonly whenFull?: 'emitEarly' | 'shutDown' | 'spill';
}

const shape = {
  maxRecords: zeroOrMore,
  maxBytes: zeroOrMore,
  whenFull: oneOf('emitEarly', 'shutDown', 'spill'),
} satisfies ShapeOf<SuppressBuffer>;

/** When a suppressed table lets its rows through. Frozen data. */
export interface Suppressed {
  readonly kind: 'timeLimit' | 'windowCloses';
  /** ms; Infinity: until the buffer is full. */
  readonly limit: number;
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly whenFull: 'emitEarly' | 'shutDown' | 'spill';
}

/**
 * A changed row leaves when stream time has moved on by `limit` since its first change that is held back.
 *
 * @param limit ms, 0 or more; Infinity: only when the buffer is full
 * @example counts.suppress(untilTimeLimit(60_000, { maxRecords: 10_000 }))
 * @throws MILL_CONFIG_INVALID when a number is out of range; MILL_TOPOLOGY_INVALID when there is no such option.
 */
export function untilTimeLimit(limit: number, buffer: SuppressBuffer = {}): Suppressed {
  requireArgument('untilTimeLimit: the limit', limit, milliseconds, 'MILL_CONFIG_INVALID');
  requireOptions('untilTimeLimit', buffer, shape);
  return checked({ kind: 'timeLimit', limit, ...withDefaults(buffer, 'emitEarly') });
}

/**
 * Final results: the row of a window leaves once, when the window takes no more records. For tables of windows only.
 *
 * @example
 * clicks.groupByKey().windowedBy(tumbling({ size: 60_000 })).count().suppress(untilWindowCloses());
 * @throws MILL_CONFIG_INVALID when a number is out of range; MILL_TOPOLOGY_INVALID when there is no such option.
 */
export function untilWindowCloses(buffer: SuppressBuffer & { readonly whenFull?: 'shutDown' | 'spill' } = {}): Suppressed {
  requireOptions('untilWindowCloses', buffer, shape);
  return checked({ kind: 'windowCloses', limit: 0, ...withDefaults(buffer, 'shutDown') });
}

function withDefaults(buffer: SuppressBuffer, whenFull: Suppressed['whenFull']): Pick<Suppressed, 'maxRecords' | 'maxBytes' | 'whenFull'> {
  return { maxRecords: buffer.maxRecords ?? Infinity, maxBytes: buffer.maxBytes ?? Infinity, whenFull: buffer.whenFull ?? whenFull };
}

function checked(suppressed: Suppressed): Suppressed {
  const faults: string[] = [];
  if (!(suppressed.limit >= 0)) faults.push(`the limit must be 0 ms or more, not ${shown(suppressed.limit)}`);
  if (!(suppressed.maxRecords >= 0)) faults.push(`maxRecords must be 0 or more, not ${shown(suppressed.maxRecords)}`);
  if (!(suppressed.maxBytes >= 0)) faults.push(`maxBytes must be 0 or more, not ${shown(suppressed.maxBytes)}`);
  if (suppressed.kind === 'windowCloses' && suppressed.whenFull === 'emitEarly') faults.push('final results can’t leave early');
  if (faults.length > 0) throw new MillraceError('MILL_CONFIG_INVALID', `suppress: ${faults.join('; ')}.`, { details: { ...suppressed } });
  return Object.freeze(suppressed);
}
