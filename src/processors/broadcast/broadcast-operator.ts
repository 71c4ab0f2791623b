/** Runs a user's BroadcastProcessor as a node: a processor that takes the records of a broadcast stream too. Keys play no part; records without one are taken. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { checkTimer } from '../checked-timer.js';
import { ForwardScope } from '../forward-scope.js';
import type { Cancellable, Operator, OperatorContext, OperatorSupplier, ScheduleOptions } from '../operator.js';
import type { Record } from '../processor.js';
import type { MapStateDescriptor } from '../state/state-descriptor.js';
import { noOperatorStates, type OperatorStateStore } from '../operator-state/operator-states.js';
import { UserContext } from '../user-context.js';
import type { BroadcastAccess, BroadcastProcessor, BroadcastProcessorContext } from './broadcast-processor.js';
import { FromBroadcast } from './broadcast-side.js';
import type { BroadcastState, ReadonlyBroadcastState } from './broadcast-state.js';
import { BroadcastStates, type BroadcastStateStore } from './broadcast-states.js';

type AnyProcessor<KOut, VOut> = BroadcastProcessor<unknown, unknown, unknown, unknown, KOut, VOut>;

export function broadcastOperator<KOut, VOut>(
  supplier: () => AnyProcessor<KOut, VOut>,
  states: readonly BroadcastStateStore[],
  operatorStates: readonly OperatorStateStore[] = noOperatorStates,
): OperatorSupplier {
  return () => new BroadcastOperator(supplier(), states, operatorStates);
}

class BroadcastOperator<KOut, VOut> implements Operator {
  declare private context: OperatorContext;
  declare private scope: ForwardScope;
  declare private broadcast: BroadcastStates;
  private loaded = false;

  constructor(
    private readonly processor: AnyProcessor<KOut, VOut>,
    private readonly states: readonly BroadcastStateStore[],
    private readonly operatorStates: readonly OperatorStateStore[],
  ) {}

  init(context: OperatorContext): void {
    this.context = context;
    this.scope = new ForwardScope(context);
    this.broadcast = new BroadcastStates(context, this.states);
    const user = new BroadcastContext<KOut, VOut>(context, this.scope, this.broadcast, this.operatorStates);
    this.scope.initialise(() => this.processor.init?.(user));
  }

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    if (!this.loaded) return this.load().then(() => this.process(key, value, timestamp));
    const headers = this.context.record.headers();
    if (!(value instanceof FromBroadcast)) return this.scope.run(this.userProcess, { key, value, timestamp, headers }, timestamp, headers);
    const record: Record<unknown, unknown> = { key, value: (value as FromBroadcast).value, timestamp, headers };
    return this.broadcast.during(() => this.scope.run(this.userBroadcast, record, timestamp, headers));
  }

  close(): MaybeAsync {
    return this.processor.close?.();
  }

  private async load(): Promise<void> {
    await this.broadcast.load();
    this.loaded = true;
  }

  private readonly access: BroadcastAccess = Object.freeze({
    state: <UK, UV>(descriptor: MapStateDescriptor<UK, UV>): BroadcastState<UK, UV> => this.broadcast.writer(descriptor),
  });

  private readonly userProcess = (record: Record<unknown, unknown>): MaybeAsync => this.processor.process(record);
  private readonly userBroadcast = (record: Record<unknown, unknown>): MaybeAsync => this.processor.processBroadcast(record, this.access);
}

class BroadcastContext<KOut, VOut> extends UserContext<KOut, VOut> implements BroadcastProcessorContext<KOut, VOut> {
  readonly broadcastState: <UK, UV>(descriptor: MapStateDescriptor<UK, UV>) => ReadonlyBroadcastState<UK, UV>;

  constructor(
    private readonly operator: OperatorContext,
    scope: ForwardScope,
    private readonly states: BroadcastStates,
    operatorStates: readonly OperatorStateStore[],
  ) {
    super(operator, scope, operatorStates);
    this.broadcastState = (descriptor) => states.reader(descriptor);
  }

  override schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    checkTimer(options, callback);
    return super.schedule(options, (timestamp) => this.states.whenLoaded(() => callback(timestamp)));
  }

  watermark(): number {
    return this.operator.watermark();
  }
}
