import type { AsyncNode } from './async-node.js';
import type { BroadcastNode } from './broadcast-node.js';
import type { ConnectedNode } from './connected-node.js';
import type { GlobalTableNode } from './global-table-node.js';
import type { InternalSinkNode, InternalSourceNode } from './internal-topic-nodes.js';
import type { OperatorNode } from './operator-node.js';
import type { RepartitionNode } from './repartition-node.js';
import type { SinkGraphNode } from './sink-graph-node.js';
import type { StateStoreNode } from './state-store-node.js';
import type { StatefulNode } from './stateful-node.js';
import type { StreamSourceNode } from './stream-source-node.js';
import type { StreamStreamJoinNode } from './stream-stream-join-node.js';
import type { StreamToTableNode } from './stream-to-table-node.js';
import type { TableJoinNode } from './table-join-node.js';
import type { TableRepartitionNode } from './table-repartition-node.js';
import type { TableSourceNode } from './table-source-node.js';
import type { TableTableJoinNode } from './table-table-join-node.js';

/** What the DSL calls leave behind: one frozen node a call, before any of them is a node of a topology. */
export type GraphNode =
  | StreamSourceNode
  | TableSourceNode
  | GlobalTableNode
  | StateStoreNode
  | OperatorNode
  | AsyncNode
  | StatefulNode
  | ConnectedNode
  | StreamToTableNode
  | RepartitionNode
  | BroadcastNode
  | TableRepartitionNode
  | TableJoinNode
  | StreamStreamJoinNode
  | TableTableJoinNode
  | InternalSinkNode
  | InternalSourceNode
  | SinkGraphNode;

/** Nodes whose output is a table with a store that others may look into. */
export type TableNode = TableSourceNode | StreamToTableNode | StatefulNode | TableTableJoinNode;
