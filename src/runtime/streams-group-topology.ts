import type { StreamsGroupSubTopology, StreamsGroupTopology } from '../kafka/streams-groups.js';
import { changelogConfigs } from '../stores/changelog-topic.js';
import type { SubTopology, Topology, TopicRef } from '../topology/nodes.js';
import { repartitionConfigs } from '../topology/repartition-topic-configs.js';
import { changelogTopic, qualifiedName } from '../topology/task-layout.js';

/**
 * The topology as the broker of a streams group has to know it: what each sub-topology reads, and the topics that are the app's own. Of equal topologies the descriptions are equal, since
 * the broker compares them at each join.
 *
 * @param replicationFactor of internal topics; -1: the broker's
 */
export function streamsGroupTopology(applicationId: string, topology: Topology, replicationFactor: number): StreamsGroupTopology {
  const internal = { replicationFactor: Math.max(0, replicationFactor) };
  const full = (topic: TopicRef): string => qualifiedName(applicationId, topic);
  const describe = (sub: SubTopology): StreamsGroupSubTopology => {
    const sources = new Set(sub.sourceTopics.map(full));
    const changelogs = sub.stores.flatMap((name) => {
      const store = topology.stores.get(name);
      const topic = store === undefined || store.sourceTopic !== null ? null : changelogTopic(applicationId, store);
      return store === undefined || topic === null
        ? []
        : [{ ...internal, name: topic, partitions: 0, configs: changelogConfigs(store.spec) }];
    });
    return {
      id: String(sub.id),
      sourceTopics: sorted(sub.sourceTopics.filter((topic) => !topic.internal).map(full)),
      repartitionSinkTopics: sorted(
        sub.sinkTopics.filter(({ name, internal: own }) => own && topology.repartitionTopics.has(name)).map(full),
      ),
      repartitionSourceTopics: sub.sourceTopics
        .filter((topic) => topic.internal)
        .map((topic) => ({
          ...internal,
          name: full(topic),
          partitions: topology.repartitionTopics.get(topic.name)?.partitions ?? 0,
          configs: repartitionConfigs,
        }))
        .sort(byName),
      changelogTopics: changelogs.sort(byName),
      copartitionGroups: topology.copartitionGroups
        .map((group) => sorted(group.map(full)))
        .filter((group) => group.length > 1 && group.every((topic) => sources.has(topic))),
    };
  };
  return { epoch: 0, subTopologies: topology.subTopologies.map(describe).sort((a, b) => (a.id < b.id ? -1 : 1)) };
}

function sorted(names: readonly string[]): string[] {
  return [...new Set(names)].sort();
}

function byName(a: { readonly name: string }, b: { readonly name: string }): number {
  return a.name < b.name ? -1 : 1;
}
