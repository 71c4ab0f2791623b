/** What a streams group's topology is on the cluster's topics: its tasks, or what keeps them from existing. */
import {
  StreamsStatus,
  type StreamsGroupStatus,
  type StreamsGroupTopology,
  type StreamsInternalTopic,
} from '../../kafka/streams-groups.js';
import { taskOf } from './streams-tasks.js';

export interface ConfiguredTopology {
  /** Empty while something is amiss. */
  readonly tasks: readonly string[];
  /** Those that have state. */
  readonly stateful: ReadonlySet<string>;
  /** null: nothing is amiss. */
  readonly status: StreamsGroupStatus | null;
  /** Internal topics that are not there, with the partitions they are to have. */
  readonly toCreate: readonly StreamsInternalTopic[];
  /** Equal as long as the topics are the same. */
  readonly signature: string;
}

/** The topics that it reads or keeps. */
export function topicNames({ subTopologies }: StreamsGroupTopology): readonly string[] {
  const internal = subTopologies.flatMap((sub) => [...sub.repartitionSourceTopics, ...sub.changelogTopics]);
  return [...new Set([...subTopologies.flatMap((sub) => sub.sourceTopics), ...internal.map(({ name }) => name)])].sort();
}

/**
 * @param partitionsOf 0 for a topic that is not there
 * @param known what was said of the same topology before; it is said again while its topics are the same
 */
export function configureTopology(
  topology: StreamsGroupTopology,
  names: readonly string[],
  partitionsOf: (topic: string) => number,
  known: ConfiguredTopology | null,
): ConfiguredTopology {
  const signature = names.map((name) => `${name}=${partitionsOf(name)}`).join();
  if (signature === known?.signature) return known;
  const { subTopologies } = topology;
  const amiss = (code: number, detail: string, toCreate: readonly StreamsInternalTopic[] = []): ConfiguredTopology => ({
    tasks: [],
    stateful: new Set(),
    status: { code, detail },
    toCreate,
    signature,
  });

  const missing = subTopologies.flatMap((sub) => sub.sourceTopics).filter((name) => partitionsOf(name) === 0);
  if (missing.length > 0) return amiss(StreamsStatus.MISSING_SOURCE_TOPICS, `Source topics ${missing.join(', ')} are missing.`);

  const wanted = repartitionCounts(topology, partitionsOf);
  const countOf = (name: string): number => wanted.get(name) ?? partitionsOf(name);
  const sources = (sub: (typeof subTopologies)[number]): string[] => [
    ...sub.sourceTopics,
    ...sub.repartitionSourceTopics.map(({ name }) => name),
  ];
  for (const group of subTopologies.flatMap((sub) => sub.copartitionGroups)) {
    const counts = group.map((name) => `${name}=${countOf(name)}`);
    if (new Set(group.map(countOf)).size > 1) {
      const detail = `Following topics do not have the same number of partitions: [{${counts.join(', ')}}]`;
      return amiss(StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS, detail);
    }
  }
  const width = (sub: (typeof subTopologies)[number]): number => Math.max(0, ...sources(sub).map(countOf));
  for (const sub of subTopologies) for (const { name } of sub.changelogTopics) if (!names.includes(name)) wanted.set(name, width(sub));
  const wrong = [...wanted].filter(([name, count]) => partitionsOf(name) !== 0 && partitionsOf(name) !== count);
  if (wrong.length > 0) {
    const said = wrong.map(
      ([name, count]) => `Existing internal topic ${name} has invalid partitions: expected: ${count}; actual: ${partitionsOf(name)}.`,
    );
    return amiss(StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS, said.join(' '));
  }
  const changelogs = subTopologies.flatMap((sub) => sub.changelogTopics.map((topic) => ({ ...topic, partitions: width(sub) })));
  const repartitions = subTopologies.flatMap((sub) =>
    sub.repartitionSourceTopics.map((topic) => ({ ...topic, partitions: countOf(topic.name) })),
  );
  const toCreate = [...changelogs, ...repartitions].filter(({ name }) => partitionsOf(name) === 0);
  if (toCreate.length > 0) {
    const detail = `Internal topics are missing: ${toCreate.map(({ name }) => name).join(', ')}`;
    return amiss(StreamsStatus.MISSING_INTERNAL_TOPICS, detail, toCreate);
  }
  const tasksOf = (sub: (typeof subTopologies)[number]): string[] =>
    Array.from({ length: width(sub) }, (_, partition) => taskOf(sub.id, partition));
  const stateful = new Set(subTopologies.filter((sub) => sub.changelogTopics.length > 0).flatMap(tasksOf));
  // Those of a partition side by side, so that a member gets tasks of each sub-topology.
  const tasks = Array.from({ length: Math.max(0, ...subTopologies.map(width)) }, (_, partition) =>
    subTopologies.filter((sub) => partition < width(sub)).map(({ id }) => taskOf(id, partition)),
  ).flat();
  return { tasks, stateful, status: null, toCreate: [], signature };
}

/** Partitions of the repartition topics: as said, else as many as the widest sub-topology that writes it has, and alike within a co-partition group. */
function repartitionCounts({ subTopologies }: StreamsGroupTopology, partitionsOf: (topic: string) => number): Map<string, number> {
  const topics = subTopologies.flatMap((sub) => sub.repartitionSourceTopics);
  const counts = new Map(topics.filter(({ partitions }) => partitions > 0).map(({ name, partitions }) => [name, partitions]));
  const isRepartition = new Set(topics.map(({ name }) => name));
  const countOf = (name: string): number => (isRepartition.has(name) ? (counts.get(name) ?? 0) : partitionsOf(name));
  for (let left = topics.length; left > 0; left--) {
    for (const sub of subTopologies) {
      const width = Math.max(0, ...[...sub.sourceTopics, ...sub.repartitionSourceTopics.map(({ name }) => name)].map(countOf));
      for (const name of sub.repartitionSinkTopics) if (!isFixed(name)) counts.set(name, Math.max(counts.get(name) ?? 0, width));
    }
    for (const group of subTopologies.flatMap((sub) => sub.copartitionGroups)) {
      const most = Math.max(...group.map(countOf));
      for (const name of group) if (isRepartition.has(name) && !isFixed(name)) counts.set(name, most);
    }
  }
  return counts;

  function isFixed(name: string): boolean {
    return topics.some((topic) => topic.name === name && topic.partitions > 0);
  }
}
