/** What a step on the record path returns: nothing, unless something in it has to be awaited. */
export type MaybeAsync = void | Promise<void>;

export function isPromiseLike(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}
