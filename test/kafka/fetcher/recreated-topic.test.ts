import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { MillraceError } from '../../../src/errors.js';
import type { FetchedChunk } from '../../../src/kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../../../src/kafka/fetcher/fetcher.js';
import type { OffsetReset } from '../../../src/kafka/fetcher/fetcher-options.js';
import { silentLogger } from '../../../src/observability/logger.js';
import { batch, ManualClock, ScriptedPort, settle } from './scripted-port.js';

const p0 = { topic: 't', partition: 0 };
const [unknownTopic, unknownTopicId] = [3, 100];

let port: ScriptedPort;
let clock: ManualClock;
let chunks: FetchedChunk[];
let errors: MillraceError[];
let warnings: string[];
let policy: OffsetReset;
let fetcher: Fetcher;

beforeEach(() => {
  port = new ScriptedPort();
  port.leaders.set('t-0', 1);
  port.topicIds.set('t', 'old');
  port.offsets = ({ topic, partition, at }) => ({ topic, partition, errorCode: 0, offset: at === 'earliest' ? 0 : 90 });
  clock = new ManualClock();
  [chunks, errors, warnings] = [[], [], []];
  policy = 'earliest';
  fetcher = new Fetcher(port, {
    isolation: 'read_committed',
    autoOffsetReset: () => policy,
    logger: { ...silentLogger, warn: (_, message) => warnings.push(message) },
    clock,
    random: () => 0.5,
    onData: (chunk) => chunks.push(chunk),
    onError: (error) => errors.push(error),
  });
});
afterEach(() => fetcher.stop());

/** What the fetches sent since the last look ask for: topic id and offset. */
const asked = (fetches = port.take()): string[] =>
  fetches.flatMap(({ request }) => request.partitions.map(({ topicId, offset }) => `${topicId}@${offset}`));

async function refusedWith(errorCode: number): Promise<void> {
  const [sent] = port.take();
  await sent?.answer([{ errorCode }]);
  await clock.advance(1000);
}

async function begin(topicId: string | null): Promise<void> {
  fetcher.assign(p0, 50, topicId);
  fetcher.start();
  await settle();
}

describe('a position', () => {
  it('belongs to the topic that has the name when it is first read, or to the one it was committed for', async () => {
    await begin(null);
    expect(asked()).toEqual(['old@50']);
    fetcher.assign(p0, 50, 'committed');
    await clock.advance(100);
    expect(asked()).toEqual(['committed@50']);
  });

  it('that is assigned after its topic was looked up for another partition belongs to that topic, too', async () => {
    port.leaders.set('t-1', 1);
    await begin(null);
    fetcher.assign({ topic: 't', partition: 1 }, 7);
    await clock.advance(100);
    expect(asked()).toEqual(['old@50', 'old@7']);
  });

  it('is asked for without an id where the brokers tell none', async () => {
    port.topicIds.clear();
    await begin(null);
    expect(asked()).toEqual(['null@50']);
    fetcher.assign(p0, 50);
    await settle();
    await refusedWith(unknownTopic);
    expect(asked()).toEqual(['null@50']);
  });
});

describe('a topic that was deleted and created again', () => {
  it.each([
    ['earliest', 0],
    ['latest', 90],
  ] as const)('is read from its %s offset on, which is said', async (kind, offset) => {
    policy = kind;
    await begin(null);
    port.topicIds.set('t', 'new');
    await refusedWith(unknownTopicId);
    // At once, since it has to be kept: no record need ever come.
    expect(chunks).toMatchObject([{ topicId: 'new', fetchOffset: offset, nextOffset: offset, byteLength: 0, reset: true }]);
    const [next] = port.take();
    expect(asked([next!])).toEqual([`new@${offset}`]);
    await next?.answer([{ records: batch(offset, 2) }]);
    expect(chunks.slice(1)).toMatchObject([{ topicId: 'new', fetchOffset: offset, nextOffset: offset + 2 }]);
    expect(chunks[1]?.reset).toBeUndefined();
    expect(warnings).toContainEqual(
      expect.stringContaining(`offset 50 of t-0 is of a topic that was deleted and created again: reading on at ${kind}`),
    );
    expect([fetcher.metrics.resets, errors]).toEqual([1, []]);
  });

  it('is an error under the policy none', async () => {
    policy = 'none';
    await begin(null);
    port.topicIds.set('t', 'new');
    await refusedWith(unknownTopicId);
    expect(errors).toMatchObject([
      { code: 'MILL_TOPIC_RECREATED', details: { topic: 't', partition: 0, offset: 50, topicId: 'old', newTopicId: 'new' } },
    ]);
    expect(asked()).toEqual([]);
  });

  it('is noticed by old brokers too, which know topics by name: they say for a while that it is not there', async () => {
    await begin(null);
    port.topicIds.set('t', 'new');
    await refusedWith(unknownTopic);
    expect(asked()).toEqual(['new@0']);
  });

  it('is not read at the old position while its offsets can’t be looked up', async () => {
    await begin(null);
    port.topicIds.set('t', 'new');
    port.offsets = ({ topic, partition }) => ({ topic, partition, errorCode: 6, offset: -1 });
    await refusedWith(unknownTopicId);
    expect(asked()).toEqual(['old@50']);
  });

  it('is no other topic just because a broker that lags behind says so: the leader, who has it, decides', async () => {
    await begin('new');
    expect(asked()).toEqual(['new@50']);
    expect([fetcher.metrics.resets, warnings]).toEqual([0, []]);
  });
});

describe('a topic that is not there', () => {
  it('is told of once, then every 30 s', async () => {
    port.topicErrors.set('t', unknownTopic);
    port.leaders.clear();
    await begin(null);
    await clock.advance(29_000);
    expect(warnings.filter((text) => text.includes('UNKNOWN_TOPIC_OR_PARTITION'))).toHaveLength(1);
    await clock.advance(60_000);
    expect(warnings.filter((text) => text.includes('UNKNOWN_TOPIC_OR_PARTITION'))).toHaveLength(3);
  });
});
