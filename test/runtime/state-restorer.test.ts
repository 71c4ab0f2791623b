import { describe, expect, it, jest } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import type { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { KafkaPort, OffsetQuery, TopicPartition } from '../../src/kafka/port.js';
import { silentLogger, type Logger } from '../../src/observability/logger.js';
import { StateRestorer, type RestoreListener, type RestoreProgress } from '../../src/runtime/state-restorer.js';
import { serdes } from '../../src/serdes/serdes.js';
import { compileSerde } from '../../src/serdes/compile-serde.js';
import { keyValueStore } from '../../src/stores/store-builders.js';
import type { KeyValueStore } from '../../src/stores/store.js';
import { TaskState } from '../../src/stores/task-state.js';
import { TopicLog } from '../../src/testing/topic-log.js';
import { settle } from './harness/task-rig.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const string = compileSerde(serdes.string) as never;

/** Changelogs `a-changelog` and `b-changelog`, partition 0 of each, and a fetcher that gives what the test lets it. */
class Changelogs {
  readonly log = new TopicLog();
  readonly starts = new Map<string, number>();
  readonly assigned = new Map<string, number>();
  readonly told: [string, RestoreProgress][] = [];
  readonly warnings: string[] = [];
  fenced = 0;
  errorCode = 0;
  private data: (chunk: FetchedChunk) => void = () => undefined;
  private error: (error: MillraceError, partition: TopicPartition | null) => void = () => undefined;
  private readonly chunks: FetchedChunk[] = [];
  readonly restorer: StateRestorer;

  constructor(listener?: RestoreListener) {
    const logger: Logger = { ...silentLogger, warn: (_, message) => this.warnings.push(message) };
    const tell = (event: string) => (progress: RestoreProgress) => void this.told.push([event, progress]);
    this.restorer = new StateRestorer({
      port: {
        listOffsets: async (queries: readonly OffsetQuery[]) =>
          queries.map(({ topic, partition, at }) => ({
            topic,
            partition,
            errorCode: this.errorCode,
            offset: at === 'earliest' ? (this.starts.get(topic) ?? 0) : this.log.end(topic, 0),
          })),
      } as unknown as KafkaPort,
      openFetcher: (onData, onError) => {
        this.data = onData;
        this.error = onError;
        return {
          start: () => undefined,
          stop: async () => undefined,
          assign: ({ topic }: TopicPartition, offset: number) => this.assigned.set(topic, offset),
          unassign: ({ topic }: TopicPartition) => this.assigned.delete(topic),
          consumed: () => undefined,
        } as unknown as Fetcher;
      },
      isolation: 'read_committed',
      clusterId: 'c',
      listener: listener ?? { onStart: tell('start'), onBatch: tell('batch'), onEnd: tell('end') },
      logger,
      now: Date.now,
      fenceDeadOwners: async () => this.fenced++,
    });
  }

  append(topic: string, key: string, value: string | null): void {
    this.appendBatch(topic, [[key, value]]);
  }

  /** Records that a fetch brings together. */
  appendBatch(topic: string, records: readonly (readonly [string, string | null])[]): void {
    for (const [key, value] of records) {
      const [k, v] = [Buffer.from(key), value === null ? null : Buffer.from(value)];
      this.log.builder(topic, 0).appendRaw(5, k, 0, k.length, v, 0, v?.length ?? 0, null);
    }
    this.chunks.push(...this.log.deliver());
  }

  /** Hands over what is assigned, from the position on. */
  async feed(topic: string): Promise<void> {
    for (const chunk of this.chunks)
      if (chunk.topic === topic && chunk.fetchOffset >= (this.assigned.get(topic) ?? Infinity)) this.data(chunk);
    await settle();
    await settle();
  }

  fail(topic: string, code: 'MILL_OFFSET_OUT_OF_RANGE' | 'MILL_AUTHORIZATION'): void {
    this.error(new MillraceError(code, 'fetch failed'), { topic, partition: 0 });
  }
}

function stateOf(...stores: readonly string[]): Promise<TaskState> {
  return TaskState.open({
    taskId: '0_0',
    directory: null,
    specs: stores.map((name) => keyValueStore({ name, ...text })),
    defaultEngine: 'memory',
    serdes: () => ({ key: string, value: string }),
    cacheBytes: 0,
    logger: silentLogger,
  });
}

const changelog = (store: string) => ({ store, topic: `${store}-changelog`, partition: 0, topicId: null });
const never = new AbortController().signal;

async function outcome(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    () => 'restored',
    (error: unknown) => error,
  );
}

describe('a restore', () => {
  it('reads each changelog up to the end seen at its start, the last value of a key and no deleted one', async () => {
    const topics = new Changelogs();
    topics.append('a-changelog', 'k', '1');
    topics.append('a-changelog', 'gone', '1');
    topics.append('a-changelog', 'k', '2');
    topics.append('a-changelog', 'gone', null);
    const state = await stateOf('a');
    const restored = topics.restorer.restore('0_0', state, [changelog('a')], never);
    await settle();
    expect(topics.restorer.progress()).toMatchObject([{ taskId: '0_0', store: 'a', position: 0, endOffset: 4, whole: true }]);
    await topics.feed('a-changelog');
    await restored;
    const store = state.store('a') as KeyValueStore<string, string>;
    expect([store.get('k'), store.get('gone')]).toEqual(['2', null]);
    expect(topics.restorer.progress()).toEqual([]);
    expect(topics.told.map(([event, { position, recordsRestored }]) => [event, position, recordsRestored])).toEqual([
      ['start', 0, 0],
      ['batch', 1, 1],
      ['batch', 2, 2],
      ['batch', 3, 3],
      ['batch', 4, 4],
      ['end', 4, 4],
    ]);
    expect(topics.assigned.size).toBe(0);
  });

  it('of a topic that the task reads ends where its input goes on, though a fetch brings more', async () => {
    const topics = new Changelogs();
    const batch = [
      ['k', '1'],
      ['k', '2'],
      ['k', 'not read yet'],
    ] as const;
    topics.appendBatch('a-changelog', batch);
    const state = await stateOf('a');
    const restored = topics.restorer.restore('0_0', state, [{ ...changelog('a'), isSourceTopic: true, upTo: 2 }], never);
    await settle();
    await topics.feed('a-changelog');
    await restored;
    expect((state.store('a') as KeyValueStore<string, string>).get('k')).toBe('2');
    expect(topics.told.at(-1)).toMatchObject(['end', { position: 2, endOffset: 2, recordsRestored: 2 }]);
  });

  it('drops a store that is ahead of the input: the group was moved back', async () => {
    const topics = new Changelogs();
    for (const value of ['1', '2', '3']) topics.append('a-changelog', 'k', value);
    const state = await stateOf('a');
    const source = { ...changelog('a'), isSourceTopic: true };
    for (const upTo of [3, 1]) {
      const restored = topics.restorer.restore('0_0', state, [{ ...source, upTo }], never);
      await settle();
      await topics.feed('a-changelog');
      await restored;
    }
    expect((state.store('a') as KeyValueStore<string, string>).get('k')).toBe('1');
    expect(topics.told.filter(([event]) => event === 'start').map(([, { whole }]) => whole)).toEqual([true, true]);
  });

  it('of an empty changelog is done at once, and says so', async () => {
    const topics = new Changelogs();
    await topics.restorer.restore('0_0', await stateOf('a'), [changelog('a')], never);
    expect(topics.told.map(([event]) => event)).toEqual(['start', 'end']);
  });

  it('looks for dead owners while the changelog stands still below its end', async () => {
    jest.useFakeTimers({ doNotFake: ['setImmediate', 'nextTick', 'queueMicrotask'] });
    try {
      const topics = new Changelogs();
      topics.append('a-changelog', 'k', '1');
      const restored = topics.restorer.restore('0_0', await stateOf('a'), [changelog('a')], never);
      await settle();
      await jest.advanceTimersByTimeAsync(1000);
      const asked = topics.fenced;
      expect(asked).toBeGreaterThanOrEqual(2);
      await topics.feed('a-changelog');
      await restored;
      await jest.advanceTimersByTimeAsync(60_000);
      expect(topics.fenced).toBe(asked);
    } finally {
      jest.useRealTimers();
    }
  });

  it('that is stopped rejects and takes nothing more', async () => {
    const topics = new Changelogs();
    topics.append('a-changelog', 'k', '1');
    const stop = new AbortController();
    const restored = outcome(topics.restorer.restore('0_0', await stateOf('a'), [changelog('a')], stop.signal));
    await settle();
    stop.abort(new Error('given up'));
    expect(await restored).toMatchObject({ code: 'MILL_STATE_INVALID' });
    expect(topics.assigned.size).toBe(0);
  });

  it('that fails for one store stops the others, so that the same changelogs can be restored again', async () => {
    const topics = new Changelogs();
    topics.append('a-changelog', 'k', '1');
    topics.append('b-changelog', 'k', '1');
    const first = outcome(topics.restorer.restore('0_0', await stateOf('a', 'b'), [changelog('a'), changelog('b')], never));
    await settle();
    topics.fail('a-changelog', 'MILL_AUTHORIZATION');
    expect(await first).toMatchObject({ code: 'MILL_AUTHORIZATION' });
    expect(topics.assigned.size).toBe(0);
    const state = await stateOf('a', 'b');
    const second = topics.restorer.restore('0_0', state, [changelog('a'), changelog('b')], never);
    await settle();
    await topics.feed('a-changelog');
    await topics.feed('b-changelog');
    await second;
    expect((state.store('b') as KeyValueStore<string, string>).get('k')).toBe('1');
  });

  it('whose records were compacted away under it is one that a new attempt mends', async () => {
    const topics = new Changelogs();
    topics.append('a-changelog', 'k', '1');
    const restored = outcome(topics.restorer.restore('0_0', await stateOf('a'), [changelog('a')], never));
    await settle();
    topics.fail('a-changelog', 'MILL_OFFSET_OUT_OF_RANGE');
    expect(await restored).toMatchObject({ code: 'MILL_STORE_CORRUPTED' });
  });

  it('names the partition whose offsets can’t be read', async () => {
    const topics = new Changelogs();
    topics.errorCode = 5;
    expect(await outcome(topics.restorer.restore('0_0', await stateOf('a'), [changelog('a')], never))).toMatchObject({
      code: 'MILL_BROKER_ERROR',
      details: { topic: 'a-changelog', partition: 0, brokerErrorCode: 5 },
    });
  });

  it('is not harmed by a listener that throws', async () => {
    const broken = jest.fn(() => {
      throw new Error('listener');
    });
    const topics = new Changelogs({ onStart: broken, onBatch: broken, onEnd: broken });
    topics.append('a-changelog', 'k', '1');
    const restored = topics.restorer.restore('0_0', await stateOf('a'), [changelog('a')], never);
    await settle();
    await topics.feed('a-changelog');
    await restored;
    expect(broken).toHaveBeenCalledTimes(3);
    expect(topics.warnings).toHaveLength(3);
  });
});
