import type { StoreQueries } from '../store-queries.js';
import { KeyValueView } from './key-value-view.js';
import { SessionView } from './session-view.js';
import type { ViewOptions } from './store-view.js';
import { VersionedView } from './versioned-view.js';
import { WindowView } from './window-view.js';

export type AnyView<K, V> = KeyValueView<K, V> | WindowView<K, V> | SessionView<K, V> | VersionedView<K, V>;
export type ViewKind = AnyView<unknown, unknown>['kind'];

/** @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_WRONG_TYPE */
export function viewOf<K, V>(
  queries: StoreQueries,
  name: string,
  { kind = 'keyValue', ...options }: ViewOptions<K> & { readonly kind?: ViewKind },
): AnyView<K, V> {
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
