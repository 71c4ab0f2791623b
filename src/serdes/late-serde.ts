/** Serdes that are made out of one that is known only when the app starts: its default key or value serde. */
import { MillraceError } from '../errors.js';
import type { Serde } from './serde.js';

export interface LateSerde<T> extends Serde<T> {
  /** Which default it waits for. */
  readonly waitsFor: 'key' | 'value';
  /** The serde, now that the default is known. */
  readonly over: (inner: Serde<unknown>) => Serde<T>;
}

/**
 * `make(inner)`, or, when there is no inner serde yet, one that stands for `make(the app's default)`.
 *
 * @param waitsFor which default
 * @param name of the one that stands for it
 */
export function serdeOver<I, T>(
  inner: Serde<I> | null,
  make: (inner: Serde<I>) => Serde<T>,
  waitsFor: 'key' | 'value',
  name: string,
): Serde<T> {
  if (inner === null) return lateSerde(make as (inner: Serde<unknown>) => Serde<T>, waitsFor, name);
  return isLateSerde(inner) ? lateSerde((found) => make(inner.over(found) as Serde<I>), inner.waitsFor, name) : make(inner);
}

export function isLateSerde(serde: Serde<unknown> | null): serde is LateSerde<unknown> {
  return serde !== null && 'waitsFor' in serde;
}

function lateSerde<T>(over: (inner: Serde<unknown>) => Serde<T>, waitsFor: 'key' | 'value', name: string): LateSerde<T> {
  const early = (): never => {
    throw new MillraceError('MILL_INVARIANT', 'A serde was used before the default serdes of the app were known.');
  };
  const late: LateSerde<T> = {
    name,
    waitsFor,
    over,
    serialize: early,
    deserialize: early,
    withDefaults: (defaults) => {
      const inner = defaults[waitsFor];
      return inner === null ? late : over(inner);
    },
  };
  return Object.freeze(late);
}
