/** The window engine as a node of a task: results carry `Windowed` keys; late records go to a child of their own, or are dropped and counted. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { Windowed } from '../../time/windowed.js';
import { maxTimestamp } from '../../time/windowing/window-span.js';
import type { Downstream, OperatorContext, OperatorSupplier } from '../operator.js';
import type { Timer } from '../timers/timer-queue.js';
import { recordsIn } from '../two-stage/part.js';
import type { WindowInfo } from '../windowing/window-context.js';
import { WindowEngine, type WindowDefinition, type WindowResults } from '../windowing/window-engine.js';
import type { KeyedOperatorOptions } from './keyed-operator.js';
import { OutboxOperator } from './outbox-operator.js';

export interface WindowOperatorOptions<K, V, C, R> extends KeyedOperatorOptions {
  readonly definition: WindowDefinition<K, V, C, R>;
  /** The children that take results and late records; null: late records are dropped, and all children take results. */
  readonly sides: { readonly results: string; readonly late: readonly string[] } | null;
}

export function windowOperator<K, V, C, R>(options: WindowOperatorOptions<K, V, C, R>): OperatorSupplier {
  return () => new WindowOperator(options);
}

class WindowOperator<K, V, C, R> extends OutboxOperator<K, V> implements WindowResults<K, V, R> {
  declare private engine: WindowEngine<K, V, C, R>;
  declare private resultsTo: Downstream;
  declare private lateTo: readonly Downstream[] | null;

  constructor(private readonly operator: WindowOperatorOptions<K, V, C, R>) {
    super(operator);
  }

  override init(context: OperatorContext): void {
    const { sides } = this.operator;
    this.resultsTo = sides === null ? context.downstream : context.child(sides.results);
    this.lateTo = sides === null ? null : sides.late.map((child) => context.child(child));
    super.init(context);
  }

  /** A window holds values; a deletion is none, as in windows of stream time. */
  override process(key: K, value: V, timestamp: number): MaybeAsync {
    if (value === null || value === undefined) {
      this.context.dropped('null-value');
      return;
    }
    return super.process(key, value, timestamp);
  }

  result(key: K, result: R, { window }: WindowInfo): void {
    const last = maxTimestamp(window);
    this.outbox.add(this.resultsTo, new Windowed(key, window), result, last === Infinity ? this.context.record.timestamp : last);
  }

  late(key: K, value: V, timestamp: number): void {
    if (this.lateTo === null) this.context.dropped('late', recordsIn(value));
    else for (const child of this.lateTo) this.outbox.add(child, key, value, timestamp);
  }

  protected open(): void {
    this.engine = new WindowEngine(this.operator.definition, this.states, this.timers, this);
  }

  protected take(key: K, value: V, timestamp: number): void {
    this.engine.process(key, value, timestamp);
  }

  protected takeEventTimer(timer: Timer): void {
    this.engine.onEventTimer(timer);
  }

  protected override takeProcessingTimer(timer: Timer): void {
    this.engine.onProcessingTimer(timer);
  }
}
