/** The administrative part of the port: topics, configurations, record deletion, groups. Throws where the port says nothing of codes. */
import { KafkaTransportError } from '../../errors.js';
import { backoffMs, delay } from '../backoff.js';
import { ErrorCodes, errorTreatment } from '../error-codes.js';
import type { KafkaAdmin, KafkaPort, NewTopic, TopicMetadata, TopicPartition } from '../port.js';
import type { Api } from '../protocol/api.js';
import { createTopics } from '../protocol/create-topics.js';
import type { CreatedTopic } from '../protocol/create-topics.js';
import { deleteGroups } from '../protocol/delete-groups.js';
import { deleteRecords } from '../protocol/delete-records.js';
import { deleteTopics } from '../protocol/delete-topics.js';
import { describeConfigs } from '../protocol/describe-configs.js';
import { describeGroups } from '../protocol/describe-groups.js';
import { streamsGroupDescribe } from '../protocol/streams-group-describe.js';
import type { StreamsGroupDescription } from '../streams-groups.js';
import { brokerError } from './broker-error.js';
import type { ClusterConnections } from './cluster-connections.js';

const TIMEOUT_MS = 30_000;
const BACKOFF = { initialMs: 20, maxMs: 500 };
const COORDINATOR_MOVED: ReadonlySet<number> = new Set([
  ErrorCodes.COORDINATOR_LOAD_IN_PROGRESS,
  ErrorCodes.COORDINATOR_NOT_AVAILABLE,
  ErrorCodes.NOT_COORDINATOR,
]);

export class KafkajsAdmin implements KafkaAdmin {
  constructor(
    private readonly port: KafkaPort,
    private readonly cluster: ClusterConnections,
    private readonly closed: AbortSignal,
  ) {}

  async createTopics(topics: readonly NewTopic[]): Promise<readonly CreatedTopic[]> {
    const results = await this.askController(createTopics, { topics, timeoutMs: TIMEOUT_MS }, (answer) =>
      answer.map(({ errorCode }) => errorCode),
    );
    const present = results.filter(({ errorCode }) => errorCode === ErrorCodes.NONE || errorCode === ErrorCodes.TOPIC_ALREADY_EXISTS);
    await this.untilLed(present.map(({ topic }) => topic));
    return results;
  }

  async deleteTopics(topics: readonly string[]): Promise<void> {
    const results = await this.askController(deleteTopics, { topics, timeoutMs: TIMEOUT_MS }, (answer) =>
      answer.map(({ errorCode }) => errorCode),
    );
    this.cluster.view.forgetTopics(topics);
    for (const { topic, errorCode, errorMessage } of results) {
      if (errorCode !== ErrorCodes.NONE && errorCode !== ErrorCodes.UNKNOWN_TOPIC_OR_PARTITION) {
        throw brokerError(errorCode, 'Deleting', `topic ${topic}`, errorMessage);
      }
    }
  }

  /** A topic that does not exist is missing from the answer. */
  async describeTopicConfigs(topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string | null>>> {
    const described = await this.cluster.withAny((connection) => connection.send(describeConfigs, { topics }));
    const configs = new Map<string, ReadonlyMap<string, string | null>>();
    for (const one of described) {
      if (one.errorCode === ErrorCodes.NONE) configs.set(one.topic, one.configs);
      else if (one.errorCode !== ErrorCodes.UNKNOWN_TOPIC_OR_PARTITION) {
        throw brokerError(one.errorCode, 'Describing the configuration of', `topic ${one.topic}`, one.errorMessage);
      }
    }
    return configs;
  }

  async deleteRecords(before: readonly (TopicPartition & { readonly offset: number })[]): Promise<void> {
    const { topics } = await this.port.metadata([...new Set(before.map(({ topic }) => topic))], { refresh: true });
    const byLeader = new Map<number, (TopicPartition & { readonly offset: number })[]>();
    for (const one of before) {
      const leader = topics.get(one.topic)?.partitions[one.partition]?.leader ?? -1;
      if (leader < 0)
        throw brokerError(ErrorCodes.LEADER_NOT_AVAILABLE, 'Deleting records of', `topic ${one.topic}, partition ${one.partition}`);
      byLeader.set(leader, [...(byLeader.get(leader) ?? []), one]);
    }
    for (const [leader, part] of byLeader) {
      const results = await this.cluster.with('main', leader, (connection) =>
        connection.send(deleteRecords, { before: part, timeoutMs: TIMEOUT_MS }, { parkedMs: TIMEOUT_MS }),
      );
      for (const { topic, partition, errorCode } of results) {
        if (errorCode !== ErrorCodes.NONE) throw brokerError(errorCode, 'Deleting records of', `topic ${topic}, partition ${partition}`);
      }
    }
  }

  async describeGroup(groupId: string): ReturnType<KafkaAdmin['describeGroup']> {
    const group = await this.askCoordinator(groupId, describeGroups, { groupIds: [groupId] });
    if (group === undefined || group.errorCode === ErrorCodes.GROUP_ID_NOT_FOUND || group.state === 'Dead') return null;
    if (group.errorCode !== ErrorCodes.NONE) throw brokerError(group.errorCode, 'Describing', `group ${groupId}`);
    return { state: group.state, members: group.members };
  }

  async describeStreamsGroup(groupId: string): Promise<StreamsGroupDescription | null> {
    const group = await this.askCoordinator(groupId, streamsGroupDescribe, { groupIds: [groupId] });
    if (group === undefined || group.errorCode === ErrorCodes.GROUP_ID_NOT_FOUND) return null;
    if (group.errorCode !== ErrorCodes.NONE) throw brokerError(group.errorCode, 'Describing', `group ${groupId}`);
    return group;
  }

  async deleteGroups(groupIds: readonly string[]): Promise<void> {
    for (const groupId of groupIds) {
      const group = await this.askCoordinator(groupId, deleteGroups, { groupIds: [groupId] });
      const errorCode = group?.errorCode ?? ErrorCodes.NONE;
      if (errorCode !== ErrorCodes.NONE && errorCode !== ErrorCodes.GROUP_ID_NOT_FOUND)
        throw brokerError(errorCode, 'Deleting', `group ${groupId}`);
    }
  }

  /** With KRaft any broker passes the request on; older clusters take it at the controller only. */
  private async askController<Request, Response>(
    api: Api<Request, Response>,
    request: Request,
    codesOf: (answer: Response) => readonly number[],
  ): Promise<Response> {
    for (let attempt = 1; ; attempt++) {
      const { controller } = this.cluster.view;
      const answer =
        controller < 0
          ? await this.cluster.withAny((connection) => connection.send(api, request, { parkedMs: TIMEOUT_MS }))
          : await this.cluster.with('main', controller, (connection) => connection.send(api, request, { parkedMs: TIMEOUT_MS }));
      if (attempt === 10 || !codesOf(answer).includes(ErrorCodes.NOT_CONTROLLER)) return answer;
      await delay(backoffMs(attempt, BACKOFF, Math.random), this.closed);
      await this.cluster.readMetadata([]);
    }
  }

  private async askCoordinator<Request, Group extends { readonly errorCode: number }>(
    groupId: string,
    api: Api<Request, readonly Group[]>,
    request: Request,
  ): Promise<Group | undefined> {
    for (let attempt = 1; ; attempt++) {
      const coordinator = await this.port.findCoordinator('group', groupId, { refresh: attempt > 1 });
      const [group] = await this.cluster.with('main', coordinator, (connection) => connection.send(api, request));
      if (group === undefined || attempt === 20 || !COORDINATOR_MOVED.has(group.errorCode)) return group;
      await delay(backoffMs(attempt, BACKOFF, Math.random), this.closed);
    }
  }

  /** A leader in the metadata may not serve its partition yet, so each is asked for an offset. */
  private async untilLed(names: readonly string[]): Promise<void> {
    if (names.length === 0) return;
    const deadline = performance.now() + TIMEOUT_MS;
    for (let attempt = 1; ; attempt++) {
      const { topics } = await this.cluster.readMetadata(names);
      const described = names.every((name) => topics.get(name)?.errorCode === ErrorCodes.NONE);
      if (described && (await this.serve([...topics.values()]))) return;
      if (performance.now() > deadline) throw new KafkaTransportError(`Topics ${names.join(', ')} have no leaders after ${TIMEOUT_MS} ms.`);
      await delay(backoffMs(attempt, BACKOFF, Math.random), this.closed);
    }
  }

  private async serve(topics: readonly TopicMetadata[]): Promise<boolean> {
    const partitions = topics.flatMap((topic) =>
      topic.partitions.map(({ partition }) => ({ topic: topic.name, partition, at: 'earliest' as const })),
    );
    const offsets = await this.port.listOffsets(partitions);
    return offsets.every(({ errorCode }) => errorTreatment(errorCode) !== 'retry');
  }
}
