import { afterPrefix, justAfter } from '../table-scan.js';
import type { KeyBounds } from './store-reader.js';

/** As latin1 strings of key bytes: `from <= key < to`; null: open. */
export interface OrderBounds {
  readonly from: string | null;
  readonly to: string | null;
}

export const allKeys: OrderBounds = { from: null, to: null };

export function orderBounds<K>(bounds: KeyBounds<K>, orderOf: (key: K) => string): OrderBounds {
  let from = bounds.from === undefined ? null : orderOf(bounds.from);
  let to = bounds.to === undefined ? null : justAfter(orderOf(bounds.to));
  if (bounds.prefix !== undefined) {
    const prefix = Buffer.from(bounds.prefix).toString('latin1');
    const end = afterPrefix(prefix);
    if (from === null || prefix > from) from = prefix;
    if (end !== null && (to === null || end < to)) to = end;
  }
  return { from, to };
}

/** The part of `bounds` that comes at or after `order` in the direction of the scan. */
export function boundsFrom(bounds: OrderBounds, order: string, reverse: boolean): OrderBounds {
  if (reverse) {
    const end = justAfter(order);
    return { from: bounds.from, to: bounds.to === null || end < bounds.to ? end : bounds.to };
  }
  return { from: bounds.from === null || order > bounds.from ? order : bounds.from, to: bounds.to };
}

/** Engine keys from `prefix + bounds.from` to `prefix + bounds.to`. */
export function engineBounds(prefix: Buffer, bounds: OrderBounds): { readonly from: Buffer; readonly to: Buffer } {
  const base = prefix.toString('latin1');
  // Ids of stores stay below 0xffff, so there always is something after a prefix.
  const to = bounds.to === null ? (afterPrefix(base) ?? base) : base + bounds.to;
  return { from: Buffer.from(base + (bounds.from ?? ''), 'latin1'), to: Buffer.from(to, 'latin1') };
}
