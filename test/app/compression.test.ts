import { afterEach, describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { serdes, StreamsBuilder } from '../../src/index.js';
import { compressionId } from '../../src/kafka/compression/compression-type.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };
/** The low byte of a record batch's attributes, whose lowest three bits name the compression. */
const attributesAt = 22;

let app: StreamsApp;
afterEach(() => app.close());

describe('compressionType', () => {
  it.each(['none', 'gzip', 'snappy', 'lz4', 'zstd'] as const)('%s is how outputs and changelogs are written', async (type) => {
    const kafka = inMemoryKafka();
    kafka.createTopic('in', 1);
    kafka.createTopic('out', 1);
    const written = new Map<string, Set<number>>();
    const builder = new StreamsBuilder();
    const last = builder.stream('in', strings).groupByKey();
    const rows = last.reduce((_, value) => value, { materialized: { storeName: 'last' } });
    rows.toStream().to('out');
    app = new StreamsApp(
      builder.build(),
      { applicationId: 'app', bootstrapServers: 'memory:9092', commitInterval: 20, heartbeatInterval: 20, compressionType: type },
      {
        openPort: ({ clientId }) => {
          const port = kafka.port({ clientId });
          const produce = port.produce.bind(port);
          port.produce = (broker, request) => {
            for (const { topic, records } of request.partitions) {
              const compressions = written.get(topic) ?? new Set();
              written.set(topic, compressions);
              for (const batch of records) compressions.add((batch[attributesAt] ?? 0) & 7);
            }
            return produce(broker, request);
          };
          return port;
        },
        openDirectory: () => Promise.resolve(new InMemoryDirectory('compressed').acquire()),
      },
    );
    await app.start();
    const records = Array.from({ length: 100 }, (_, index) => ({ key: Buffer.from(`key ${index}`), value: Buffer.alloc(100, 'v') }));
    kafka.produce('in', records);
    await until('every row is out', () => kafka.records('out').length === records.length);
    expect(kafka.records('out').map(({ key }) => String(key))).toEqual(records.map(({ key }) => String(key)));
    // A batch that would not get smaller is written as it is.
    for (const topic of ['app-last-changelog', 'out']) expect(written.get(topic)).toContain(compressionId(type));
    if (type === 'none') expect([...written.values()].flatMap((compressions) => [...compressions])).toEqual([0, 0]);
  });
});
