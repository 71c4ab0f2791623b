import type { SourceNode, Topology, TopicRef } from './nodes.js';
import type { TopicsMatching } from './partition-counts.js';
import { UnionFind } from './union-find.js';

/**
 * Groups of topics that must have equal partition counts, made from groups of sources that are read together: those that share a topic are one.
 *
 * @param sources for each group the topics of each of its sources
 */
export function groupTopics(sources: readonly (readonly TopicRef[])[]): TopicRef[][] {
  const union = new UnionFind();
  for (const topics of sources) for (const { name } of topics) union.unite(topics[0]?.name ?? name, name);
  const groups = new Map<string, Map<string, TopicRef>>();
  for (const topic of sources.flat()) {
    const root = union.root(topic.name);
    const group = groups.get(root) ?? new Map<string, TopicRef>();
    groups.set(root, group.set(topic.name, topic));
  }
  return [...groups.values()].map((group) => [...group.values()]);
}

/** The groups for the topics as they are now: with what the patterns match. */
export function copartitionGroupsOf(topology: Topology, topicsMatching: TopicsMatching): readonly (readonly TopicRef[])[] {
  const sourceOf = (name: string): SourceNode | null => {
    const node = topology.nodes.get(name);
    return node?.kind === 'source' ? node : null;
  };
  const hasPattern = topology.copartitionedSources.some((group) => group.some((name) => sourceOf(name)?.pattern));
  if (!hasPattern) return topology.copartitionGroups;
  const topicsOf = (name: string): readonly TopicRef[] => {
    const source = sourceOf(name);
    if (source === null || source.pattern === null) return source?.topics ?? [];
    return topicsMatching(source.pattern).map((topic) => ({ name: topic, internal: false }));
  };
  return groupTopics(topology.copartitionedSources.map((group) => group.flatMap(topicsOf)));
}
