/** The administrative part of the in-memory port. Throws where the real driver does. */
import { MillraceError } from '../../errors.js';
import { ErrorCodes as E, errorName } from '../../kafka/error-codes.js';
import type { KafkaAdmin, NewTopic, TopicPartition } from '../../kafka/port.js';
import type { InMemoryCluster } from './in-memory-cluster.js';
import type { CreatedTopic } from './topics.js';

/** Carries `execute` out at a broker. */
export type Ask = <T>(execute: () => T) => Promise<T>;

export class InMemoryAdmin implements KafkaAdmin {
  constructor(
    private readonly cluster: InMemoryCluster,
    private readonly ask: Ask,
  ) {}

  createTopics(topics: readonly NewTopic[]): Promise<readonly CreatedTopic[]> {
    return this.ask(() => topics.map((topic) => this.cluster.topics.create(topic)));
  }

  deleteTopics(topics: readonly string[]): Promise<void> {
    return this.ask(() => {
      for (const topic of topics) if (this.cluster.topics.delete(topic)) this.cluster.groups.offsets.forgetTopic(topic);
    });
  }

  describeTopicConfigs(topics: readonly string[]): Promise<ReadonlyMap<string, ReadonlyMap<string, string | null>>> {
    return this.ask(() => {
      const known = topics.flatMap((name) => this.cluster.topics.get(name) ?? []);
      return new Map(known.map(({ name, configs }) => [name, new Map(configs)]));
    });
  }

  async deleteRecords(before: readonly (TopicPartition & { readonly offset: number })[]): Promise<void> {
    for (const { topic, partition, offset } of before) {
      const errorCode = await this.ask(() => {
        const log = this.cluster.topics.log({ topic, partition });
        return log === undefined ? E.LEADER_NOT_AVAILABLE : log.deleteBefore(offset);
      });
      if (errorCode !== E.NONE) throw refused(errorCode, `Deleting records of topic ${topic}, partition ${partition}`);
    }
  }

  describeGroup(groupId: string): ReturnType<KafkaAdmin['describeGroup']> {
    return this.ask(() => this.cluster.groups.describe(groupId));
  }

  async describeStreamsGroup(groupId: string): ReturnType<KafkaAdmin['describeStreamsGroup']> {
    if (!this.cluster.options.streamsGroups) return null;
    return this.ask(() => this.cluster.groups.describeStreams(groupId));
  }

  async deleteGroups(groupIds: readonly string[]): Promise<void> {
    for (const groupId of groupIds) {
      const errorCode = await this.ask(() => this.cluster.groups.delete(groupId));
      if (errorCode !== E.NONE && errorCode !== E.GROUP_ID_NOT_FOUND) throw refused(errorCode, `Deleting group ${groupId}`);
    }
  }
}

function refused(errorCode: number, what: string): MillraceError {
  return new MillraceError('MILL_BROKER_ERROR', `${what} failed with ${errorName(errorCode)} (${errorCode}).`, {
    details: { brokerErrorCode: errorCode },
  });
}
