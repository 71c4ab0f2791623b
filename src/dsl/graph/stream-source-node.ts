import { types } from 'node:util';
import type { SourceOptions } from '../../topology/source-node.js';
import type { TopologyBuilder } from '../../topology/topology-builder.js';

/** `builder.stream(…)`: reads topics, or what a pattern matches. */
export interface StreamSourceNode {
  readonly kind: 'streamSource';
  readonly name: string;
  /** Empty when there is a pattern. */
  readonly topics: readonly string[];
  readonly pattern: RegExp | null;
  readonly source: SourceOptions;
}

export function streamSourceNode(name: string, topics: readonly string[] | RegExp, source: SourceOptions): StreamSourceNode {
  // Of whatever realm it is.
  const pattern = types.isRegExp(topics) ? topics : null;
  const names = types.isRegExp(topics) ? [] : topics.slice();
  return Object.freeze({ kind: 'streamSource', name, topics: Object.freeze(names), pattern, source });
}

export function writeStreamSource(node: StreamSourceNode, builder: TopologyBuilder): void {
  if (node.pattern === null) builder.addSource(node.name, { ...node.source, topics: node.topics });
  else builder.addSource(node.name, { ...node.source, pattern: node.pattern });
}
