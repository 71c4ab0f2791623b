/**
 * Lists have no null, as in Flink: what is there can be told from nothing. Told where it is added, as an error of the user function that does it, and before anything of it is added.
 *
 * @param call as in `add of words`
 * @throws TypeError
 */
export function requireElement(call: string, state: string, value: unknown): void {
  if (value !== null && value !== undefined) return;
  throw new TypeError(`${call} of ${state}: an element is ${String(value)}, and lists have none such`);
}

/** As `requireElement`, of each. */
export function requireElements(call: string, state: string, values: unknown): void {
  if (!Array.isArray(values)) throw new TypeError(`${call} of ${state}: the elements must be an array, not ${shown(values)}`);
  // Not `forEach`, which leaves out the holes of an array.
  for (const value of values as readonly unknown[]) requireElement(call, state, value);
}

function shown(given: unknown): string {
  if (given === null || given === undefined) return String(given);
  return typeof given === 'object' ? 'an object' : `a ${typeof given}`;
}
