import { metadataForAll, metadataForKey, metadataForStore } from '../queries/metadata.js';
import type { InstanceMetadata, KeyMetadata, KeyMetadataOptions } from '../queries/metadata.js';
import { storeInfos, type StoreInfo } from '../queries/store-info.js';
import type { StateQueryRequest, StateQueryResult } from '../queries/state-query.js';
import type { KeyValueView } from '../queries/views/key-value-view.js';
import type { SessionView } from '../queries/views/session-view.js';
import type { ViewOptions } from '../queries/views/store-view.js';
import { viewOf, type AnyView, type ViewKind } from '../queries/views/view-of.js';
import type { VersionedView } from '../queries/views/versioned-view.js';
import type { WindowView } from '../queries/views/window-view.js';
import type { StoreReads } from '../queries/store-reads.js';

/** The part of an app that reads its stores from outside. All of it is read-only. */
export abstract class StoreAccess {
  protected abstract readonly queries: StoreReads;

  /**
   * A read-only view of a store by its name, over the partitions that this instance runs. A view is light: make one where you need it, also before `start`.
   * `kind` tells the store's kind, which decides what can be asked: `keyValue` (default), `window`, `session`, `versioned`.
   *
   * Reads throw, rather than come back empty: MILL_STORE_NOT_AVAILABLE while the app starts or a partition is moved or restored; MILL_STORE_NOT_LOCAL for keys
   * and partitions of other instances; MILL_STORE_NOT_UP_TO_BOUND when `atLeast` is not reached within `timeout`; MILL_STORE_MIGRATED when a partition leaves
   * during the read; MILL_SERDE for a key that is none of the store's; MILL_STORE_IO.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_STORE_WRONG_TYPE; MILL_QUERY_INVALID for an option that there is not
   * @example
   * const counts = app.store<string, number>('counts');
   * await counts.get('to');
   * for await (const { key, value } of counts.range({ from: 'a', to: 'c' })) console.log(key, value);
   */
  store<K = unknown, V = unknown>(name: string, options?: ViewOptions<K> & { readonly kind?: 'keyValue' }): KeyValueView<K, V>;
  store<K = unknown, V = unknown>(name: string, options: ViewOptions<K> & { readonly kind: 'window' }): WindowView<K, V>;
  store<K = unknown, V = unknown>(name: string, options: ViewOptions<K> & { readonly kind: 'session' }): SessionView<K, V>;
  store<K = unknown, V = unknown>(name: string, options: ViewOptions<K> & { readonly kind: 'versioned' }): VersionedView<K, V>;
  store<K, V>(name: string, options: ViewOptions<K> & { readonly kind?: ViewKind } = {}): AnyView<K, V> {
    return viewOf<K, V>(this.queries, name, options);
  }

  /**
   * Asks a store partition by partition: each answers, with the position it reflects, or says why not. Made by `queries`.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE; MILL_STORE_NOT_AVAILABLE when the app does not run, or nothing commits within `timeout`; MILL_QUERY_INVALID for an option
   * that there is not, and without a query
   */
  query<R>(request: StateQueryRequest<R>): Promise<StateQueryResult<R>> {
    return this.queries.query(request);
  }

  /** The stores that `store` and `query` can read. */
  stores(): readonly StoreInfo[] {
    return storeInfos(this.queries);
  }

  /**
   * Every instance of the app, with its `applicationServer` and what it has, as of the last assignment of the group.
   *
   * @throws MILL_STORE_NOT_AVAILABLE before the first one, and when the app does not run
   */
  metadataForAll(): readonly InstanceMetadata[] {
    return metadataForAll(this.queries.host);
  }

  /** Instances that have a partition of the store, or a copy of one. @throws MILL_TOPOLOGY_UNKNOWN_STORE, and as `metadataForAll` */
  metadataForStore(store: string): readonly InstanceMetadata[] {
    return metadataForStore(this.queries, store);
  }

  /**
   * The instance that runs the partition of a key, and those that keep a copy of it.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE, MILL_SERDE, MILL_QUERY_INVALID for an option that there is not, and as `metadataForAll`
   */
  metadataForKey<K>(store: string, key: K, options: KeyMetadataOptions<K> = {}): KeyMetadata {
    return metadataForKey(this.queries, store, key, options);
  }
}
