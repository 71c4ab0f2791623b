import { MillraceError } from '../errors.js';
import { processorOperator } from '../processors/processor-operator.js';
import type { Processor } from '../processors/processor.js';
import { checkedName } from './checked-name.js';
import type { GraphNode } from './graph/graph-node.js';
import type { OperatorNode } from './graph/operator-node.js';
import { operatorNode } from './graph/operator-node.js';
import type { StreamGraph } from './graph/stream-graph.js';
import type { ProcessOptions } from './options.js';
import { prefix } from './prefixes.js';

export function addProcess<K, V, KR, VR>(
  graph: StreamGraph,
  parent: GraphNode,
  supplier: () => Processor<K, V, KR, VR>,
  options: ProcessOptions<KR, VR>,
): OperatorNode {
  const name = checkedName(options) ?? graph.newName(prefix.process);
  if (supplier() === supplier()) {
    throw new MillraceError(
      'MILL_TOPOLOGY_INVALID',
      `The supplier of processor ${name} gives the same object each time; it must make a new one, since every task has its own.`,
      { details: { node: name } },
    );
  }
  const node = operatorNode(name, processorOperator(supplier), { stores: options.stores });
  graph.add(node, [parent]);
  return node;
}
