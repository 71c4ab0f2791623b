import { describe, expect, it } from '@jest/globals';
import { prepareTopics } from '../../src/app/internal-topics.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KafkaPort, NewTopic, TopicMetadata } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { serdes } from '../../src/serdes/serdes.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

/** `orders` counted by a new key, into the store `counts`. */
function topology() {
  const builder = new StreamsBuilder();
  builder
    .stream('orders', text)
    .groupBy((value) => value, { name: 'by-value', keySerde: serdes.string })
    .count({ materialized: { storeName: 'counts' } });
  return builder.build();
}

/** A cluster with topics: name → partitions, or a negative error code. */
class Cluster {
  readonly created: NewTopic[] = [];
  /** What CreateTopics answers, by topic. */
  readonly refusals = new Map<string, number>();
  /** Metadata requests until created topics have a leader. */
  leaderless = 0;

  constructor(readonly topics: Map<string, number>) {}

  get port(): KafkaPort {
    return {
      metadata: async (names: readonly string[] | 'all') => {
        const asked = names === 'all' ? [...this.topics.keys()] : names;
        return { clusterId: 'c', controllerId: 0, brokers: [], topics: new Map(asked.map((name) => [name, this.describe(name)])) };
      },
      admin: {
        createTopics: async (topics: readonly NewTopic[]) => {
          this.created.push(...topics);
          return topics.map(({ topic, partitions }) => {
            const errorCode = this.refusals.get(topic) ?? 0;
            if (errorCode === 0 || errorCode === 36) this.topics.set(topic, this.topics.get(topic) ?? partitions);
            return { topic, errorCode, errorMessage: null };
          });
        },
      },
    } as unknown as KafkaPort;
  }

  private describe(name: string): TopicMetadata {
    const count = this.topics.get(name) ?? -3;
    const leader = this.created.some(({ topic }) => topic === name) && this.leaderless-- > 0 ? -1 : 0;
    const partitions = Array.from({ length: Math.max(0, count) }, (_, partition) => ({ partition, leader, leaderEpoch: 0, errorCode: 0 }));
    return { name, topicId: null, isInternal: false, errorCode: count < 0 ? -count : 0, partitions };
  }
}

const prepare = (cluster: Cluster, of = topology()): Promise<void> =>
  prepareTopics({
    port: cluster.port,
    topology: of,
    applicationId: 'app',
    replicationFactor: -1,
    deadLetterTopic: null,
    logger: silentLogger,
  });

describe('internal topics', () => {
  it('are created as Kafka Streams does, with as many partitions as what goes in', async () => {
    const cluster = new Cluster(new Map([['orders', 5]]));
    await prepare(cluster);
    expect(cluster.created).toMatchObject([
      {
        topic: 'app-by-value-repartition',
        partitions: 5,
        replicationFactor: -1,
        configs: { 'cleanup.policy': 'delete', 'retention.ms': '-1', 'segment.bytes': '52428800', 'message.timestamp.type': 'CreateTime' },
      },
      { topic: 'app-counts-changelog', partitions: 5, replicationFactor: -1, configs: { 'cleanup.policy': 'compact' } },
    ]);
  });

  it('that exist are left alone', async () => {
    const cluster = new Cluster(
      new Map([
        ['orders', 2],
        ['app-by-value-repartition', 2],
        ['app-counts-changelog', 2],
      ]),
    );
    await prepare(cluster);
    expect(cluster.created).toEqual([]);
  });

  it('that another instance creates at the same moment are fine', async () => {
    const cluster = new Cluster(new Map([['orders', 2]]));
    cluster.refusals.set('app-counts-changelog', 36);
    await prepare(cluster);
  });

  it('are waited for until they have leaders', async () => {
    const cluster = new Cluster(new Map([['orders', 1]]));
    cluster.leaderless = 2;
    await prepare(cluster);
    expect(cluster.leaderless).toBeLessThanOrEqual(0);
  });

  it('with other partition counts are refused by name and counts', async () => {
    const cluster = new Cluster(
      new Map([
        ['orders', 4],
        ['app-by-value-repartition', 4],
        ['app-counts-changelog', 3],
      ]),
    );
    await expect(prepare(cluster)).rejects.toMatchObject({
      code: 'MILL_TOPIC_INCOMPATIBLE',
      details: { topic: 'app-counts-changelog', actual: 3, needed: 4 },
    });
  });

  it('tell how state came to another count, and the way out', async () => {
    const builder = new StreamsBuilder();
    builder
      .stream('orders', text)
      .groupByKey()
      .count({ materialized: { storeName: 'counts' } });
    const grown = new Cluster(
      new Map([
        ['orders', 6],
        ['app-counts-changelog', 4],
      ]),
    );
    await expect(prepare(grown, builder.build())).rejects.toMatchObject({
      code: 'MILL_TOPIC_INCOMPATIBLE',
      message: expect.stringMatching(
        /store counts was made with 4 partition\(s\) \(app-counts-changelog\), but orders has 6 now.*repartition\(\{ name, partitions: 4 \}\).*another applicationId/,
      ),
      details: { store: 'counts', actual: 4, needed: 6, inputs: ['orders'] },
    });
  });

  it('that hold records on their way are named before the state that they feed', async () => {
    const grown = new Cluster(
      new Map([
        ['orders', 6],
        ['app-by-value-repartition', 4],
        ['app-counts-changelog', 4],
      ]),
    );
    await expect(prepare(grown)).rejects.toMatchObject({
      code: 'MILL_TOPIC_INCOMPATIBLE',
      details: { topic: 'app-by-value-repartition', actual: 4, needed: 6 },
    });
  });

  it('that may not be created say so', async () => {
    const forbidden = new Cluster(new Map([['orders', 1]]));
    forbidden.refusals.set('app-counts-changelog', 29);
    await expect(prepare(forbidden)).rejects.toMatchObject({ code: 'MILL_AUTHORIZATION', details: { topic: 'app-counts-changelog' } });
    const refused = new Cluster(new Map([['orders', 1]]));
    refused.refusals.set('app-counts-changelog', 38);
    await expect(prepare(refused)).rejects.toMatchObject({ code: 'MILL_BROKER_ERROR', details: { brokerErrorCode: 38 } });
  });
});

describe('source topics', () => {
  it('that do not exist are named', async () => {
    await expect(prepare(new Cluster(new Map()))).rejects.toMatchObject({ code: 'MILL_TOPIC_MISSING', details: { topics: ['orders'] } });
  });

  it('that may not be described are a matter of rights', async () => {
    await expect(prepare(new Cluster(new Map([['orders', -29]])))).rejects.toMatchObject({
      code: 'MILL_AUTHORIZATION',
      details: { topics: ['orders'] },
    });
  });
});
