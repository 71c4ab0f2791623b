/** What processors of users see of the engine, over the context of their node. */
import { noHeaders } from '../bytes/headers.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { StateStore, StoreKind } from '../stores/store.js';
import type { OperatorListState, OperatorStateAccess } from './operator-state/operator-list-state.js';
import type { OperatorListStateDescriptor } from './operator-state/operator-state-descriptor.js';
import { noOperatorStates, OperatorStates, type OperatorStateStore } from './operator-state/operator-states.js';
import { checkTimer } from './checked-timer.js';
import { connectedStore } from './connected-store.js';
import type { ForwardScope } from './forward-scope.js';
import { notForwarded } from './forwarded-record.js';
import type { Cancellable, Downstream, OperatorContext, ScheduleOptions } from './operator.js';
import { systemRandomness } from './randomness.js';
import { readOnlyStore } from './read-only-store.js';
import type { ProcessingContext, ProcessorContext, RecordMetadata } from './processor.js';

export abstract class BaseUserContext implements ProcessingContext, OperatorStateAccess {
  readonly applicationId: string;
  readonly taskId: string;
  readonly partition: number;
  private readonly operatorStates: OperatorStates;

  constructor(
    private readonly context: OperatorContext,
    protected readonly scope: ForwardScope,
    operatorStates: readonly OperatorStateStore[] = noOperatorStates,
  ) {
    this.applicationId = context.applicationId;
    this.taskId = context.taskId;
    this.partition = context.partition;
    this.operatorStates = new OperatorStates(context, scope, operatorStates);
  }

  store<S extends StateStore = StateStore>(name: string, kind?: StoreKind): S {
    const { context } = this;
    const store = kind === undefined ? context.store(name) : connectedStore(context, name, kind);
    return (context.isGlobalStore?.(name) === true ? readOnlyStore(store, context.nodeName) : store) as S;
  }

  operatorState<V>(descriptor: OperatorListStateDescriptor<V>): OperatorListState<V> {
    return this.operatorStates.list(descriptor);
  }

  schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    checkTimer(options, callback);
    return this.context.schedule(options, (timestamp) => {
      this.enterTimer();
      return this.scope.run(callback, timestamp, timestamp, noHeaders);
    });
  }

  recordMetadata(): RecordMetadata | null {
    const { topic, partition, offset } = this.context.record;
    return topic === null ? null : { topic, partition, offset };
  }

  streamTime(): number {
    return this.context.streamTime();
  }

  wallClock(): number {
    return this.context.wallClock();
  }

  now(): number {
    return this.context.wallClock();
  }

  random(): number {
    return (this.context.randomness ?? systemRandomness).number();
  }

  uuid(): string {
    return (this.context.randomness ?? systemRandomness).uuid();
  }

  commit(): void {
    this.context.requestCommit();
  }

  /** Before the callback of a timer: what belongs to a record belongs to none now. */
  protected enterTimer(): void {
    // Nothing here does.
  }

  protected target(child: string | undefined): Downstream {
    return child === undefined ? this.context.downstream : this.context.child(child);
  }
}

export class UserContext<KOut, VOut> extends BaseUserContext implements ProcessorContext<KOut, VOut> {
  forward(record: Parameters<ProcessorContext<KOut, VOut>['forward']>[0], child?: string): MaybeAsync {
    const { key, value } = record;
    if (key === undefined || value === undefined) throw notForwarded(record, ['key', 'value']);
    return this.scope.forward(this.target(child), key, value, record.timestamp, record.headers);
  }
}
