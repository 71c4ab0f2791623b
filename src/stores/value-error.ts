import { MillraceError } from '../errors.js';

/** A value that its serde does not take: names store, task and key. */
export function valueError<K>(store: { readonly name: string; readonly taskId: string }, key: K, cause: unknown): MillraceError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const shown = (typeof key === 'object' ? JSON.stringify(key) : String(key)).slice(0, 60);
  return new MillraceError('MILL_SERDE', `Store ${store.name} of task ${store.taskId}, key ${shown}: ${reason}`, {
    cause,
    details: { store: store.name, task: store.taskId },
  });
}
