/** Streams of the same topics share one source node: two sources would each have to own the topic's committed offset. */
import { MillraceError } from '../../errors.js';
import { offsetResetLabel } from '../../time/offset-reset.js';
import type { SourceOptions } from '../../topology/source-node.js';
import type { StreamGraph } from './stream-graph.js';
import type { StreamSourceNode } from './stream-source-node.js';

/**
 * For each stream source that another one stands in for: the other one, which was declared first.
 *
 * @throws MILL_TOPOLOGY_INVALID when two streams overlap without being equal, or read the same topics in different ways.
 */
export function sharedSources(graph: StreamGraph): Map<StreamSourceNode, StreamSourceNode> {
  const owners = new Map<string, StreamSourceNode>();
  const standIns = new Map<StreamSourceNode, StreamSourceNode>();
  for (const node of graph.links.keys()) {
    if (node.kind !== 'streamSource') continue;
    for (const key of keysOf(node)) {
      const owner = owners.get(key);
      if (owner === undefined) owners.set(key, node);
      else if (owner !== node) {
        checkSame(owner, node);
        standIns.set(node, owner);
      }
    }
  }
  return standIns;
}

function keysOf(node: StreamSourceNode): string[] {
  return node.pattern === null ? node.topics.map((topic) => `topic ${topic}`) : [`pattern ${String(node.pattern)}`];
}

function checkSame(a: StreamSourceNode, b: StreamSourceNode): void {
  const topics = describeTopics(a);
  if (topics !== describeTopics(b)) {
    throw clash(a, b, `read overlapping but not equal topics (${topics} and ${describeTopics(b)})`);
  }
  const differing = options.find((option) => labelOf(a.source, option) !== labelOf(b.source, option));
  if (differing !== undefined) throw clash(a, b, `read ${topics} with a different ${differing}`);
}

const options = ['offsetReset', 'keySerde', 'valueSerde', 'timestampExtractor', 'watermarks'] as const;

function labelOf(source: SourceOptions, option: (typeof options)[number]): string | null {
  if (option !== 'offsetReset') return source[option]?.name ?? null;
  const { offsetReset = null } = source;
  return offsetReset === null ? null : offsetResetLabel(offsetReset);
}

function describeTopics(node: StreamSourceNode): string {
  return node.pattern === null ? node.topics.toSorted().join(', ') : String(node.pattern);
}

function clash(a: StreamSourceNode, b: StreamSourceNode, what: string): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', `The streams ${a.name} and ${b.name} ${what}.`, {
    details: { sources: [a.name, b.name] },
  });
}
