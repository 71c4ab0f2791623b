/**
 * Rows that functions may change in place share no object with anything else: the record that a row begins with is also what other branches of the topology see, and what other windows begin
 * with. Kafka Streams has the same by serialising each row.
 */
import { isPromiseLike } from '../bytes/maybe-async.js';
import type { Serde } from '../serdes/serde.js';
import type { OperatorContext } from './operator.js';
import type { Awaitable } from './user-functions.js';
import { serialized } from '../serdes/serialized.js';

export class OwnValues<A> {
  private ready: Serde<A> | null = null;

  /** @param serde of the rows; null: the app's */
  constructor(
    private readonly context: Pick<OperatorContext, 'serde'>,
    private readonly serde: Serde<unknown> | null,
  ) {}

  /** What a new row begins with: `result`, or a copy when that is the very value the function was given. */
  first(result: Awaitable<A | null>, given: unknown): Awaitable<A | null> {
    if (isPromiseLike(result)) return result.then((later) => this.first(later, given));
    return result === given && result !== null ? this.copy(result) : result;
  }

  /** As it would come back from the store; primitives are their own copies. */
  copy(value: A): Awaitable<A> {
    if (typeof value !== 'object' || value === null) return value;
    // Asked for here and not at the start: rows of primitives need no serde of the operator's.
    const serde = (this.ready ??= this.context.serde(this.serde as Serde<A> | null, 'value').serde);
    return serde.deserialize(Buffer.from(serialized(serde, value)));
  }
}
