/** Runs a user's KeyedProcessor as a node: binds state and timers to the key of each record and timer. */
import { noHeaders } from '../../bytes/headers.js';
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import { ForwardScope } from '../forward-scope.js';
import type { OperatorContext, OperatorSupplier } from '../operator.js';
import type { Record } from '../processor.js';
import type { OperatorStateStore } from '../operator-state/operator-states.js';
import { UserContext } from '../user-context.js';
import { noNamespace } from '../state/keyed-state-backend.js';
import type { KeyedStates, StateAccess } from '../state/keyed-states.js';
import type { AnyStateDescriptor } from '../state/state-descriptor.js';
import type { Timer } from '../timers/timer-queue.js';
import type { TimerKind, TimerService } from '../timers/timer-service.js';
import { KeyedOperator, type KeyedOperatorOptions } from './keyed-operator.js';
import type { FiredTimer, KeyedProcessor, KeyedProcessorContext, KeyTimers } from './keyed-processor.js';

export function keyedProcessOperator<K, V, KOut, VOut>(
  supplier: () => KeyedProcessor<K, V, KOut, VOut>,
  options: KeyedOperatorOptions,
): OperatorSupplier {
  return () => new KeyedProcessOperator(supplier(), options);
}

export class KeyedProcessOperator<K, V, KOut, VOut> extends KeyedOperator<K, V> {
  declare protected scope: ForwardScope;

  constructor(
    private readonly processor: KeyedProcessor<K, V, KOut, VOut>,
    options: KeyedOperatorOptions,
  ) {
    super(options);
  }

  /** What the processor gets: kept apart for those that get more. */
  protected userContext(): KeyedContext<K, KOut, VOut> {
    return new KeyedContext<K, KOut, VOut>(this.context, this.scope, this.states, this.timers, this.options.operatorStates);
  }

  close(): MaybeAsync {
    return this.processor.close?.();
  }

  protected open(): void {
    this.scope = new ForwardScope(this.context);
    const user = this.userContext();
    this.scope.initialise(() => this.processor.init?.(user));
  }

  protected onRecord(key: K, value: V, timestamp: number): MaybeAsync {
    const headers = this.context.record.headers();
    return this.scope.run(this.userProcess, { key, value, timestamp, headers }, timestamp, headers);
  }

  protected onEventTimer(timer: Timer): MaybeAsync {
    // Records have no time before the epoch, and no part of a millisecond.
    return this.fire('event', timer, Math.max(0, Math.floor(timer.time)));
  }

  protected onProcessingTimer(timer: Timer): MaybeAsync {
    return this.fire('processing', timer, this.context.wallClock());
  }

  private fire(kind: TimerKind, { key, time }: Timer, timestamp: number): MaybeAsync {
    return this.scope.run(this.userTimer, { kind, key: key as K, time }, timestamp, noHeaders);
  }

  private readonly userProcess = (record: Record<K, V>): MaybeAsync => this.processor.process(record);
  private readonly userTimer = (timer: FiredTimer<K>): MaybeAsync => this.processor.onTimer?.(timer);
}

export class KeyedContext<K, KOut, VOut> extends UserContext<KOut, VOut> implements KeyedProcessorContext<K, KOut, VOut> {
  readonly timers: KeyTimers;
  readonly state: StateAccess['state'];

  constructor(
    private readonly operator: OperatorContext,
    scope: ForwardScope,
    private readonly states: KeyedStates,
    private readonly service: TimerService,
    operatorStates?: readonly OperatorStateStore[],
  ) {
    super(operator, scope, operatorStates);
    this.timers = new UserTimers(operator, service);
    this.state = (descriptor: AnyStateDescriptor) => states.state(descriptor as never) as never;
  }

  currentKey(): K {
    return this.states.backend.currentKey() as K;
  }

  watermark(): number {
    return this.service.currentWatermark;
  }
}

class UserTimers implements KeyTimers {
  constructor(
    private readonly context: OperatorContext,
    private readonly service: TimerService,
  ) {}

  registerEventTimer(time: number): void {
    if (!this.context.hasWatermarks) {
      throw new MillraceError(
        'MILL_STATE_INVALID',
        `${this.context.nodeName} registers an event-time timer, but nothing moves event time here: give the source \`watermarks\`.`,
        { details: { node: this.context.nodeName } },
      );
    }
    this.service.registerEventTimer(noNamespace, time);
  }

  registerProcessingTimer(time: number): void {
    this.service.registerProcessingTimer(noNamespace, time);
  }

  deleteEventTimer(time: number): void {
    this.service.deleteEventTimer(noNamespace, time);
  }

  deleteProcessingTimer(time: number): void {
    this.service.deleteProcessingTimer(noNamespace, time);
  }
}
