/** The interval join as a node of a task. Records without a value join nothing: they are dropped and counted, as late ones are without a side output. */
import type { InclusiveBounds } from '../interval-join/interval-bounds.js';
import {
  IntervalJoinEngine,
  type intervalJoinStates,
  type IntervalJoinResults,
  type JoinSide,
} from '../interval-join/interval-join-engine.js';
import type { Downstream, OperatorContext, OperatorSupplier } from '../operator.js';
import type { Timer } from '../timers/timer-queue.js';
import type { Sided } from './join-side.js';
import { OutboxOperator } from './outbox-operator.js';

export interface IntervalJoinOptions<K, L, R, O> {
  readonly storeName: string;
  readonly bounds: InclusiveBounds;
  readonly buffers: ReturnType<typeof intervalJoinStates<L, R>>;
  readonly joiner: (left: L, right: R, key: K) => O;
  /** The children that take results and late records; null: late records are dropped, and all children take results. */
  readonly sides: { readonly results: string; readonly left: string; readonly right: string } | null;
}

export function intervalJoinOperator<K, L, R, O>(options: IntervalJoinOptions<K, L, R, O>): OperatorSupplier {
  return () => new IntervalJoinOperator(options);
}

class IntervalJoinOperator<K, L, R, O> extends OutboxOperator<K, Sided<L | R>> implements IntervalJoinResults<L, R> {
  declare private engine: IntervalJoinEngine<L, R>;
  declare private resultsTo: Downstream;
  declare private lateTo: Readonly<Record<JoinSide, Downstream>> | null;

  constructor(private readonly join: IntervalJoinOptions<K, L, R, O>) {
    super({ storeName: join.storeName, states: [join.buffers.left, join.buffers.right] });
  }

  override init(context: OperatorContext): void {
    const { sides } = this.join;
    this.resultsTo = sides === null ? context.downstream : context.child(sides.results);
    this.lateTo = sides === null ? null : { left: context.child(sides.left), right: context.child(sides.right) };
    super.init(context);
  }

  joined(left: L, right: R, timestamp: number): void {
    const key = this.states.backend.currentKey() as K;
    this.outbox.add(this.resultsTo, key, this.join.joiner(left, right, key), timestamp);
  }

  late(side: JoinSide, value: L | R, timestamp: number): void {
    if (this.lateTo === null) this.context.dropped('late');
    else this.outbox.add(this.lateTo[side], this.states.backend.currentKey(), value, timestamp);
  }

  protected open(): void {
    this.engine = new IntervalJoinEngine(this.join.bounds, this.join.buffers, this.states, this.timers, this);
  }

  protected take(_key: K, { side, value }: Sided<L | R>, timestamp: number): void {
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    if (side === 'left') this.engine.processLeft(value as L, timestamp);
    else this.engine.processRight(value as R, timestamp);
  }

  protected takeEventTimer(timer: Timer): void {
    this.engine.onEventTimer(timer);
  }
}
