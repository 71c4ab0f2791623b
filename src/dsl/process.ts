/** `process` and `processValues`: a user's processor as a node, with the stores it names or brings. */
import { checkedSupplier } from '../processors/checked-supplier.js';
import { fixedKeyOperator } from '../processors/fixed-key-operator.js';
import type { OperatorStateStore } from '../processors/operator-state/operator-states.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { processorOperator } from '../processors/processor-operator.js';
import type { FixedKeyProcessor, Processor } from '../processors/processor.js';
import { checkedName } from './checked-name.js';
import type { GraphNode } from './graph/graph-node.js';
import type { OperatorNode } from './graph/operator-node.js';
import { operatorNode } from './graph/operator-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import { addOperatorStates, storeNamesOf } from './operator-state-stores.js';
import type { NamedOptions, OperatorStatesOption, StoresOption } from './options.js';
import { prefix } from './prefixes.js';

type Options = NamedOptions & StoresOption & OperatorStatesOption;

export function addProcess<K, V, KR, VR>(
  graph: StreamGraph,
  parent: GraphNode,
  supplier: () => Processor<K, V, KR, VR>,
  options: Options,
): OperatorNode {
  const name = checkedName(options) ?? graph.newName(prefix.process);
  const checked = checkedSupplier(name, supplier);
  return add(graph, parent, 'process', name, (states) => processorOperator(checked, states), options);
}

export function addProcessValues<K, V, VR>(
  graph: StreamGraph,
  parent: GraphNode,
  supplier: () => FixedKeyProcessor<K, V, VR>,
  options: Options,
): OperatorNode {
  const name = checkedName(options) ?? graph.newName(prefix.processValues);
  const checked = checkedSupplier(name, supplier);
  return add(graph, parent, 'processValues', name, (states) => fixedKeyOperator(checked, states), options);
}

function add(
  graph: StreamGraph,
  parent: GraphNode,
  what: string,
  name: string,
  supplierWith: (states: readonly OperatorStateStore[]) => OperatorSupplier,
  { stores, operatorStates }: Options,
): OperatorNode {
  const used = graph.storesOf(what, stores);
  const states = addOperatorStates(graph, name, operatorStates);
  const node = operatorNode(name, supplierWith(states), { stores: [...used, ...storeNamesOf(states)] });
  graph.add(node, [parent]);
  return node;
}
