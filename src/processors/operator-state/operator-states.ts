/** The operator states of one task, and when they may be used: while code of the processor is at work in the task, since only that is part of an epoch. */
import { MillraceError } from '../../errors.js';
import { keyValueStore } from '../connected-store.js';
import type { ForwardScope } from '../forward-scope.js';
import type { OperatorContext } from '../operator.js';
import { undeclaredState } from '../undeclared-state.js';
import { OperatorList } from './operator-list.js';
import type { OperatorListState } from './operator-list-state.js';
import type { AnyOperatorStateDescriptor, OperatorListStateDescriptor } from './operator-state-descriptor.js';

/** A declared state, and the store it has. */
export interface OperatorStateStore {
  readonly descriptor: AnyOperatorStateDescriptor;
  readonly storeName: string;
}

export const noOperatorStates: readonly OperatorStateStore[] = Object.freeze([]);

export class OperatorStates {
  private readonly lists = new Map<object, OperatorListState<unknown>>();

  constructor(
    private readonly context: OperatorContext,
    private readonly scope: ForwardScope,
    private readonly declared: readonly OperatorStateStore[],
  ) {}

  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE when the state is not declared; MILL_TOPOLOGY_INVALID when it is, with another descriptor */
  list<V>(descriptor: OperatorListStateDescriptor<V>): OperatorListState<V> {
    const list = this.lists.get(descriptor) ?? this.opened(descriptor);
    this.lists.set(descriptor, list);
    return list as OperatorListState<V>;
  }

  private opened(descriptor: OperatorListStateDescriptor<unknown>): OperatorListState<unknown> {
    const { context } = this;
    const found = this.declared.find((one) => one.descriptor === descriptor);
    if (found === undefined) throw this.undeclared(descriptor);
    const store = keyValueStore<number, unknown>(context, found.storeName);
    const list = new OperatorList(descriptor, store, () => Math.max(0, context.record.timestamp));
    const during = <R>(call: keyof OperatorListState<unknown>, work: () => R): R => {
      this.mustBeAtWork(call, descriptor.name);
      return work();
    };
    return Object.freeze<OperatorListState<unknown>>({
      get: () => during('get', () => list.get()),
      add: (value) => {
        during('add', () => list.add(value));
      },
      addAll: (values) => {
        during('addAll', () => list.addAll(values));
      },
      update: (values) => {
        during('update', () => list.update(values));
      },
      clear: () => {
        during('clear', () => list.clear());
      },
    });
  }

  private mustBeAtWork(call: string, state: string): void {
    if (this.scope.isAtWork) return;
    throw new MillraceError(
      'MILL_STATE_INVALID',
      `Processor ${this.context.nodeName} calls ${call} of operator state ${state} outside of init, process and timers: it would belong to no epoch. Return a promise from process to use it later.`,
      { details: { node: this.context.nodeName, state } },
    );
  }

  private undeclared(descriptor: unknown): MillraceError {
    const { nodeName } = this.context;
    const declared = this.declared.map((one) => one.descriptor);
    return undeclaredState(`${nodeName}: operator state`, descriptor, '`operatorStates` of the operator', declared, { node: nodeName });
  }
}
