/**
 * A map has no place under no key. Told where it is written, as an error of the user function that does it: stores would find out when the record can't be skipped any more.
 *
 * @param call as in `put of rules`
 * @throws TypeError
 */
export function requireMapKey(call: string, state: string, key: unknown): void {
  if (key !== null && key !== undefined) return;
  throw new TypeError(
    `${call} of ${state}: the key is ${String(key)}. Map state needs one: leave out the records that have none, or use another key for them.`,
  );
}
