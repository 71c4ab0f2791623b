/** The stores of an operator, checked by kind: a wrong kind is an error at the start and not a failure at the first record. */
import { MillraceError } from '../errors.js';
import type {
  JoinWindowStore,
  SessionStore,
  SlidingWindowStore,
  StateStore,
  StoreKind,
  TimeOrderedBuffer,
  TimestampedKeyValueStore,
  TimestampedWindowStore,
  VersionedKeyValueStore,
} from '../stores/store.js';
import type { OperatorContext } from './operator.js';
import { VersionedRows } from './versioned-rows.js';

export function keyValueStore<K, V>(context: OperatorContext, name: string): TimestampedKeyValueStore<K, V> {
  return connectedStore(context, name, 'timestampedKeyValue') as TimestampedKeyValueStore<K, V>;
}

/** A store of versions as rows to write; null when the store is of another kind. */
export function versionedRows<K, V>(context: OperatorContext, name: string): VersionedRows<K, V> | null {
  return context.store(name).kind === 'versioned' ? new VersionedRows(versionedStore<K, V>(context, name)) : null;
}

export function windowStore<K, V>(context: OperatorContext, name: string): TimestampedWindowStore<K, V> {
  return connectedStore(context, name, 'timestampedWindow') as TimestampedWindowStore<K, V>;
}

export function versionedStore<K, V>(context: OperatorContext, name: string): VersionedKeyValueStore<K, V> {
  return connectedStore(context, name, 'versioned') as VersionedKeyValueStore<K, V>;
}

export function joinWindowStore<K, V>(context: OperatorContext, name: string): JoinWindowStore<K, V> {
  return connectedStore(context, name, 'joinWindow') as JoinWindowStore<K, V>;
}

export function timeOrderedBuffer<K, V>(context: OperatorContext, name: string): TimeOrderedBuffer<K, V> {
  return connectedStore(context, name, 'timeOrderedBuffer') as TimeOrderedBuffer<K, V>;
}

export function sessionStore<K, V>(context: OperatorContext, name: string): SessionStore<K, V> {
  return connectedStore(context, name, 'session') as SessionStore<K, V>;
}

export function slidingWindowStore<K, V>(context: OperatorContext, name: string): SlidingWindowStore<K, V> {
  return connectedStore(context, name, 'slidingWindow') as SlidingWindowStore<K, V>;
}

/** @throws MILL_STORE_WRONG_TYPE when it is of another kind */
export function connectedStore(context: OperatorContext, name: string, kind: StoreKind): StateStore {
  const store = context.store(name);
  if (store.kind !== kind) {
    throw new MillraceError('MILL_STORE_WRONG_TYPE', `Store ${name} is of kind ${store.kind}; ${context.nodeName} needs ${kind}.`, {
      details: { store: name, node: context.nodeName, kind: store.kind, needed: kind },
    });
  }
  return store;
}
