import {
  atLeastOne,
  callback,
  checkOptions,
  flag,
  milliseconds,
  aNumber,
  requireArgument,
  type ShapeOf,
} from '../../errors/checked-options.js';
import { resultAtOnce } from '../result-at-once.js';

/**
 * Takes records out of a window before, or after, its function sees them. With an evictor a window keeps all its records, also when it aggregates.
 */
export interface WindowElement<V> {
  readonly value: V;
  /** ms since the epoch. */
  readonly timestamp: number;
}

/** Takes records out of a window before, or after, its function sees them. The window then keeps all its records, also when it aggregates. */
export interface Evictor<V = unknown> {
  readonly name: string;
  /** What stays, in order of arrival. Called before the window function. */
  before(elements: readonly WindowElement<V>[]): readonly WindowElement<V>[];
  /** The same after the function, for the next firing. */
  after(elements: readonly WindowElement<V>[]): readonly WindowElement<V>[];
}

/** What all evictors take. */
export interface EvictorOptions {
  /** Evict after the window function instead of before it. Default false. */
  readonly after?: boolean;
}

/** Keeps the last `most` records. */
export function countEvictor<V = unknown>(most: number, options?: EvictorOptions): Evictor<V> {
  requireArgument('countEvictor: the number of records', most, atLeastOne);
  return evictor(`count(${most})`, (elements) => (elements.length <= most ? elements : elements.slice(elements.length - most)), options);
}

/** Keeps the records less than `span` ms older than the newest. */
export function timeEvictor<V = unknown>(span: number, options?: EvictorOptions): Evictor<V> {
  requireArgument('timeEvictor: the span', span, milliseconds);
  return evictor(
    `time(${span})`,
    (elements) => {
      const newest = elements.reduce((highest, { timestamp }) => Math.max(highest, timestamp), -Infinity);
      return elements.filter(({ timestamp }) => timestamp > newest - span);
    },
    options,
  );
}

/** Keeps the records whose `delta` to the last one is below `threshold`. */
export function deltaEvictor<V>(threshold: number, delta: (value: V, last: V) => number, options?: EvictorOptions): Evictor<V> {
  requireArgument('deltaEvictor: the threshold', threshold, aNumber);
  requireArgument('deltaEvictor: the delta', delta, callback);
  return evictor<V>(
    `delta(${threshold})`,
    (elements) => {
      const last = elements.at(-1);
      return last === undefined
        ? elements
        : elements.filter(({ value }) => resultAtOnce('deltaEvictor: the delta', delta(value, last.value)) < threshold);
    },
    options,
  );
}

type Keep<V> = Evictor<V>['before'];

const shape = { after: flag } satisfies ShapeOf<EvictorOptions>;

function evictor<V>(name: string, keep: Keep<V>, options: EvictorOptions = {}): Evictor<V> {
  checkOptions(`the evictor ${name}`, options, shape);
  const { after = false } = options;
  const keepAll: Keep<V> = (elements) => elements;
  return Object.freeze({ name, before: after ? keepAll : keep, after: after ? keep : keepAll });
}
