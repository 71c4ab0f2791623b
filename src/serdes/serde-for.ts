import type { Serde } from './serde.js';

/**
 * A serde that can carry values of type `T`: one of `T`, or one of the type that its literals and brands belong to, so that `serdes.string` carries `'open' | 'closed'`. What is read through it is
 * what was written, so the stream keeps `T`.
 */
export type SerdeFor<T> = Serde<T> | Serde<Widened<T>>;

/** For what a function makes: as `SerdeFor`, or a serde that takes anything, as `serdes.json()` without a type. */
export type ResultSerde<T> = SerdeFor<T> | SerdeOfAnything;

/** `T` with `string`, `number`, `bigint` and `boolean` in place of their literals and brands. */
export type Widened<T> = T extends string
  ? string
  : T extends number
    ? number
    : T extends bigint
      ? bigint
      : T extends boolean
        ? boolean
        : T;

/** A `Serde<unknown>`. `serialize` is a property, which the compiler checks more strictly than a method: a serde of one type does not pass for one of all. */
export interface SerdeOfAnything {
  /** Shown in errors and in `topology.describe()`. */
  readonly name: string;
  /** Bytes of a value. */
  readonly serialize: (value: unknown) => Uint8Array;
}

/** The serde as one of `T`: it reads nothing but what was written through it, and only `T`s are. */
export function serdeOf<T>(serde: ResultSerde<T>): Serde<T>;
export function serdeOf<T>(serde: ResultSerde<T> | undefined): Serde<T> | undefined;
export function serdeOf<T>(serde: ResultSerde<T> | undefined): Serde<T> | undefined {
  return serde as Serde<T> | undefined;
}
