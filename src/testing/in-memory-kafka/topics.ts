/** The topics of the in-memory cluster with their partitions' logs and configurations. */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type { NewTopic, TopicPartition } from '../../kafka/port.js';
import { PartitionLog } from './partition-log.js';

export interface Topic {
  readonly name: string;
  readonly topicId: string;
  /** When the group coordinator hears of it; ms of the wall clock. */
  readonly knownFrom: number;
  readonly configs: Map<string, string>;
  readonly logs: readonly PartitionLog[];
}

export interface CreatedTopic {
  readonly topic: string;
  readonly errorCode: number;
  readonly errorMessage: string | null;
}

/** Brokers' defaults of the configurations that matter here or that somebody may ask for. */
const defaultConfigs: Readonly<Record<string, string>> = {
  'cleanup.policy': 'delete',
  'compression.type': 'producer',
  'max.message.bytes': '1048588',
  'message.timestamp.type': 'CreateTime',
  'min.insync.replicas': '1',
  'retention.bytes': '-1',
  'retention.ms': '604800000',
  'segment.bytes': '1073741824',
};

const INVALID_TOPIC = 17;
const INVALID_PARTITIONS = 37;
const INVALID_REPLICATION_FACTOR = 38;

export class Topics {
  private readonly topics = new Map<string, Topic>();

  constructor(
    private readonly brokers: number,
    private readonly newTopic: () => Pick<Topic, 'topicId' | 'knownFrom'>,
    private readonly logChanged: (partition: TopicPartition) => void,
  ) {}

  get all(): readonly Topic[] {
    return [...this.topics.values()];
  }

  get(name: string): Topic | undefined {
    return this.topics.get(name);
  }

  log({ topic, partition }: TopicPartition): PartitionLog | undefined {
    return this.topics.get(topic)?.logs[partition];
  }

  create({ topic, partitions, replicationFactor, configs }: NewTopic): CreatedTopic {
    const fail = (errorCode: number, errorMessage: string): CreatedTopic => ({ topic, errorCode, errorMessage });
    if (this.topics.has(topic)) return fail(E.TOPIC_ALREADY_EXISTS, `Topic '${topic}' already exists.`);
    if (!/^[\w.-]{1,249}$/.test(topic) || topic === '.' || topic === '..') return fail(INVALID_TOPIC, `Topic name '${topic}' is illegal.`);
    const count = partitions === -1 ? 1 : partitions;
    if (count < 1) return fail(INVALID_PARTITIONS, 'Number of partitions was set to an invalid non-positive value.');
    if (replicationFactor === 0 || replicationFactor > this.brokers)
      return fail(INVALID_REPLICATION_FACTOR, `Unable to replicate the partition ${replicationFactor} time(s).`);
    const logs = Array.from(
      { length: count },
      (_, partition) => new PartitionLog(topic, partition, () => this.logChanged({ topic, partition })),
    );
    const all = new Map(Object.entries({ ...defaultConfigs, ...configs }));
    this.topics.set(topic, { name: topic, ...this.newTopic(), configs: all, logs });
    return { topic, errorCode: E.NONE, errorMessage: null };
  }

  delete(name: string): boolean {
    const known = this.topics.get(name);
    this.topics.delete(name);
    for (const log of known?.logs ?? []) this.logChanged(log);
    return known !== undefined;
  }
}
