/** A store as those see it who may read it and nothing else: every instance has its own copy of a global store, and what one of them wrote into it would be in no other. */
import { MillraceError } from '../errors.js';
import type { StateStore } from '../stores/store.js';

/** All that change a store, of every kind of store. */
const writes: ReadonlySet<unknown> = new Set([
  'put',
  'putIfAbsent',
  'putAll',
  'delete',
  'write',
  'drain',
  'drainChanges',
  'drainClosed',
  'skipClosed',
]);

type Method = (...args: unknown[]) => unknown;

/**
 * @param node who asks for it, for the error
 * @returns the same store, whose writing methods throw MILL_STORE_READ_ONLY
 */
export function readOnlyStore<S extends StateStore>(store: S, node: string): S {
  const refuse = (): never => {
    throw new MillraceError('MILL_STORE_READ_ONLY', `${node} writes to the global store ${store.name}, which only its own topic changes.`, {
      details: { store: store.name, node },
    });
  };
  // Methods are bound once: a reader is called for each record.
  const bound = new Map<string | symbol, Method>();
  return new Proxy(store, {
    get: (target, name) => {
      const known = bound.get(name);
      if (known !== undefined) return known;
      const member: unknown = Reflect.get(target, name, target);
      if (typeof member !== 'function') return member;
      const method = writes.has(name) ? refuse : (member.bind(target) as Method);
      bound.set(name, method);
      return method;
    },
  });
}
