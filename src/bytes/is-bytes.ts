import { types } from 'node:util';

/** Whether a value is a byte array, also one of another realm, as test runners have them. */
export function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array || types.isUint8Array(value);
}
