/** Errors of a store's serdes: without the store, its task and its key nobody knows which of an app's rows does not fit. */
import { MillraceError } from '../errors.js';
import { reasonOf } from '../errors/bare-message.js';
import { compileSerde } from '../serdes/compile-serde.js';
import type { CompiledSerde } from '../serdes/serde.js';
import { describeBytes, describeValue } from '../serdes/serde-error.js';

/** Of which store a serde is. */
export interface StorePlace {
  readonly name: string;
  readonly taskId: string;
}

/** The serdes of a store, whose errors say whose they are. */
export function storeSerdes(
  place: StorePlace,
  { key, value }: { readonly key: CompiledSerde<unknown>; readonly value: CompiledSerde<unknown> },
): { readonly keySerde: CompiledSerde<unknown>; readonly valueSerde: CompiledSerde<unknown> } {
  return { keySerde: serdeOf(place, 'key', key), valueSerde: serdeOf(place, 'value', value) };
}

/** The serde of a store's keys or values, whose errors name store and task. Those of values that are written don't yet: `valueError` adds the key to them. */
function serdeOf<T>(place: StorePlace, part: 'key' | 'value', { serde }: CompiledSerde<T>): CompiledSerde<T> {
  return compileSerde(serde, (error, doing) => {
    if (part === 'value' && doing === 'encode') return error;
    return placed(place, doing === 'encode' ? `a ${part} does not fit` : `a ${part} that it has can’t be read`, error);
  });
}

/** A value that its serde does not take, or does not read: names store, task and key. */
export function valueError<K>(place: StorePlace, key: K, cause: unknown): MillraceError {
  const shown = typeof key === 'object' ? describeValue(key) : String(key).slice(0, 60);
  return placed(place, `key ${shown}`, unplaced(place, cause));
}

/** As `valueError`, of a key that is not decoded. */
export function valueErrorAt(place: StorePlace, key: Buffer, start: number, end: number, cause: unknown): MillraceError {
  return placed(place, `key of ${describeBytes(key, start, end)}`, unplaced(place, cause));
}

function unplaced(place: StorePlace, cause: unknown): unknown {
  return cause instanceof MillraceError && cause.details['store'] === place.name ? cause.cause : cause;
}

function placed({ name, taskId }: StorePlace, what: string, cause: unknown): MillraceError {
  const details = cause instanceof MillraceError ? cause.details : {};
  return new MillraceError('MILL_SERDE', `Store ${name} of task ${taskId}, ${what}: ${reasonOf(cause, 'MILL_SERDE')}`, {
    cause,
    details: { ...details, store: name, task: taskId },
  });
}
