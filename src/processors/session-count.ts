/** `count` of a stream by key and session. Results carry `Windowed` keys. */
import type { SessionRow } from '../stores/store.js';
import type { OperatorSupplier } from './operator.js';
import { SessionAggregation, type SessionAggregationOptions } from './session-aggregation.js';

export function sessionCountOperator(options: SessionAggregationOptions): OperatorSupplier {
  return () => new SessionCountOperator(options);
}

class SessionCountOperator<K, V> extends SessionAggregation<K, V, number> {
  readonly ignoresValue = true;

  protected next(sessions: readonly SessionRow<number>[]): number {
    let count = 1;
    for (let i = 0; i < sessions.length; i++) count += (sessions[i] as SessionRow<number>).value;
    return count;
  }
}
