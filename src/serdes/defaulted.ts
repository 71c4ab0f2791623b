/** Serdes made of others that may be left to the app: they become whole when the app's defaults are known. */
import { MillraceError } from '../errors.js';
import { compileSerde } from './compile-serde.js';
import type { CompiledSerde, DefaultSerdes, Serde, SerdeUse } from './serde.js';

/** A serde to be put into another one. null: the app's default for that part. */
export interface InnerSerde<T> {
  readonly serde: Serde<T> | null;
  readonly part: 'key' | 'value';
}

/**
 * A serde made by `make` out of `inner`, in that order, once the app's defaults are known. Until then it refuses to work.
 *
 * @throws MILL_CONFIG_INVALID from `withDefaults` when an inner serde is neither given nor a default.
 */
export function defaultedSerde<T>(
  name: string,
  inner: readonly InnerSerde<never>[],
  make: (inner: readonly CompiledSerde<never>[]) => Serde<T>,
): Serde<T> {
  const refuse = (): never => {
    throw new MillraceError('MILL_INVARIANT', `Serde ${name} is used before the app's default serdes were given to it.`);
  };
  return Object.freeze({
    name,
    serialize: refuse,
    deserialize: refuse,
    withDefaults: (defaults: DefaultSerdes) => {
      const chosen = inner.map(({ serde, part }) => {
        const found = serde ?? missing(defaults[part], name, part);
        return found.withDefaults?.(defaults) ?? found;
      });
      const whole = make(chosen.map((serde) => compileSerde(serde as Serde<never>)));
      const prepare = async (use: SerdeUse): Promise<void> => {
        for (const serde of chosen) await serde.prepare?.(use);
      };
      return Object.freeze({ ...whole, prepare });
    },
  });
}

function missing(serde: Serde<unknown> | null, name: string, part: 'key' | 'value'): Serde<unknown> {
  if (serde !== null) return serde;
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `${name} needs a ${part} serde: name one, or a default${part === 'key' ? 'Key' : 'Value'}Serde.`,
    {
      details: { serde: name, part },
    },
  );
}
