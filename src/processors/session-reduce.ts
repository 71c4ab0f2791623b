/** `reduce` of a stream by key and session: sessions that become one are combined by the reducer too. Results carry `Windowed` keys. */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { SessionRow } from '../stores/store.js';
import type { OperatorSupplier } from './operator.js';
import { SessionAggregation, type SessionAggregationOptions } from './session-aggregation.js';
import type { Awaitable, Reducer } from './user-functions.js';

export interface SessionReduceOptions<K, V> extends SessionAggregationOptions {
  readonly reducer: Reducer<K, V>;
}

export function sessionReduceOperator<K, V>(options: SessionReduceOptions<K, V>): OperatorSupplier {
  return () => new SessionReduceOperator(options);
}

class SessionReduceOperator<K, V> extends SessionAggregation<K, V, V> {
  private readonly reducer: Reducer<K, V>;

  constructor(options: SessionReduceOptions<K, V>) {
    super(options);
    this.reducer = options.reducer;
  }

  protected next(sessions: readonly SessionRow<V>[], value: V, key: K): Awaitable<V | null> {
    let all: V | null = null;
    for (let i = 0; i <= sessions.length; i++) {
      const next = i === sessions.length ? value : (sessions[i] as SessionRow<V>).value;
      const combined: Awaitable<V | null> = all === null ? next : this.reducer(all, next, key);
      if (isPromiseLike(combined)) return this.nextLater(combined, sessions, i + 1, value, key);
      all = combined;
    }
    return all;
  }

  private async nextLater(
    pending: PromiseLike<V | null>,
    sessions: readonly SessionRow<V>[],
    at: number,
    value: V,
    key: K,
  ): Promise<V | null> {
    let all: V | null = await pending;
    for (let i = at; i <= sessions.length; i++) {
      const next = i === sessions.length ? value : (sessions[i] as SessionRow<V>).value;
      all = all === null ? next : await this.reducer(all, next, key);
    }
    return all;
  }
}
