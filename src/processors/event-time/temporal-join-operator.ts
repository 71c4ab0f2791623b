/** The temporal join as a node of a task. A row without a value joins nothing: it is dropped and counted, as late ones are without a side output. A version without a value ends what was. */
import type { Downstream, OperatorContext, OperatorSupplier } from '../operator.js';
import { TemporalJoinEngine, type temporalJoinStates, type TemporalJoinResults } from '../temporal-join/temporal-join-engine.js';
import type { Timer } from '../timers/timer-queue.js';
import type { Sided } from './join-side.js';
import { OutboxOperator } from './outbox-operator.js';

export interface TemporalJoinOptions<K, L, R, O> {
  readonly storeName: string;
  readonly states: ReturnType<typeof temporalJoinStates<L, R>>;
  readonly joiner: (left: L, right: R | null, key: K) => O;
  /** Rows that meet no version are joined with null. */
  readonly isLeft: boolean;
  /** The children that take results and late records; null: late records are dropped, and all children take results. */
  readonly sides: { readonly results: string; readonly left: string; readonly right: string } | null;
}

export function temporalJoinOperator<K, L, R, O>(options: TemporalJoinOptions<K, L, R, O>): OperatorSupplier {
  return () => new TemporalJoinOperator(options);
}

class TemporalJoinOperator<K, L, R, O> extends OutboxOperator<K, Sided<L | R | null>> implements TemporalJoinResults<L, R> {
  declare private engine: TemporalJoinEngine<L, R>;
  declare private resultsTo: Downstream;
  declare private lateTo: Readonly<Record<'left' | 'right', Downstream>> | null;

  constructor(private readonly join: TemporalJoinOptions<K, L, R, O>) {
    super({ storeName: join.storeName, states: [join.states.rows, join.states.versions, join.states.current] });
  }

  override init(context: OperatorContext): void {
    const { sides } = this.join;
    this.resultsTo = sides === null ? context.downstream : context.child(sides.results);
    this.lateTo = sides === null ? null : { left: context.child(sides.left), right: context.child(sides.right) };
    super.init(context);
  }

  joined(left: L, right: R | null, timestamp: number): void {
    if (right === null && !this.join.isLeft) return;
    const key = this.states.backend.currentKey() as K;
    this.outbox.add(this.resultsTo, key, this.join.joiner(left, right, key), timestamp);
  }

  late(side: 'left' | 'right', value: L | R | null, timestamp: number): void {
    if (this.lateTo === null) this.context.dropped('late');
    else this.outbox.add(this.lateTo[side], this.states.backend.currentKey(), value, timestamp);
  }

  protected open(): void {
    this.engine = new TemporalJoinEngine(this.join.states, this.states, this.timers, this);
  }

  protected take(_key: K, { side, value }: Sided<L | R | null>, timestamp: number): void {
    if (side === 'right') this.engine.processRight((value ?? null) as R | null, timestamp);
    else if (value === null || value === undefined) this.context.dropped('null-value');
    else this.engine.processLeft(value as L, timestamp);
  }

  protected takeEventTimer(timer: Timer): void {
    this.engine.onEventTimer(timer);
  }
}
