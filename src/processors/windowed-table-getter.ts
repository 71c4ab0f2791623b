/** Rows of windowed tables, looked up by `Windowed` keys. */
import type { SessionStore, SlidingWindowStore, StateStore, TimestampedWindowStore, ValueAndTimestamp } from '../stores/store.js';
import type { Windowed } from '../time/windowed.js';
import type { TableGetter } from './table-getter.js';

/** null when the store holds no windows. */
export function windowedStoreGetter<K, V>(store: StateStore): TableGetter<K, V> | null {
  const fetch = fetchOf<V>(store);
  return fetch === null ? null : new WindowedStoreGetter(fetch);
}

type Fetch<V> = (key: Windowed<unknown>) => ValueAndTimestamp<V> | null;

function fetchOf<V>(store: StateStore): Fetch<V> | null {
  switch (store.kind) {
    case 'timestampedWindow': {
      const windows = store as TimestampedWindowStore<unknown, V>;
      return ({ key, window }) => windows.fetchWithTimestamp(key, window.start);
    }
    case 'slidingWindow': {
      const windows = store as SlidingWindowStore<unknown, V>;
      return ({ key, window }) => windows.fetch(key, window.start);
    }
    case 'session': {
      const sessions = store as SessionStore<unknown, V>;
      // A session's row is as late as its last record.
      return ({ key, window }) => {
        const value = sessions.fetchSession(key, window.start, window.end);
        return value === null ? null : { value, timestamp: window.end };
      };
    }
    default:
      return null;
  }
}

class WindowedStoreGetter<K, V> implements TableGetter<K, V> {
  readonly versioned = false;

  constructor(private readonly fetch: Fetch<V>) {}

  getValue(key: K): V | null {
    return this.get(key)?.value ?? null;
  }

  get(key: K): ValueAndTimestamp<V> | null {
    return this.fetch(key as unknown as Windowed<unknown>);
  }

  getAsOf(key: K): ValueAndTimestamp<V> | null {
    return this.get(key);
  }
}
