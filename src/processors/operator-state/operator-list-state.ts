import type { OperatorListStateDescriptor } from './operator-state-descriptor.js';

/**
 * A list of operator state as a processor sees it: that of its task, whatever the key.
 *
 * What is read is a copy: changing it changes nothing until it is written with `update`, `add` or `addAll`. Elements are written one by one: adding one to a long list costs one.
 * It can be used in `init`, in `process` and `processBroadcast`, and in timers; elsewhere each call throws MILL_STATE_INVALID.
 */
export interface OperatorListState<V> {
  /** All elements, in the order of their adding. All of them are read: keep what is looked at for each record short, or in a field. */
  get(): V[];
  /** Adds one at the end. @throws TypeError when it is null or undefined, which is the record's failure */
  add(value: V): void;
  /** Adds all at the end, or none when one is refused. @throws TypeError as `add` */
  addAll(values: readonly V[]): void;
  /** Replaces all elements; none of them when one is refused. @throws TypeError as `add` */
  update(values: readonly V[]): void;
  /** Removes all. */
  clear(): void;
}

/** How processors ask for operator state. */
export interface OperatorStateAccess {
  /**
   * A list of the task. Keep the handle.
   *
   * @throws MILL_TOPOLOGY_UNKNOWN_STORE when the state is not among the operator's `operatorStates`
   */
  operatorState<V>(descriptor: OperatorListStateDescriptor<V>): OperatorListState<V>;
}
