import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { FetchRequest, FetchResponse, KafkaPort, OffsetQuery } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { failAlways, type DeserializationHandler } from '../../src/runtime/error-policy.js';
import { GlobalTables } from '../../src/runtime/global-tables.js';
import { SerdeDefaults } from '../../src/runtime/serde-defaults.js';
import { serdes } from '../../src/serdes/serdes.js';
import type { TimestampedKeyValueStore } from '../../src/stores/store.js';
import { TopicLog } from '../../src/testing/topic-log.js';
import { deferred, settle } from './harness/task-rig.js';

type Table = TimestampedKeyValueStore<string, number>;

const builder = new StreamsBuilder();
builder.globalTable('airports', { keySerde: serdes.string, valueSerde: serdes.json<number>(), materialized: { storeName: 'airports' } });
const topology = builder.build();

/** A topic `airports` of one partition: fetches wait until the test has written something. */
class Broker {
  log = new TopicLog();
  errorCode = 0;
  topicId: string | null = 'first';
  private readonly batches: { readonly offset: number; readonly records: Buffer }[] = [];
  private waiting: ReturnType<typeof deferred> = deferred();

  write(key: string | null, value: string): void {
    const [k, v] = [key === null ? null : Buffer.from(key), Buffer.from(value)];
    this.log.builder('airports', 0).appendRaw(1, k, 0, k?.length ?? 0, v, 0, v.length, null);
    for (const { fetchOffset, records } of this.log.deliver()) this.batches.push({ offset: fetchOffset, records });
    this.waiting.resolve(undefined);
    this.waiting = deferred();
  }

  get port(): KafkaPort {
    return {
      metadata: async () => ({
        clusterId: 'c',
        controllerId: 0,
        brokers: [],
        topics: new Map([
          [
            'airports',
            {
              name: 'airports',
              topicId: this.topicId,
              isInternal: false,
              errorCode: 0,
              partitions: [{ partition: 0, leader: 0, leaderEpoch: 0, errorCode: 0 }],
            },
          ],
        ]),
      }),
      listOffsets: async (queries: readonly OffsetQuery[]) =>
        queries.map(({ topic, partition, at }) => ({
          topic,
          partition,
          errorCode: this.errorCode,
          offset: at === 'earliest' ? 0 : this.log.end('airports', 0),
        })),
      fetch: (_broker: number, { partitions }: FetchRequest) => this.fetch(partitions[0]?.offset ?? 0, partitions[0]?.topicId ?? null),
    } as unknown as KafkaPort;
  }

  /** Deletes the topic and creates it again. */
  recreate(): void {
    this.topicId = 'second';
    this.batches.length = 0;
    this.log = new TopicLog();
    this.waiting.resolve(undefined);
    this.waiting = deferred();
  }

  private async fetch(offset: number, topicId: string | null): Promise<FetchResponse> {
    while (topicId === this.topicId && !this.batches.some((batch) => batch.offset >= offset)) await this.waiting.promise;
    const records = this.batches.find((batch) => batch.offset >= offset)?.records ?? Buffer.alloc(0);
    const end = this.log.end('airports', 0);
    return {
      errorCode: 0,
      throttleMs: 0,
      partitions: [
        {
          topic: 'airports',
          partition: 0,
          errorCode: topicId === this.topicId ? 0 : 100,
          highWatermark: end,
          lastStableOffset: end,
          logStartOffset: 0,
          abortedTransactions: [],
          records,
        },
      ],
    };
  }
}

function tablesOf(broker: Broker, deserialization: DeserializationHandler = 'fail') {
  const errors: unknown[] = [];
  const tables = new GlobalTables({
    port: broker.port,
    topology,
    isolation: 'read_committed',
    serdes: new SerdeDefaults(null, null),
    applicationId: 'app',
    errors: { ...failAlways, deserialization },
    logger: silentLogger,
    onError: (error) => errors.push(error),
  });
  return { tables, errors, read: (key: string) => (tables.store('airports') as Table).get(key) ?? null };
}

describe('global tables', () => {
  it('hold at the start what their topic held, and follow it afterwards', async () => {
    const broker = new Broker();
    broker.write('JFK', '1');
    broker.write('LAX', '2');
    broker.write(null, '9');
    broker.write('JFK', '3');
    const { tables, read } = tablesOf(broker);
    await tables.start();
    expect([read('JFK'), read('LAX'), read('ORD')]).toEqual([3, 2, null]);
    broker.write('ORD', '4');
    for (let i = 0; i < 10; i++) await settle();
    expect(read('ORD')).toBe(4);
    await tables.close();
  });

  it('of a topic that is deleted and created again have its rows only', async () => {
    const broker = new Broker();
    broker.write('JFK', '1');
    broker.write('LAX', '2');
    const { tables, errors, read } = tablesOf(broker);
    await tables.start();
    expect([read('JFK'), read('LAX')]).toEqual([1, 2]);
    broker.recreate();
    broker.write('LAX', '3');
    broker.write('ORD', '4');
    broker.write('SEA', '5');
    for (let i = 0; i < 400 && read('SEA') === null; i++) await new Promise((resolve) => setTimeout(resolve, 5));
    expect([read('JFK'), read('LAX'), read('ORD'), read('SEA'), errors]).toEqual([null, 3, 4, 5, []]);
    await tables.close();
  });

  it('of an empty topic are ready at once', async () => {
    const { tables, read } = tablesOf(new Broker());
    await tables.start();
    expect(read('JFK')).toBeNull();
    await tables.close();
  });

  it('can’t start on a record that does not decode, unless the handler lets it pass', async () => {
    const broker = new Broker();
    broker.write('JFK', 'no number');
    broker.write('LAX', '2');
    const failing = tablesOf(broker);
    await expect(failing.tables.start()).rejects.toMatchObject({ code: 'MILL_DESERIALIZATION', details: { topic: 'airports', offset: 0 } });
    await failing.tables.close();
    const passing = tablesOf(broker, 'continue');
    await passing.tables.start();
    expect([passing.read('JFK'), passing.read('LAX')]).toEqual([null, 2]);
    await passing.tables.close();
  });

  it('tell once of a record that fails later, and apply nothing after it', async () => {
    const broker = new Broker();
    const { tables, errors, read } = tablesOf(broker);
    await tables.start();
    broker.write('JFK', 'no number');
    broker.write('LAX', '2');
    broker.write('ORD', '3');
    for (let i = 0; i < 20; i++) await settle();
    expect(errors).toMatchObject([{ code: 'MILL_DESERIALIZATION' }]);
    expect(read('ORD')).toBeNull();
    await tables.close();
  });

  it('name the partition whose offsets can’t be read', async () => {
    const broker = new Broker();
    broker.errorCode = 5;
    const { tables } = tablesOf(broker);
    await expect(tables.start()).rejects.toMatchObject({ code: 'MILL_BROKER_ERROR', details: { topic: 'airports', partition: 0 } });
    await tables.close();
  });
});
