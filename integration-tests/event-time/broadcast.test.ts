/** Broadcast state, and operator state beside it, on a real broker: two instances, one of them killed at steps of the epoch, while rules and data come in. */
import { afterEach, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Kafka, logLevel } from 'kafkajs';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { ApiKeys } from '../faults/api-keys.js';
import { epochMoments, type KillMoment } from '../faults/epoch-moments.js';
import { JobProcess } from '../faults/job-process.js';
import { KafkaProxy } from '../faults/kafka-proxy.js';
import { killAt } from '../faults/kill-at.js';
import { TopicTail } from '../faults/topic-tail.js';
import { until } from '../faults/until.js';
import { Opened } from '../opened.js';
import type { BroadcastJobSetup } from './broadcast-job.js';
import { remembered } from './broadcast-topology.js';

const jobFile = fileURLToPath(new URL('./broadcast-job.ts', import.meta.url));
const partitions = [0, 1, 2];
/** With the epoch's changelog on the broker and nothing committed; with all but the end; and with the end, but not on the local disk. */
const moments = ['between produce and the offsets', 'between the offsets and EndTxn', 'between EndTxn and the local write'];

const opened = new Opened();
afterEach(() => opened.close());

it('every task takes every rule once and with its data, and keeps its own list, whoever is killed meanwhile', async () => {
  const applicationId = `broadcast-${randomUUID().slice(0, 8)}`;
  const brokers = (process.env['KAFKA_BROKERS'] ?? '').split(',');
  const topics = { rules: `${applicationId}-in-rules`, data: `${applicationId}-in-data`, results: `${applicationId}-out` };
  const folder = opened.add(await mkdtemp(join(tmpdir(), 'millrace-broadcast-')), (path) =>
    rm(path, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 }),
  );
  const port = opened.add(createKafkajsPort({ brokers, clientId: 'broadcast-test' }, silentLogger), (it) => it.close());
  await port.connect();
  const counts = { [topics.rules]: 2, [topics.data]: partitions.length, [topics.results]: partitions.length };
  await port.admin.createTopics(
    Object.entries(counts).map(([topic, count]) => ({ topic, partitions: count, replicationFactor: -1, configs: {} })),
  );
  const producer = opened.add(new Kafka({ brokers, logLevel: logLevel.NOTHING }).producer(), (it) => it.disconnect());
  await producer.connect();
  const proxies = await KafkaProxy.inFrontOf(brokers);
  for (const each of proxies) opened.add(each, (it) => it.close());
  const proxy = proxies[0] as KafkaProxy;
  const instance = (name: string, bootstrapServers: readonly string[]): JobProcess => {
    const setup: BroadcastJobSetup = { topics, config: { applicationId, bootstrapServers: [...bootstrapServers] } };
    return opened.add(new JobProcess(name, setup, { TMPDIR: folder }, jobFile), (it) => it.kill());
  };
  const [steady, killed] = [
    instance('steady', brokers),
    instance(
      'killed',
      proxies.map(({ bootstrapServer }) => bootstrapServer),
    ),
  ];
  for (const each of [steady, killed]) each.start();
  for (const each of [steady, killed]) await each.untilState('running');

  const fed = new Map<string, number>();
  const results = new TopicTail(port, topics.results);
  let rounds = 0;
  const feed = async (): Promise<void> => {
    rounds++;
    const messages = ['a', 'b', `r${rounds}`].map((key, i) => ({ key, value: 'x', partition: i % 2 }));
    for (const { key } of messages) fed.set(key, (fed.get(key) ?? 0) + 1);
    await producer.send({ topic: topics.rules, messages });
    await producer.send({ topic: topics.data, messages: partitions.map((partition) => ({ key: `k${partition}`, value: 'v', partition })) });
  };
  const story = (): string => [steady, killed].map((each) => each.story()).join('\n');
  const settled = (): Promise<void> =>
    until(`results of ${rounds} rounds`, async () => (await results.poll()).length >= rounds * partitions.length, 60_000, story);

  await feed();
  await settled();
  for (const where of moments) {
    const [direction, api, verdict] = epochMoments[where] as KillMoment;
    const isDead = killAt(
      killed,
      proxy,
      direction,
      verdict,
      ({ apiKey, clientId }) => apiKey === ApiKeys[api] && clientId.endsWith('-main'),
    );
    await feed();
    await until(`killed ${where}`, isDead, 30_000, story);
    await killed.kill();
    proxy.passAll();
    await feed();
    killed.start();
    await killed.untilState('running');
    await settled();
  }

  // A record tells the rules that its task had taken before it: ask until all have arrived everywhere.
  const expected = [...fed].map(([rule, times]) => `${rule}=${times}`).sort();
  const known = (): string[] => partitions.map((partition) => knownTo(partition).at(-1) ?? '');
  const knownTo = (partition: number): string[] =>
    results.records.filter(({ key }) => key === `k${partition}`).map(({ value }) => String(value).split(' ').slice(1).join(' '));
  await until(
    'every task knows every rule',
    async () => {
      await producer.send({
        topic: topics.data,
        messages: partitions.map((partition) => ({ key: `k${partition}`, value: 'v', partition })),
      });
      rounds++;
      await settled();
      return known().every((rules) => rules.split(' ').length === expected.length && sum(rules) >= sum(expected.join(' ')));
    },
    30_000,
    () => `${known().join('\n')}\n${story()}`,
  );
  expect(known()).toEqual(partitions.map(() => expected.join(' ')));
  for (const partition of partitions) {
    const lines = results.records.filter(({ key }) => key === `k${partition}`).map(({ value }) => String(value));
    // Each record of the data once, in order; the task's own list with it; and no task ever forgot a rule.
    expect(lines.map((line) => line.split(' ')[0])).toEqual(lines.map((_, i) => upTo(i + 1)));
    const totals = knownTo(partition).map(sum);
    expect(totals).toEqual([...totals].sort((a, b) => a - b));
  }
});

/** The last numbers that a task has given, up to this one. */
function upTo(last: number): string {
  const first = Math.max(1, last - remembered + 1);
  return Array.from({ length: last - first + 1 }, (_, i) => first + i).join();
}

/** How many broadcast records have been taken, over all rules. */
function sum(rules: string): number {
  return rules === '' ? 0 : rules.split(' ').reduce((total, rule) => total + Number(rule.split('=')[1]), 0);
}
