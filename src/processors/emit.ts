/**
 * When an operator that writes a table tells its children.
 *
 * `onUpdate`: at once, for each record. `onCommit`: once a key and epoch, at the barrier. `onWindowClose`: once a window, when stream time
 * has passed its end and grace. Declared per operator; what reaches the children never depends on the size of a cache.
 */
import type { StateStore } from '../stores/store.js';
import type { OperatorContext } from './operator.js';

/** null: the app's default. */
export type TableEmit = 'onUpdate' | 'onCommit' | null;
/** null: the app's default. */
export type WindowEmit = 'onUpdate' | 'onCommit' | 'onWindowClose' | null;

export function resolveEmit<E extends TableEmit | WindowEmit>(emit: E, context: OperatorContext): NonNullable<E> | 'onUpdate' | 'onCommit' {
  const chosen = emit ?? context.defaultEmit;
  return chosen === 'onCommit' && context.emitsAtOnce === true ? 'onUpdate' : chosen;
}

/** Whether each write is told by way of the store, which leaves out those that change nothing (`emitOnChange`). */
export function tellsThroughStore(emit: WindowEmit, store: StateStore): boolean {
  return emit === 'onUpdate' && store.comparesChanges === true;
}
