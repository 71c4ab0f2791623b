/** Runs a user's KeyedBroadcastProcessor as a node: a keyed processor that also takes the records of a broadcast stream, and broadcast state beside the keyed. */
import type { MaybeAsync } from '../../bytes/maybe-async.js';
import { MillraceError } from '../../errors.js';
import { KeyedContext, KeyedProcessOperator } from '../event-time/keyed-process-operator.js';
import type { KeyedOperatorOptions } from '../event-time/keyed-operator.js';
import { checkTimer } from '../checked-timer.js';
import type { Cancellable, OperatorSupplier, ScheduleOptions } from '../operator.js';
import type { Record } from '../processor.js';
import type { AnyStateDescriptor, MapStateDescriptor } from '../state/state-descriptor.js';
import type { KeyedBroadcastAccess, KeyedBroadcastProcessor, KeyedBroadcastProcessorContext, StateOf } from './broadcast-processor.js';
import { FromBroadcast } from './broadcast-side.js';
import type { BroadcastState, ReadonlyBroadcastState } from './broadcast-state.js';
import { BroadcastStates, type BroadcastStateStore } from './broadcast-states.js';

export interface KeyedBroadcastOptions extends KeyedOperatorOptions {
  readonly broadcast: readonly BroadcastStateStore[];
}

type AnyProcessor<K, KOut, VOut> = KeyedBroadcastProcessor<K, unknown, unknown, unknown, KOut, VOut>;

export function keyedBroadcastOperator<K, KOut, VOut>(
  supplier: () => AnyProcessor<K, KOut, VOut>,
  options: KeyedBroadcastOptions,
): OperatorSupplier {
  return () => new KeyedBroadcastOperator(supplier(), options);
}

class KeyedBroadcastOperator<K, KOut, VOut> extends KeyedProcessOperator<K, unknown, KOut, VOut> {
  declare private broadcast: BroadcastStates;
  /** What `applyToKeyedState` is at: the record is not done before. */
  private visiting: Promise<void> | null = null;

  constructor(
    private readonly taker: AnyProcessor<K, KOut, VOut>,
    private readonly broadcastOptions: KeyedBroadcastOptions,
  ) {
    super(taker, broadcastOptions);
  }

  override process(key: K, value: unknown, timestamp: number): MaybeAsync {
    if (!(value instanceof FromBroadcast)) return super.process(key, value, timestamp);
    return this.withoutKey(() => this.onBroadcast(key, value.value, timestamp));
  }

  protected override open(): void {
    this.broadcast = new BroadcastStates(this.context, this.broadcastOptions.broadcast);
    super.open();
  }

  protected override loadMore(): Promise<void> {
    return this.broadcast.load();
  }

  protected override userContext(): KeyedContext<K, KOut, VOut> {
    return new KeyedBroadcastContext<K, KOut, VOut>(
      [this.context, this.scope, this.states, this.timers, this.options.operatorStates],
      this.broadcast,
    );
  }

  private onBroadcast(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    const headers = this.context.record.headers();
    return this.broadcast.during(() => this.scope.run(this.userBroadcast, { key, value, timestamp, headers }, timestamp, headers));
  }

  private readonly userBroadcast = (record: Record<unknown, unknown>): MaybeAsync => {
    const result = this.taker.processBroadcast(record, this.access);
    if (this.visiting === null) return result;
    return this.visited(result);
  };

  /** Also when nobody waited for it. */
  private async visited(result: MaybeAsync): Promise<void> {
    try {
      await result;
    } finally {
      while (this.visiting !== null) {
        const { visiting } = this;
        await visiting;
        if (this.visiting === visiting) this.visiting = null;
      }
    }
  }

  private readonly access: KeyedBroadcastAccess<K> = Object.freeze({
    state: <UK, UV>(descriptor: MapStateDescriptor<UK, UV>): BroadcastState<UK, UV> => this.broadcast.writer(descriptor),
    applyToKeyedState: <D extends AnyStateDescriptor>(descriptor: D, visit: (key: K, state: StateOf<D>) => MaybeAsync): Promise<void> => {
      this.broadcast.mustBeOpen('applyToKeyedState');
      if (this.visiting !== null) {
        throw new MillraceError(
          'MILL_STATE_INVALID',
          `${this.context.nodeName} calls applyToKeyedState while it is still at another: await each before the next.`,
          { details: { node: this.context.nodeName } },
        );
      }
      const work = this.visit(descriptor, visit).finally(() => {
        if (this.visiting === work) this.visiting = null;
      });
      // Its failure is that of the record, whether or not the user looks at the promise.
      work.catch(() => undefined);
      this.visiting = work;
      return work;
    },
  });

  private async visit<D extends AnyStateDescriptor>(descriptor: D, visit: (key: K, state: StateOf<D>) => MaybeAsync): Promise<void> {
    const state = this.states.state(descriptor as never) as StateOf<D>;
    try {
      for await (const key of this.backend.keysOf(descriptor)) {
        this.backend.setCurrentKey(key);
        await visit(key as K, state);
        this.backend.clearCurrentKey();
      }
    } finally {
      this.backend.clearCurrentKey();
    }
  }
}

class KeyedBroadcastContext<K, KOut, VOut> extends KeyedContext<K, KOut, VOut> implements KeyedBroadcastProcessorContext<K, KOut, VOut> {
  readonly broadcastState: <UK, UV>(descriptor: MapStateDescriptor<UK, UV>) => ReadonlyBroadcastState<UK, UV>;

  constructor(
    keyed: ConstructorParameters<typeof KeyedContext<K, KOut, VOut>>,
    private readonly broadcast: BroadcastStates,
  ) {
    super(...keyed);
    this.broadcastState = (descriptor) => broadcast.reader(descriptor);
  }

  override schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    checkTimer(options, callback);
    return super.schedule(options, (timestamp) => this.broadcast.whenLoaded(() => callback(timestamp)));
  }
}
