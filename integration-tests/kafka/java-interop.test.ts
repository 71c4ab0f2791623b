import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { runKafkaTool } from '../../scripts/stack/java-tool.js';
import { startStack, type Stack } from '../../scripts/stack/stack.js';
import type { CompressionType } from '../../src/kafka/compression/compression-type.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { IsolationLevel, KafkaPort } from '../../src/kafka/port.js';
import { RecordBatchBuilder } from '../../src/kafka/record-batch/record-batch-builder.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { silentLogger } from '../../src/observability/logger.js';
import { TransactionalProducer } from '../../src/transactions/producer/transactional-producer.js';
import { eventually } from './broker-fixture.js';
import { Opened } from '../opened.js';

const codecs: readonly CompressionType[] = ['none', 'gzip', 'snappy', 'lz4', 'zstd'];
const rows = Array.from({ length: 50 }, (_, i) => `k${i}:value-${i}-${'x'.repeat(i)}`);

let stack: Stack;
let port: KafkaPort;
const opened = new Opened();

beforeAll(async () => {
  // One of its own: the log files are looked at.
  stack = opened.add(await startStack({ own: true }), (started) => started.stop());
  port = opened.add(createKafkajsPort({ brokers: stack.bootstrapServers, clientId: 'java-interop' }, silentLogger), (made) => made.close());
  await port.connect();
});
afterAll(() => opened.close());

const servers = (): string[] => ['--bootstrap-server', stack.bootstrapServers.join(',')];

async function createTopic(topic: string): Promise<number> {
  await port.admin.createTopics([{ topic, partitions: 1, replicationFactor: 1, configs: {} }]);
  const metadata = await port.metadata([topic], { refresh: true });
  return metadata.topics.get(topic)?.partitions[0]?.leader ?? -1;
}

describe('transactions that Java knows of', () => {
  it.each([
    ['a committed one is seen', true],
    ['an aborted one is not', false],
  ])('by its read_committed consumer: %s', async (_what, commit) => {
    const topic = commit ? 'committed' : 'aborted';
    await createTopic(topic);
    const producer = new TransactionalProducer({ port, transactionalId: `interop-${topic}` });
    await producer.init();
    producer.builder(topic, 0).appendRaw(1, null, 0, 0, Buffer.from('in'), 0, 2, null);
    const sealed = producer.sealEpoch();
    if (commit) await sealed.commit([], { groupId: '', memberId: '', generation: -1, groupInstanceId: null });
    else await producer.abort();
    producer.builder(topic, 0).appendRaw(1, null, 0, 0, Buffer.from('after'), 0, 5, null);
    await producer.sealEpoch().commit([], { groupId: '', memberId: '', generation: -1, groupInstanceId: null });
    await producer.close();
    const read = await runKafkaTool('org.apache.kafka.tools.consumer.ConsoleConsumer', [
      ...servers(),
      ...['--topic', topic, '--from-beginning', '--isolation-level', 'read_committed', '--max-messages', commit ? '2' : '1'],
      ...['--timeout-ms', '20000'],
    ]);
    expect(read.stdout.trim().split('\n')).toEqual(commit ? ['in', 'after'] : ['after']);
  });
});

describe.each(codecs)('record batches with compression %s', (compression) => {
  it('that we write are read by the Java console consumer and are valid to DumpLogSegments', async () => {
    const topic = `ours-${compression}`;
    const leader = await createTopic(topic);
    const builder = new RecordBatchBuilder({ maxBatchBytes: 100_000, compression });
    rows.forEach((row, i) => {
      const [key, value] = row.split(':').map((text) => Buffer.from(text)) as [Buffer, Buffer];
      builder.appendRaw(1000 + i, key, 0, key.length, value, 0, value.length, [{ key: 'n', value: Buffer.from(String(i)) }]);
    });
    const taken = builder.take()!;
    taken.stamp(null, 0);
    const partitions = [{ topic, partition: 0, records: taken.batches.map(({ buffer }) => buffer) }];
    const answer = await port.produce(leader, { transactionalId: null, acks: -1, timeoutMs: 10_000, partitions });
    expect(answer.partitions).toMatchObject([{ errorCode: 0 }]);
    const read = await runKafkaTool('org.apache.kafka.tools.consumer.ConsoleConsumer', [
      ...servers(),
      ...['--topic', topic, '--from-beginning', '--max-messages', String(rows.length), '--timeout-ms', '20000'],
      ...['--formatter-property', 'print.key=true', '--formatter-property', 'key.separator=:'],
      ...['--formatter-property', 'print.headers=true', '--formatter-property', 'headers.separator=,'],
    ]);
    const expected = rows.map((row, i) => `n:${i}:${row}`);
    expect(
      read.stdout
        .trim()
        .split('\n')
        .map((line) => line.replace('\t', ':')),
    ).toEqual(expected);
    const dump = await runKafkaTool('org.apache.kafka.tools.DumpLogSegments', ['--deep-iteration', '--files', await logFile(topic)]);
    expect(dump.stdout).toContain('isvalid: true');
    expect(dump.stdout).not.toContain('isvalid: false');
  });

  it('that Java writes are read by us', async () => {
    const topic = `java-${compression}`;
    const leader = await createTopic(topic);
    const written = await runKafkaTool(
      'org.apache.kafka.tools.ConsoleProducer',
      [
        ...servers(),
        ...['--topic', topic, '--compression-codec', compression],
        ...['--reader-property', 'parse.key=true', '--reader-property', 'key.separator=:'],
      ],
      { input: `${rows.join('\n')}\n` },
    );
    expect(written.code).toBe(0);
    const fetched = await port.fetch(leader, {
      isolation: 'read_committed',
      maxWaitMs: 5000,
      minBytes: 1,
      maxBytes: 1_000_000,
      partitions: [{ topic, partition: 0, offset: 0, maxBytes: 1_000_000 }],
    });
    const cursor = new RecordCursor();
    const records = fetched.partitions[0]!.records;
    cursor.open(records, { fetchOffset: 0, isolation: 'read_committed', abortedTransactions: [], topic, partition: 0 });
    const seen: string[] = [];
    while (cursor.next()) {
      const text = (start: number, end: number): string => cursor.buffer.toString('utf8', start, end);
      seen.push(`${text(cursor.keyStart, cursor.keyEnd)}:${text(cursor.valueStart, cursor.valueEnd)}`);
    }
    expect(seen).toEqual(rows);
  });
});

describe('transactions that Java’s producers write, committed, aborted and open ones among one another', () => {
  const partitions = 3;
  /** What Java’s consumer reads, line by line, by topic and isolation. */
  let java: ReadonlyMap<string, readonly string[]>;
  beforeAll(async () => {
    const topics = codecs.map((codec) => `transactions-${codec}`);
    await port.admin.createTopics(topics.map((topic) => ({ topic, partitions, replicationFactor: 1, configs: {} })));
    const program = join(import.meta.dirname, 'java', 'Transactions.java');
    const pairs = codecs.flatMap((codec) => [`transactions-${codec}`, codec]);
    const ran = await runKafkaTool(program, [stack.bootstrapServers.join(','), String(partitions), '20260', ...pairs]);
    if (ran.code !== 0) throw new Error(`Transactions.java: ${ran.stderr}`);
    const lines = new Map<string, string[]>();
    for (const line of ran.stdout.trim().split('\n')) {
      const [topic, isolation, ...record] = line.split(' ');
      const key = `${topic} ${isolation}`;
      lines.set(key, [...(lines.get(key) ?? []), record.join(' ')]);
    }
    java = lines;
  }, 120_000);

  it.each(codecs.flatMap((codec) => (['read_committed', 'read_uncommitted'] as const).map((isolation) => ({ codec, isolation }))))(
    'in $codec are to our fetcher what they are to Java’s consumer, $isolation',
    async ({ codec, isolation }) => {
      const topic = `transactions-${codec}`;
      const expected = java.get(`${topic} ${isolation}`) ?? [];
      expect(expected.length).toBeGreaterThan(50);
      const seen = await readAll(topic, isolation);
      const byPlace = (lines: readonly string[]): string[] => [...lines].sort((a, b) => placeOf(a) - placeOf(b));
      expect(byPlace(seen)).toEqual(byPlace(expected));
      // In each partition in the order of the log.
      for (let partition = 0; partition < partitions; partition++) {
        const places = seen.map(placeOf).filter((place) => Math.floor(place / 1e6) === partition);
        expect(places).toEqual([...places].sort((a, b) => a - b));
      }
    },
  );

  it('leave out for read_committed what was aborted, and what lies behind an open one', () => {
    const [committed, all] = ['read_committed', 'read_uncommitted'].map((isolation) => new Set(java.get(`transactions-none ${isolation}`)));
    expect([...committed!].every((line) => all!.has(line))).toBe(true);
    expect(all!.size).toBeGreaterThan(1.5 * committed!.size);
  });

  function placeOf(line: string): number {
    const [partition, offset] = line.split(' ').map(Number);
    return partition! * 1e6 + offset!;
  }

  /** Every partition from its beginning to its end, as `Transactions.java` prints it. */
  async function readAll(topic: string, isolation: IsolationLevel): Promise<string[]> {
    const lines: string[] = [];
    const cursor = new RecordCursor();
    const text = (start: number, end: number): string => (start < 0 ? 'null' : `x${cursor.buffer.toString('hex', start, end)}`);
    const fetcher = new Fetcher(port, {
      isolation,
      // Several chunks of a few batches.
      maxBytesPerPartition: 4000,
      autoOffsetReset: () => 'none',
      logger: silentLogger,
      onData: (chunk) => {
        cursor.open(chunk.records, { ...chunk, isolation });
        while (cursor.next()) {
          const headers = cursor.headers().map(({ key, value }) => `${key}=${value === null ? 'null' : `x${value.toString('hex')}`};`);
          const record = [cursor.offset, cursor.timestamp, text(cursor.keyStart, cursor.keyEnd), text(cursor.valueStart, cursor.valueEnd)];
          lines.push([chunk.partition, ...record, `[${headers.join('')}]`].join(' '));
        }
        fetcher.consumed(chunk.byteLength, chunk);
      },
      onError: (error) => lines.push(error.message),
    });
    const all = Array.from({ length: partitions }, (_, partition) => ({ topic, partition }));
    for (const partition of all) fetcher.assign(partition, 0);
    fetcher.start();
    const ends = await port.listOffsets(all.map((partition) => ({ ...partition, at: 'latest', isolation })));
    await eventually(
      async () => ends.every((end) => fetcher.position(end) >= end.offset),
      (isThere) => isThere,
    );
    await fetcher.stop();
    return lines;
  }
});

async function logFile(topic: string): Promise<string> {
  const files = await readdir(stack.folder!, { recursive: true });
  const found = files.find((file) => file.includes(`${topic}-0/`) && file.endsWith('.log'));
  expect(found).toBeDefined();
  return join(stack.folder!, found!);
}
