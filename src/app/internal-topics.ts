import { MillraceError } from '../errors.js';
import { backoffMs, delay } from '../kafka/backoff.js';
import { errorName, isAuthorizationError } from '../kafka/error-codes.js';
import type { ClusterMetadata, KafkaPort, NewTopic } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { changelogConfigs } from '../stores/changelog-topic.js';
import { sourceTopicsOf } from '../runtime/source-topics.js';
import type { Topology, TopicRef } from '../topology/nodes.js';
import { resolveRepartitionPartitions } from '../topology/repartition-partitions.js';
import { repartitionConfigs } from '../topology/repartition-topic-configs.js';
import { checkStatePartitions } from '../topology/state-partitions.js';
import { changelogTopic, qualifiedName, TaskLayout } from '../topology/task-layout.js';
import { topicPatternMatches } from '../topology/topic-pattern.js';

/** TOPIC_ALREADY_EXISTS: another instance was faster. */
const alreadyExists = 36;
const waitForTopics = { initialMs: 20, maxMs: 500 };
const longestWaitMs = 30_000;

/**
 * Makes sure that every topic the app needs is there before it joins the group: checks the users' topics, creates the internal ones and checks those that exist.
 * Every instance does this; whoever comes first creates.
 *
 * @throws MILL_TOPIC_MISSING, MILL_TOPOLOGY_NOT_COPARTITIONED, MILL_TOPIC_INCOMPATIBLE, MILL_AUTHORIZATION, MILL_BROKER_ERROR
 */
export async function prepareTopics(options: {
  readonly port: KafkaPort;
  readonly topology: Topology;
  readonly applicationId: string;
  readonly replicationFactor: number;
  /** Must exist, like the topics that sinks name. */
  readonly deadLetterTopic: string | null;
  readonly logger: Logger;
}): Promise<void> {
  const { port, topology, applicationId, deadLetterTopic } = options;
  const users = usersTopics(topology, deadLetterTopic);
  const names = [...users, ...internalNames(topology, applicationId)];
  const metadata = await port.metadata(sourceTopicsOf(topology).hasPatterns ? 'all' : names, { refresh: true });
  checkUsersTopics(users, metadata, applicationId);
  const wanted = internalTopics(topology, metadata, applicationId, options.replicationFactor);
  const missing = wanted.filter(({ topic, partitions }) => !exists(metadata, topic, partitions));
  if (missing.length === 0) return;
  options.logger.info({ topics: missing.map(({ topic, partitions }) => `${topic} (${partitions})`) }, 'creating internal topics');
  for (const { topic, errorCode, errorMessage } of await port.admin.createTopics(missing)) {
    if (errorCode === 0 || errorCode === alreadyExists) continue;
    throw new MillraceError(
      isAuthorizationError(errorCode) ? 'MILL_AUTHORIZATION' : 'MILL_BROKER_ERROR',
      `can’t create the internal topic ${topic}: ${errorName(errorCode)} ${errorMessage ?? ''}`,
      {
        details: { topic, brokerErrorCode: errorCode },
      },
    );
  }
  await untilVisible(port, missing);
}

/** What the app reads, and what its sinks name; topics chosen record by record can't be known before. */
function usersTopics(topology: Topology, deadLetterTopic: string | null): string[] {
  const names = new Set(deadLetterTopic === null ? [] : [deadLetterTopic]);
  for (const { name, internal } of sourceTopicsOf(topology).topics) if (!internal) names.add(name);
  for (const { topic } of topology.globalStores.values()) names.add(topic);
  for (const node of topology.nodes.values()) {
    if (node.kind === 'sink' && typeof node.topic !== 'function' && !node.topic.internal) names.add(node.topic.name);
  }
  return [...names];
}

function checkUsersTopics(topics: readonly string[], metadata: ClusterMetadata, applicationId: string): void {
  const forbidden = topics.filter((topic) => isAuthorizationError(metadata.topics.get(topic)?.errorCode ?? 0));
  if (forbidden.length > 0) {
    throw new MillraceError(
      'MILL_AUTHORIZATION',
      `not allowed to describe topic(s) ${forbidden.join(', ')} of application ${applicationId}`,
      {
        details: { topics: forbidden },
      },
    );
  }
  const missing = topics.filter((topic) => countOf(metadata, topic) === null);
  if (missing.length > 0) {
    throw new MillraceError('MILL_TOPIC_MISSING', `topic(s) ${missing.join(', ')} of application ${applicationId} do not exist`, {
      details: { topics: missing },
    });
  }
}

function internalTopics(topology: Topology, metadata: ClusterMetadata, applicationId: string, replicationFactor: number): NewTopic[] {
  const external = (topic: TopicRef): number | null => countOf(metadata, qualifiedName(applicationId, topic));
  const names = [...metadata.topics.values()].filter(({ isInternal, errorCode }) => !isInternal && errorCode === 0).map(({ name }) => name);
  const matching = (pattern: RegExp): string[] => names.filter((name) => topicPatternMatches(pattern, name));
  const repartitions = resolveRepartitionPartitions(topology, external, matching);
  const counts = (topic: TopicRef): number | null => repartitions.get(topic.name) ?? external(topic);
  const layout = new TaskLayout(topology, applicationId, counts, matching);
  // What feeds the state first: its own count is the cause of the other.
  for (const [name, partitions] of repartitions) exists(metadata, `${applicationId}-${name}`, partitions);
  checkStatePartitions(topology, applicationId, layout, (topic) => countOf(metadata, topic));
  const changelogs = new Map<string, NewTopic>();
  for (const task of layout.tasks) {
    for (const { store, topic, isSourceTopic } of layout.changelogPartitions(task)) {
      const spec = topology.stores.get(store)?.spec;
      if (isSourceTopic || spec === undefined) continue;
      const partitions = Math.max(changelogs.get(topic)?.partitions ?? 0, task.partition + 1);
      changelogs.set(topic, { topic, partitions, replicationFactor, configs: changelogConfigs(spec) });
    }
  }
  return [
    ...[...repartitions].map(([name, partitions]) => ({
      topic: `${applicationId}-${name}`,
      partitions,
      replicationFactor,
      configs: repartitionConfigs,
    })),
    ...changelogs.values(),
  ];
}

function exists(metadata: ClusterMetadata, topic: string, partitions: number): boolean {
  const actual = countOf(metadata, topic);
  if (actual === null) return false;
  if (actual !== partitions) {
    throw new MillraceError(
      'MILL_TOPIC_INCOMPATIBLE',
      `the internal topic ${topic} has ${actual} partition(s), but the topology needs ${partitions}: as many as what is read upstream. ` +
        `Set the count where the topic is made (\`.repartition({ name, partitions: ${actual} })\`), give upstream ${actual} again, or delete the topic with the app stopped and all of it read`,
      {
        details: { topic, actual, needed: partitions },
      },
    );
  }
  return true;
}

async function untilVisible(port: KafkaPort, topics: readonly NewTopic[]): Promise<void> {
  const names = topics.map(({ topic }) => topic);
  const deadline = Date.now() + longestWaitMs;
  for (let attempt = 1; ; attempt++) {
    const metadata = await port.metadata(names, { refresh: true });
    const pending = topics.filter(({ topic, partitions }) => {
      const described = metadata.topics.get(topic);
      return (
        described?.errorCode !== 0 || described.partitions.length !== partitions || described.partitions.some(({ leader }) => leader < 0)
      );
    });
    if (pending.length === 0) return;
    for (const { topic, partitions } of pending) exists(metadata, topic, partitions);
    if (Date.now() > deadline)
      throw new MillraceError(
        'MILL_TOPIC_MISSING',
        `the internal topics ${pending.map(({ topic }) => topic).join(', ')} were created but have no leader`,
      );
    await delay(backoffMs(attempt, waitForTopics, Math.random));
  }
}

function countOf(metadata: ClusterMetadata, topic: string): number | null {
  const described = metadata.topics.get(topic);
  return described === undefined || described.errorCode !== 0 || described.partitions.length === 0 ? null : described.partitions.length;
}

function internalNames(topology: Topology, applicationId: string): string[] {
  const names = new Set<string>();
  for (const topic of sourceTopicsOf(topology).topics) if (topic.internal) names.add(qualifiedName(applicationId, topic));
  for (const store of topology.stores.values()) {
    const changelog = store.sourceTopic === null ? changelogTopic(applicationId, store) : null;
    if (changelog !== null) names.add(changelog);
  }
  for (const name of topology.repartitionTopics.keys()) names.add(`${applicationId}-${name}`);
  return [...names];
}
