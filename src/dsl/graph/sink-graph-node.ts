import type { TopicNameExtractor } from '../../topology/nodes.js';
import type { SinkOptions } from '../../topology/sink-node.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** `stream.to(…)`. */
export interface SinkGraphNode {
  readonly kind: 'sink';
  readonly name: string;
  readonly topic: string | TopicNameExtractor;
  readonly options: SinkOptions;
}

export function sinkGraphNode(name: string, topic: string | TopicNameExtractor, options: SinkOptions): SinkGraphNode {
  return Object.freeze({ kind: 'sink', name, topic, options });
}

export function writeSink(node: SinkGraphNode, builder: TopologyBuilder, parents: readonly string[]): void {
  builder.addSink(node.name, node.topic, parents, node.options);
}
