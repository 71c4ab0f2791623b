import {
  checkOperatorStates,
  type AnyOperatorStateDescriptor,
  type OperatorListStateDescriptor,
} from '../processors/operator-state/operator-state-descriptor.js';
import type { OperatorStateStore } from '../processors/operator-state/operator-states.js';
import type { AnyStateDescriptor } from '../processors/state/state-descriptor.js';
import { int32Serde } from '../serdes/int32.js';
import { checkResourceName } from '../topology/resource-name.js';
import type { StreamGraph } from './graph/stream-graph.js';

/**
 * The stores of an operator's own states, `<operator>-operator-<state>`, added to the graph.
 *
 * @param keyed its states by key: one name is one state of the operator
 * @throws MILL_TOPOLOGY_DUPLICATE_NAME when two states have one name; MILL_TOPOLOGY_INVALID for what is no descriptor of operator state
 */
export function addOperatorStates(
  graph: StreamGraph,
  operator: string,
  states: readonly AnyOperatorStateDescriptor[] = [],
  keyed: readonly AnyStateDescriptor[] = [],
): OperatorStateStore[] {
  checkOperatorStates(operator, states, keyed);
  return states.map((descriptor) => {
    const name = graph.derivedName(`${operator}-operator-${descriptor.name}`, graph.isGenerated(operator));
    const { serde, redistribution } = descriptor as OperatorListStateDescriptor<unknown>;
    const storeName = graph.addStore({
      name: checkResourceName(name, 'store'),
      kind: 'timestampedKeyValue',
      rows: redistribution,
      keySerde: int32Serde,
      valueSerde: serde,
      engine: null,
      logged: true,
      changelogConfigs: Object.freeze({}),
    });
    return { descriptor, storeName };
  });
}

/** What a node is connected to. */
export function storeNamesOf(states: readonly OperatorStateStore[]): string[] {
  return states.map(({ storeName }) => storeName);
}
