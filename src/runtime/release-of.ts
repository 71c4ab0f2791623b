import type { Release, SubTopologyShape, UnnamedResult } from '../rebalance/releases/release.js';
import { layoutOf } from '../stores/segment-interval.js';
import type { StoreSpec } from '../stores/store.js';
import { watermarkWriters } from '../topology/event-time.js';
import type { SubTopology, Topology, TopologyNode, TopicRef } from '../topology/nodes.js';
import { changelogTopic, qualifiedName } from '../topology/task-layout.js';
import { topicPatternMatches } from '../topology/topic-pattern.js';

/** What the topology is to the group. Equal for topologies of one mode that differ only in functions, serdes, names of nodes and stateless operators. */
export function releaseOf(applicationId: string, topology: Topology): Release {
  const full = (topic: TopicRef): string => qualifiedName(applicationId, topic);
  const describe = (sub: SubTopology): SubTopologyShape => {
    const internal = sub.sourceTopics.filter((topic) => topic.internal);
    const feeds = sub.sinkTopics.filter((topic) => topic.internal);
    const facts = [...internal, ...feeds].flatMap((topic) => {
      const writers = watermarkWriters(topology, topic.name).map(({ id }) => id);
      return writers.length === 0 ? [] : [[full(topic), writers.join()] as const];
    });
    return {
      id: sub.id,
      topics: sorted(sub.sourceTopics.map(full)),
      internal: sorted(internal.map(full)),
      patterns: sorted(sub.sourcePatterns.map(String)),
      stores: sorted(sub.stores).flatMap((name) => {
        const store = topology.stores.get(name);
        return store === undefined ? [] : [{ name, format: formatOf(store.spec), changelog: changelogTopic(applicationId, store) }];
      }),
      feeds: sorted(feeds.map(full)),
      sinks: sorted(sub.sinkTopics.filter((topic) => !topic.internal).map(full)),
      unnamed: unnamedResults(topology, sub),
      eventTime: Object.fromEntries(facts),
    };
  };
  return { shapes: topology.subTopologies.map(describe), mode: topology.mode };
}

/** Whether a pattern that a release names, `/source/flags`, reads the topic. Throws when this Node.js can't read the pattern. */
export function releasePatternMatches(pattern: string, topic: string): boolean {
  return topicPatternMatches(patternOf(pattern), topic);
}

/** Another Node.js may know flags and syntax that this one doesn't. */
export function isReadablePattern(pattern: string): boolean {
  try {
    releasePatternMatches(pattern, '');
    return true;
  } catch {
    return false;
  }
}

/** Patterns of the release that this Node.js can't read. */
export function unreadablePatterns({ shapes }: Release): string[] {
  return [...new Set(shapes.flatMap(({ patterns }) => patterns))].filter((pattern) => !isReadablePattern(pattern));
}

function patternOf(pattern: string): RegExp {
  const end = pattern.lastIndexOf('/');
  return new RegExp(pattern.slice(1, end), pattern.slice(end + 1));
}

function unnamedResults(topology: Topology, sub: SubTopology): UnnamedResult[] {
  const nodes = sub.nodes.flatMap((name) => topology.nodes.get(name) ?? []);
  const endsHere = (node: TopologyNode): boolean =>
    node.kind === 'processor' && node.children.length === 0 && node.stores.length === 0 && node.isSide !== true;
  return [
    ...(nodes.some((node) => node.kind === 'sink' && typeof node.topic === 'function') ? (['sinks'] as const) : []),
    ...(nodes.some(endsHere) ? (['steps'] as const) : []),
  ];
}

/** What the keys and values of its changelog are made as. */
function formatOf(spec: StoreSpec): string {
  return spec.kind === 'timeOrderedBuffer' ? `${spec.kind} ${layoutOf(spec)}` : spec.kind;
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}
