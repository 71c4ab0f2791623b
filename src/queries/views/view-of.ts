import { anyObject, callback, oneOf, requireOptions, type ShapeOf } from '../../errors/checked-options.js';
import { readShape } from '../read-shape.js';
import type { StoreReads } from '../store-reads.js';
import { KeyValueView } from './key-value-view.js';
import { SessionView } from './session-view.js';
import type { ViewOptions } from './store-view.js';
import { VersionedView } from './versioned-view.js';
import { WindowView } from './window-view.js';

export type AnyView<K, V> = KeyValueView<K, V> | WindowView<K, V> | SessionView<K, V> | VersionedView<K, V>;
export type ViewKind = AnyView<unknown, unknown>['kind'];

const shape = {
  ...readShape,
  kind: oneOf('keyValue', 'window', 'session', 'versioned'),
  atLeast: anyObject,
  partitioner: callback,
} satisfies ShapeOf<ViewOptions<unknown> & { readonly kind?: ViewKind }>;

/** @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_WRONG_TYPE; MILL_QUERY_INVALID for an option that there is not */
export function viewOf<K, V>(queries: StoreReads, name: string, given: ViewOptions<K> & { readonly kind?: ViewKind }): AnyView<K, V> {
  requireOptions('store', given, shape, 'MILL_QUERY_INVALID');
  const { kind = 'keyValue', ...options } = given;
  switch (kind) {
    case 'keyValue':
      return new KeyValueView<K, V>(queries, name, options);
    case 'window':
      return new WindowView<K, V>(queries, name, options);
    case 'session':
      return new SessionView<K, V>(queries, name, options);
    case 'versioned':
      return new VersionedView<K, V>(queries, name, options);
  }
}
