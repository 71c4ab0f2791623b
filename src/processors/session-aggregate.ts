/**
 * `aggregate` of a stream by key and session. Results carry `Windowed` keys.
 *
 * As in Kafka Streams each record starts from a fresh initial aggregate, into which the sessions that it joins are merged, by end, before its value is
 * added: `aggregator(merger(merger(initial, first), second), value)`.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { SessionRow } from '../stores/store.js';
import type { OperatorSupplier } from './operator.js';
import { SessionAggregation, type SessionAggregationOptions } from './session-aggregation.js';
import type { Aggregator, Awaitable, Initializer, SessionMerger } from './user-functions.js';

export interface SessionAggregateOptions<K, V, A> extends SessionAggregationOptions {
  readonly initializer: Initializer<A>;
  readonly aggregator: Aggregator<K, V, A>;
  readonly merger: SessionMerger<K, A>;
}

export function sessionAggregateOperator<K, V, A>(options: SessionAggregateOptions<K, V, A>): OperatorSupplier {
  return () => new SessionAggregateOperator(options);
}

class SessionAggregateOperator<K, V, A> extends SessionAggregation<K, V, A> {
  private readonly initializer: Initializer<A>;
  private readonly aggregator: Aggregator<K, V, A>;
  private readonly merger: SessionMerger<K, A>;

  constructor(options: SessionAggregateOptions<K, V, A>) {
    super(options);
    this.initializer = options.initializer;
    this.aggregator = options.aggregator;
    this.merger = options.merger;
  }

  protected next(sessions: readonly SessionRow<A>[], value: V, key: K): Awaitable<A | null> {
    const initial = this.initializer();
    if (isPromiseLike(initial)) return this.nextLater(initial, sessions, 0, value, key);
    let merged: A = initial;
    for (let i = 0; i < sessions.length; i++) {
      const both = this.merger(merged, (sessions[i] as SessionRow<A>).value, key);
      if (isPromiseLike(both)) return this.nextLater(both as PromiseLike<A>, sessions, i + 1, value, key);
      merged = both as A;
    }
    return this.aggregator(merged, value, key);
  }

  private async nextLater(pending: PromiseLike<A>, sessions: readonly SessionRow<A>[], at: number, value: V, key: K): Promise<A | null> {
    let merged: A = await pending;
    for (let i = at; i < sessions.length; i++) merged = (await this.merger(merged, (sessions[i] as SessionRow<A>).value, key)) as A;
    return this.aggregator(merged, value, key);
  }
}
