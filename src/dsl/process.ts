/** `process` and `processValues`: a user's processor as a node, with the stores it names or brings. */
import { checkedSupplier } from '../processors/checked-supplier.js';
import { fixedKeyOperator } from '../processors/fixed-key-operator.js';
import type { OperatorSupplier } from '../processors/operator.js';
import { processorOperator } from '../processors/processor-operator.js';
import type { FixedKeyProcessor, Processor } from '../processors/processor.js';
import { checkedName } from './checked-name.js';
import type { GraphNode } from './graph/graph-node.js';
import type { OperatorNode } from './graph/operator-node.js';
import { operatorNode } from './graph/operator-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { NamedOptions, StoresOption } from './options.js';
import { prefix } from './prefixes.js';

type Options = NamedOptions & StoresOption;

export function addProcess<K, V, KR, VR>(
  graph: StreamGraph,
  parent: GraphNode,
  supplier: () => Processor<K, V, KR, VR>,
  options: Options,
): OperatorNode {
  const name = checkedName(options) ?? graph.newName(prefix.process);
  return add(graph, parent, 'process', name, processorOperator(checkedSupplier(name, supplier)), options);
}

export function addProcessValues<K, V, VR>(
  graph: StreamGraph,
  parent: GraphNode,
  supplier: () => FixedKeyProcessor<K, V, VR>,
  options: Options,
): OperatorNode {
  const name = checkedName(options) ?? graph.newName(prefix.processValues);
  return add(graph, parent, 'processValues', name, fixedKeyOperator(checkedSupplier(name, supplier)), options);
}

function add(
  graph: StreamGraph,
  parent: GraphNode,
  what: string,
  name: string,
  supplier: OperatorSupplier,
  { stores }: Options,
): OperatorNode {
  const node = operatorNode(name, supplier, { stores: graph.storesOf(what, stores) });
  graph.add(node, [parent]);
  return node;
}
