/** The examples as a reader starts them: one process each, topics made before, results read as a consumer of committed records sees them. */
import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import { createServer, type AddressInfo } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import type { Consumer, Message, Producer } from 'kafkajs';
import { Kafka, logLevel } from 'kafkajs';
import type { Stack } from '../scripts/stack/stack.js';
import { startStack } from '../scripts/stack/stack.js';
import { Opened } from './opened.js';
import { until } from './faults/until.js';

interface Result {
  readonly key: string | null;
  readonly value: Buffer | null;
  readonly headers: Readonly<Record<string, string>>;
}

// The examples have fixed names of topics and applications, so they need a broker that nobody used before.
let stack: Stack;
let kafka: Kafka;
let producer: Producer;
let folder: string;
let output = '';
const opened = new Opened();
const consumers: Consumer[] = [];
const children: ChildProcess[] = [];

beforeAll(async () => {
  folder = opened.add(await mkdtemp(join(tmpdir(), 'millrace-examples-')), (made) => rm(made, { recursive: true, force: true }));
  stack = opened.add(await startStack({ own: true }), (started) => started.stop());
  kafka = new Kafka({ brokers: stack.bootstrapServers, logLevel: logLevel.NOTHING });
  producer = opened.add(kafka.producer(), (made) => made.disconnect());
  await producer.connect();
});

afterEach(async () => {
  for (const child of children.splice(0)) child.kill('SIGKILL');
  await Promise.all(consumers.splice(0).map((consumer) => consumer.disconnect()));
});

afterAll(() => opened.close());

async function createTopics(...names: string[]): Promise<void> {
  const admin = kafka.admin();
  await admin.connect();
  await admin.createTopics({ topics: names.map((topic) => ({ topic, numPartitions: 2 })) });
  await admin.disconnect();
}

async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1');
  await once(probe, 'listening');
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, 'close');
  return port;
}

function start(example: string, more: NodeJS.ProcessEnv = {}): ChildProcess {
  const child = spawn(process.execPath, ['--import', 'tsx', join('examples', example)], {
    env: { ...process.env, NODE_OPTIONS: '', KAFKA_BROKERS: stack.bootstrapServers.join(','), TMPDIR: folder, ...more },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  children.push(child);
  output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  return child;
}

/** Everything that is in the topic now and comes later. */
async function read(topic: string): Promise<readonly Result[]> {
  const results: Result[] = [];
  const consumer = kafka.consumer({ groupId: `reader-of-${topic}` });
  consumers.push(consumer);
  await consumer.connect();
  await consumer.subscribe({ topic, fromBeginning: true });
  await consumer.run({
    eachMessage: async ({ message: { key, value, headers } }) => {
      const texts = Object.entries(headers ?? {}).map(([name, header]) => [name, String(header)] as const);
      results.push({ key: key === null ? null : key.toString(), value, headers: Object.fromEntries(texts) });
    },
  });
  return results;
}

const send = (topic: string, messages: Message[]) => producer.send({ topic, messages });

async function endsWell(child: ChildProcess): Promise<void> {
  const exit = once(child, 'exit');
  child.kill('SIGTERM');
  expect({ exit: await exit, output }).toEqual({ exit: [0, null], output: '' });
}

describe('the examples', () => {
  it('01 counts words', async () => {
    await createTopics('lines', 'word-counts');
    await send('lines', [{ value: 'To be, or not' }, { value: 'to be' }]);
    const child = start('01-word-count.ts');
    const results = await read('word-counts');
    const counts = (): Record<string, number> =>
      Object.fromEntries(results.map(({ key, value }) => [String(key), Number(value?.readBigInt64BE())] as const));
    await until('all words are counted', () => counts()['be'] === 2 && counts()['to'] === 2 && counts()['not'] === 1);
    expect(counts()).toEqual({ to: 2, be: 2, or: 1, not: 1 });
    await endsWell(child);
  });

  it('03 joins orders with customers, and keeps orders of strangers', async () => {
    await createTopics('orders', 'customers', 'enriched-orders');
    await send('customers', [{ key: 'c1', value: '{"name":"Ada"}', timestamp: '1000' }]);
    await send('orders', [
      { key: 'c1', value: '{"id":"a","total":5}', timestamp: '2000' },
      { key: 'c1', value: '{"id":"b","total":0}', timestamp: '2001' },
      { key: 'c2', value: '{"id":"c","total":7}', timestamp: '2002' },
    ]);
    const child = start('03-enrich-with-table.ts');
    const results = await read('enriched-orders');
    await until('both orders are there', () => results.length === 2);
    const orders = results.map(({ value }) => JSON.parse(String(value)) as { id: string });
    expect(orders.sort((a, b) => a.id.localeCompare(b.id))).toEqual([
      { id: 'a', total: 5, customer: 'Ada' },
      { id: 'c', total: 7, customer: '(unknown)' },
    ]);
    await endsWell(child);
  });

  it('04 goes on after bad records and keeps them', async () => {
    await createTopics('readings', 'fahrenheit', 'readings-dead');
    await send('readings', [
      { key: 'a', value: '{"celsius":100}' },
      { key: 'a', value: 'no JSON' },
      { key: 'a', value: '{"celsius":"warm"}' },
      { key: 'a', value: '{"celsius":0}' },
    ]);
    const child = start('04-dead-letters.ts');
    const [good, dead] = [await read('fahrenheit'), await read('readings-dead')];
    await until('every record has gone where it belongs', () => good.length === 2 && dead.length === 2);
    expect(good.map(({ value }) => String(value))).toEqual(['212', '32']);
    expect(
      dead.map(({ key, value, headers }) => [key, String(value), headers['__streams.errors.topic'], headers['__streams.errors.offset']]),
    ).toEqual([
      ['a', 'no JSON', 'readings', '1'],
      ['a', '{"celsius":"warm"}', 'readings', '2'],
    ]);
    expect(dead[1]?.headers['__streams.errors.exception']).toBe('RangeError');
    await endsWell(child);
  });

  it('05 reports a device that is silent for a minute', async () => {
    await createTopics('heartbeats', 'silent-devices');
    const beat = (key: string, ms: number) => ({ key, value: '', timestamp: String(1_700_000_000_000 + ms), partition: 0 });
    await send('heartbeats', [beat('loud', 0), beat('quiet', 0), beat('loud', 30_000), beat('loud', 65_000)]);
    const child = start('05-own-processor.ts');
    const results = await read('silent-devices');
    await until('the silent device is reported', () => results.length === 1);
    expect(results.map(({ key, value }) => [key, String(value)])).toEqual([['quiet', '2023-11-14T22:13:20.000Z']]);
    await endsWell(child);
  });

  it('07 tells which invoices were paid, and which were not in time', async () => {
    await createTopics('invoices', 'payments', 'invoice-states');
    const day = 86_400_000;
    const at = (days: number, key: string, value: string) => ({
      key,
      value,
      timestamp: String(1_700_000_000_000 + days * day),
      partition: 0,
    });
    await send('invoices', [at(0, 'i1', '{"total":10}'), at(0, 'i2', '{"total":20}')]);
    await send('payments', [at(2, 'i1', '{"amount":10}')]);
    const child = start('07-join-streams.ts');
    const results = await read('invoice-states');
    await until('the payment has met its invoice', () => results.length === 1);
    await send('invoices', [at(32, 'i3', '{"total":30}')]);
    await until('the other invoice is overdue', () => results.length === 2);
    expect(results.map(({ key, value }) => [key, String(value)])).toEqual([
      ['i1', 'paid'],
      ['i2', 'overdue'],
    ]);
    await endsWell(child);
  });

  it('10 answers over HTTP, in each instance for both', async () => {
    await createTopics('texts');
    await send('texts', [{ value: 'tea and rice' }, { value: 'tea' }]);
    const ports = [await freePort(), await freePort()];
    const both = ports.map((port, at) => start('10-query-server.ts', { PORT: String(port), TMPDIR: join(folder, `words-${at}`) }));
    const ask = async (port: number, word: string): Promise<unknown> => {
      const answer = await fetch(`http://127.0.0.1:${port}/stores/words/key?key=${word}`).catch(() => null);
      return answer?.ok === true ? ((await answer.json()) as { value: unknown }).value : answer?.status;
    };
    for (const port of ports) {
      await until(
        'all words are counted',
        async () => (await ask(port, 'tea')) === 2 && (await ask(port, 'rice')) === 1,
        60_000,
        () => output,
      );
      expect(await ask(port, 'coffee')).toBeNull();
    }
    for (const child of both) await endsWell(child);
  });

  it('13 computes on several threads, and answers for all of them', async () => {
    await createTopics('documents', 'fingerprints');
    await send('documents', [
      { key: 'ada', value: 'first' },
      { key: 'bob', value: 'first' },
      { key: 'ada', value: 'second' },
    ]);
    const child = start('13-stream-threads/app.ts');
    const results = await read('fingerprints');
    await until('every document has its fingerprint', () => results.length === 3, 60_000);
    expect(new Set(results.map(({ value }) => String(value))).size).toBe(2);
    await until('they are counted', () => output.includes('ada: 2 documents'), 60_000);
    const exit = once(child, 'exit');
    child.kill('SIGTERM');
    expect(await exit).toEqual([0, null]);
  });

  it('12 sends the results of its calls in the order of the payments', async () => {
    await createTopics('foreign-payments', 'payments-in-euros', 'unknown-currencies');
    const payment = (amount: number, currency: string) => ({ key: 'ada', value: JSON.stringify({ amount, currency }) });
    await send('foreign-payments', [payment(1, 'EUR'), payment(2, 'USD'), payment(3, 'XXX'), payment(4, 'GBP'), payment(5, 'EUR')]);
    const child = start('12-async-calls.ts');
    const [results, unknown] = [await read('payments-in-euros'), await read('unknown-currencies')];
    await until('every payment is told or refused', () => results.length === 4 && unknown.length === 1);
    expect(results.map(({ value }) => value?.readDoubleBE())).toEqual([1, 1, 5, 5]);
    expect(unknown[0]?.headers['__streams.errors.message']).toBe('no rate for XXX');
    await endsWell(child);
  });

  it('11 counts what is there, the last hour too, and ends', async () => {
    await createTopics('page-visits', 'visits-an-hour');
    await send('page-visits', [
      { key: 'home', value: 'ada', timestamp: String(Date.UTC(2026, 0, 1, 10, 5)) },
      { key: 'home', value: 'bob', timestamp: String(Date.UTC(2026, 0, 1, 10, 55)) },
      { key: 'home', value: 'ada', timestamp: String(Date.UTC(2026, 0, 1, 11, 30)) },
    ]);
    const child = start('11-bounded-run.ts');
    const results = await read('visits-an-hour');
    await until('it has ended', () => child.exitCode !== null);
    expect(child.exitCode).toBe(0);
    expect(output).toContain('3 records in');
    await until('both hours are told', () => results.length >= 2);
    expect(results.map(({ key, value }) => [key, value?.readInt32BE()])).toEqual([
      ['home@2026-01-01T10:00:00.000Z', 2],
      ['home@2026-01-01T11:00:00.000Z', 1],
    ]);
  });

  it('08 tells a visit when it is over', async () => {
    await createTopics('page-views', 'visits');
    const begin = 1_700_000_000_000;
    const view = (minutes: number, key: string, value: string) => ({
      key,
      value,
      timestamp: String(begin + minutes * 60_000),
      partition: 0,
    });
    await send('page-views', [view(0, 'ada', 'home'), view(20, 'ada', 'prices'), view(40, 'ada', 'order'), view(80, 'bob', 'home')]);
    const child = start('08-sessions.ts');
    const results = await read('visits');
    await until('the visit is told', () => results.length === 1);
    expect(results.map(({ key, value }) => [key, JSON.parse(String(value)) as unknown])).toEqual([
      ['ada', { from: begin, to: begin + 40 * 60_000, pages: ['home', 'prices', 'order'] }],
    ]);
    await endsWell(child);
  });
});
