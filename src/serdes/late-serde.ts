/**
 * Serdes that are made of others, some of which are known only when the app starts: its default key and value serdes. Until then such a serde is late: it has a name and refuses to
 * work, and `withDefaults` makes it whole.
 */
import { MillraceError } from '../errors.js';
import { compileSerde } from './compile-serde.js';
import type { CompiledSerde, DefaultSerdes, Serde, SerdeUse } from './serde.js';

type Part = 'key' | 'value';

/** A serde to be put into another one. null: the app's default for that part. */
export interface InnerSerde {
  readonly serde: Serde<never> | null;
  readonly part: Part;
}

interface LateSerde<T> extends Serde<T> {
  readonly waitsFor: readonly Part[];
}

/** The defaults that a serde needs; none for one that is whole. */
export function defaultsOf(serde: Serde<unknown>): readonly Part[] {
  return 'waitsFor' in serde ? (serde as LateSerde<unknown>).waitsFor : [];
}

/**
 * `make(inner)`, or, while there is no inner serde or that is late itself, one that stands for it.
 *
 * @param part whose default it waits for
 * @param name of the one that stands for it
 */
export function serdeOver<I, T>(inner: Serde<I> | null, make: (inner: Serde<I>) => Serde<T>, part: Part, name: string): Serde<T> {
  if (inner !== null && inner.withDefaults === undefined) return make(inner);
  return lateSerde(name, [{ serde: inner as Serde<never> | null, part }], ([whole]) => make(whole as unknown as Serde<I>));
}

/** A late serde made by `make` out of `inner`, in that order, which prepares itself as they do. */
export function serdeOverAll<T>(
  name: string,
  inner: readonly InnerSerde[],
  make: (inner: readonly CompiledSerde<never>[]) => Serde<T>,
): Serde<T> {
  return lateSerde(name, inner, (whole) => {
    const prepare = async (use: SerdeUse): Promise<void> => {
      for (const serde of whole) await serde.prepare?.(use);
    };
    return Object.freeze({ ...make(whole.map((serde) => compileSerde(serde))), prepare });
  });
}

/** @throws MILL_CONFIG_INVALID from `withDefaults` when an inner serde is neither given nor a default */
function lateSerde<T>(name: string, inner: readonly InnerSerde[], make: (inner: readonly Serde<never>[]) => Serde<T>): LateSerde<T> {
  const refuse = (): never => {
    throw new MillraceError('MILL_INVARIANT', `Serde ${name} is used before the app's default serdes were given to it.`);
  };
  return Object.freeze({
    name,
    waitsFor: [...new Set(inner.flatMap(({ serde, part }) => (serde === null ? [part] : defaultsOf(serde as unknown as Serde<unknown>))))],
    serialize: refuse,
    deserialize: refuse,
    withDefaults: (defaults: DefaultSerdes) =>
      make(
        inner.map(({ serde, part }) => {
          const found = serde ?? (missing(defaults[part], name, part) as unknown as Serde<never>);
          return found.withDefaults?.(defaults) ?? found;
        }),
      ),
  });
}

function missing(serde: Serde<unknown> | null, name: string, part: Part): Serde<unknown> {
  if (serde !== null) return serde;
  const message = `${name} needs a ${part} serde: name one, or a default${part === 'key' ? 'Key' : 'Value'}Serde.`;
  throw new MillraceError('MILL_CONFIG_INVALID', message, { details: { serde: name, part } });
}
