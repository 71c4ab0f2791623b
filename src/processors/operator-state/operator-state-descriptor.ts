/**
 * What an operator state is: its name within the operator, the serde of its elements, and how it is dealt out over another number of tasks. Plain frozen data, declared with
 * the operator (`operatorStates`), so that a name given twice fails when the topology is built.
 */
import { MillraceError } from '../../errors.js';
import { oneOf, requireArgument, requireOptions, serde, text, type ShapeOf } from '../../errors/checked-options.js';
import type { Serde } from '../../serdes/serde.js';
import { serdes } from '../../serdes/serdes.js';
import { checkStateName, checkStateNames, isStateDescriptor, type AnyStateDescriptor } from '../state/state-descriptor.js';

/**
 * How the lists of all tasks are dealt out over another number of tasks. `split`: each element goes to one task, and their lists differ in length by one at most (Flink's list state).
 * `union`: each task gets all elements and chooses (Flink's union list state).
 */
export type Redistribution = 'split' | 'union';

/** For `operatorListState`. */
export interface OperatorListStateOptions<V> {
  /** Of one element. Default: JSON. */
  readonly serde?: Serde<V>;
  /** Default: `split`. */
  readonly redistribution?: Redistribution;
}

/** Made by `operatorListState`. */
export interface OperatorListStateDescriptor<V> {
  readonly kind: 'operatorList';
  readonly name: string;
  readonly serde: Serde<V>;
  readonly redistribution: Redistribution;
}

/** Any descriptor of operator state as a parameter: its type is not looked at. */
export interface AnyOperatorStateDescriptor {
  readonly kind: 'operatorList';
  readonly name: string;
  readonly redistribution: Redistribution;
}

const shape = { serde, redistribution: oneOf('split', 'union') } satisfies ShapeOf<OperatorListStateOptions<unknown>>;

/**
 * A list that belongs to a task and not to a key (Flink's list and union list state).
 *
 * @throws MILL_TOPOLOGY_INVALID for a name that stores can't have, and wrong options. There is no time to live
 * @example operatorListState<Order>('waiting', { redistribution: 'split' })
 */
export function operatorListState<V>(name: string, options: OperatorListStateOptions<V> = {}): OperatorListStateDescriptor<V> {
  requireArgument('operatorListState: the name', name, text);
  requireOptions(`operatorListState ${name}`, options, shape);
  checkStateName(name);
  const { redistribution = 'split' } = options;
  return Object.freeze({ kind: 'operatorList', name, serde: options.serde ?? serdes.json<V>(), redistribution });
}

/**
 * @param keyed the states by key of the same operator
 * @throws MILL_TOPOLOGY_DUPLICATE_NAME when two states of an operator have one name; MILL_TOPOLOGY_INVALID for what is no descriptor of operator state
 */
export function checkOperatorStates(
  operator: string,
  given: readonly AnyOperatorStateDescriptor[],
  keyed: readonly AnyStateDescriptor[],
): void {
  for (const state of given as readonly unknown[]) {
    if ((state as Partial<AnyOperatorStateDescriptor> | null)?.kind === 'operatorList') continue;
    const what = isStateDescriptor(state) ? `${state.name}, which is state by key: name it in \`states\`` : 'something else';
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `Operator ${operator}: \`operatorStates\` takes what operatorListState(…) gives, not ${what}.`,
      { details: { operator } },
    );
  }
  checkStateNames(operator, [...keyed, ...given]);
}
