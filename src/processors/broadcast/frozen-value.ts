/** Values that may be handed out without copying: frozen all the way down. */

/** Freezes plain objects and arrays, down to the leaves. False when something in it can't be made unchangeable that way: a Map, a Date, bytes, an object of a class. */
export function frozenDeeply(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return typeof value !== 'function';
  if (!Array.isArray(value) && !isPlain(value)) return false;
  Object.freeze(value);
  let whole = true;
  for (const part of Object.values(value)) if (!frozenDeeply(part)) whole = false;
  return whole;
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === Object.prototype || prototype === null;
}
