/** Lookup joins and aggregations in two stages on a real broker, under kill -9. */
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, describe, expect, it } from '@jest/globals';
import { delay } from '../../src/kafka/backoff.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { JobInput } from '../faults/job-input.js';
import { JobProcess } from '../faults/job-process.js';
import { chaosSeed, Random } from '../faults/random.js';
import { TopicTail, type ReadRecord } from '../faults/topic-tail.js';
import { until } from '../faults/until.js';
import type { EnrichmentSetup } from './enrichment-job.js';

const jobFile = fileURLToPath(new URL('./enrichment-job.ts', import.meta.url));
const partitions = 3;
const keys = 40;

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function begin() {
  const applicationId = `enrichment-${randomUUID().slice(0, 8)}`;
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
  const port = createKafkajsPort({ brokers, clientId: 'enrichment-test' }, silentLogger);
  await port.connect();
  ends.push(() => port.close());
  const topics = { input: `${applicationId}-input`, joined: `${applicationId}-joined`, sums: `${applicationId}-sums` };
  await port.admin.createTopics(Object.values(topics).map((topic) => ({ topic, partitions, replicationFactor: -1, configs: {} })));
  const folder = await mkdtemp(join(tmpdir(), 'millrace-enrichment-'));
  ends.push(() => rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }));
  const setup: EnrichmentSetup = { topics, config: { applicationId, bootstrapServers: brokers, commitInterval: 400 } };
  const instance = new JobProcess('the job', setup, { TMPDIR: folder }, jobFile);
  ends.push(() => instance.kill());
  const asked: string[] = [];
  instance.onMessage = (message) => {
    if (message.kind === 'log' && message.message === 'asked') asked.push(message.fields);
  };
  const input = new JobInput(port, topics, 'mapOnly', partitions, keys);
  ends.push(() => input.stop());
  const tails = {
    input: new TopicTail(port, topics.input),
    joined: new TopicTail(port, topics.joined),
    sums: new TopicTail(port, topics.sums),
    parts: new TopicTail(port, `${applicationId}-sums-parts-repartition`),
  };
  return { instance, input, asked, tails };
}

type Job = Awaited<ReturnType<typeof begin>>;

const linesOf = (records: readonly ReadRecord[], value: (record: ReadRecord) => string): Map<string, string[]> => {
  const lines = new Map<string, string[]>();
  for (const record of records) {
    const key = String(record.key);
    lines.set(key, [...(lines.get(key) ?? []), value(record)]);
  }
  return lines;
};

/** What the input calls for: the lines of each key in order, and sum and count of each group. */
function model(input: readonly ReadRecord[]) {
  const number = ({ value }: ReadRecord): number => value?.readInt32BE(0) ?? 0;
  const joined = linesOf(input, (record) => `${number(record)} ${record.key?.endsWith('7') === true ? 'none' : `row of ${record.key}`}`);
  const sums = new Map<string, { sum: number; count: number }>();
  for (const record of input) {
    const group = `group-${number(record) % 3}`;
    const { sum, count } = sums.get(group) ?? { sum: 0, count: 0 };
    sums.set(group, { sum: sum + number(record), count: count + 1 });
  }
  return { joined, sums: new Map([...sums].map(([group, { sum, count }]) => [group, `${sum}/${count}`])) };
}

const countIn = (sum: string | undefined): number => Number(sum?.split('/')[1] ?? 0);

/** Waits until every record of the input has had its effect; then the committed output must be that of the model. */
async function expectExactlyOnce({ instance, tails }: Job): Promise<void> {
  const expected = model(await tails.input.poll());
  const sums = async (): Promise<Map<string, string>> =>
    new Map((await tails.sums.poll()).map(({ key, value }) => [String(key), String(value)]));
  await until(
    'every record has had its effect',
    async () => {
      const now = await sums();
      const wanted = [...expected.joined.values()].reduce((total, lines) => total + lines.length, 0);
      return (
        (await tails.joined.poll()).length >= wanted && [...expected.sums].every(([group, sum]) => countIn(now.get(group)) >= countIn(sum))
      );
    },
    60_000,
    () => instance.story(),
  );
  expect(linesOf(tails.joined.records, ({ value }) => String(value))).toEqual(expected.joined);
  expect(await sums()).toEqual(expected.sums);
}

describe('enrichment and aggregation in two stages under kill -9', () => {
  const seed = chaosSeed();

  it(`each record counts once, the cache outlives the process, and parts are few (CHAOS_SEED=${seed})`, async () => {
    const random = new Random(seed);
    const job = await begin();
    const { instance, input, asked, tails } = job;
    instance.start();
    await instance.untilState('running');
    input.start(400);
    for (let kill = 0; kill < 2; kill++) {
      await delay(random.between(300, 1500));
      await instance.kill();
      instance.start();
      await instance.untilState('running');
    }
    const sent = input.sent;
    await until('it works on', () => input.sent > sent + 300);
    await input.stop();
    await expectExactlyOnce(job);
    expect(tails.input.records.length).toBeGreaterThan(400);
    expect((await tails.parts.poll()).filter(({ value }) => value !== null).length).toBeLessThan(tails.input.records.length / 3);

    // Every key has been looked up and its row committed: a process without a memory asks nobody.
    await instance.kill();
    asked.length = 0;
    instance.start();
    await instance.untilState('running');
    await input.send(4 * keys);
    await expectExactlyOnce(job);
    expect(asked).toEqual([]);
    expect(instance.errors).toEqual([]);
    await instance.close();
  });
});
