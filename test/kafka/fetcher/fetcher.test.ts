import { beforeEach, describe, expect, it } from '@jest/globals';

import type { MillraceError } from '../../../src/errors.js';
import type { FetchedChunk } from '../../../src/kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../../../src/kafka/fetcher/fetcher.js';
import type { FetcherOptions, OffsetReset } from '../../../src/kafka/fetcher/fetcher-options.js';
import type { TopicPartition } from '../../../src/kafka/port.js';
import type { Logger } from '../../../src/observability/logger.js';
import { batch, ManualClock, ScriptedPort, settle } from './scripted-port.js';

const p0 = { topic: 't', partition: 0 };
const p1 = { topic: 't', partition: 1 };
const p2 = { topic: 't', partition: 2 };

let port: ScriptedPort;
let clock: ManualClock;
let chunks: FetchedChunk[];
let errors: { error: MillraceError; partition: TopicPartition | null }[];
let warnings: string[];
let reset: OffsetReset;

beforeEach(() => {
  port = new ScriptedPort();
  for (const partition of [0, 1, 2, 3]) port.leaders.set(`t-${partition}`, 1);
  clock = new ManualClock();
  chunks = [];
  errors = [];
  warnings = [];
  reset = 'earliest';
});

const logger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: (_, message) => warnings.push(message),
  error: () => undefined,
  child: () => logger,
};

function fetcher(options: Partial<FetcherOptions> = {}): Fetcher {
  return new Fetcher(port, {
    isolation: 'read_committed',
    autoOffsetReset: () => reset,
    logger,
    clock,
    random: () => 0.5,
    onData: (chunk) => chunks.push(chunk),
    onError: (error, partition) => errors.push({ error, partition }),
    ...options,
  });
}

async function started(offsets: readonly (readonly [TopicPartition, number])[], options: Partial<FetcherOptions> = {}): Promise<Fetcher> {
  const made = fetcher(options);
  for (const [partition, offset] of offsets) made.assign(partition, offset);
  made.start();
  await settle();
  return made;
}

const received = (): string[] =>
  chunks.map(({ topic, partition, fetchOffset, nextOffset }) => `${topic}-${partition} ${fetchOffset}→${nextOffset}`);

describe('the long poll', () => {
  it('asks for all partitions of a broker in one request, and one request for each broker', async () => {
    port.leaders.set('t-2', 2);
    await started([
      [p0, 5],
      [p1, 0],
      [p2, 9],
    ]);
    const sent = port.take();
    expect(sent.map(({ broker, asks }) => [broker, asks])).toEqual([
      [1, ['t-0@5', 't-1@0']],
      [2, ['t-2@9']],
    ]);
    expect(sent[0]!.request).toMatchObject({ isolation: 'read_committed', maxWaitMs: 500, minBytes: 1 });
    expect(port.metadataRequests).toBe(1);
  });

  it('hands over whole batches and asks on behind them', async () => {
    await started([[p0, 5]]);
    await port.take()[0]!.answer([{ partition: 0, records: Buffer.concat([batch(5, 3), batch(8, 4), batch(12, 9, 500).subarray(0, 80)]) }]);
    expect(chunks).toHaveLength(1);
    expect(chunks[0]).toMatchObject({
      topic: 't',
      partition: 0,
      fetchOffset: 5,
      nextOffset: 12,
      byteLength: 200,
      highWatermark: 1000,
      lastStableOffset: 1000,
    });
    expect(chunks[0]!.records).toHaveLength(200);
    expect(port.take()[0]!.asks).toEqual(['t-0@12']);
  });

  it('has the next request on its way before the chunk is handed over', async () => {
    let sentAtHandOver = -1;
    await started([[p0, 0]], { onData: () => (sentAtHandOver = port.sent.length) });
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 1) }]);
    expect(sentAtHandOver).toBe(1);
  });

  it('hands over control batches and compacted gaps as a move of the position', async () => {
    await started([[p0, 3]]);
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 90) }]);
    expect(received()).toEqual(['t-0 3→90']);
  });

  it('serves partitions in turn: who got something goes behind the others', async () => {
    await started([
      [p0, 0],
      [p1, 0],
    ]);
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 1) }]);
    expect(port.take()[0]!.asks).toEqual(['t-1@0', 't-0@1']);
  });

  it('tells high watermark and last stable offset as of the last answer', async () => {
    const made = await started([[p0, 0]]);
    expect([made.highWatermark(p0), made.lastStableOffset(p0)]).toEqual([-1, -1]);
    await port.take()[0]!.answer([{ partition: 0, highWatermark: 12, lastStableOffset: 10 }]);
    expect([made.highWatermark(p0), made.lastStableOffset(p0), made.highWatermark(p1)]).toEqual([12, 10, -1]);
  });

  it('calls a partition read to its end only while the broker says so: not behind, not with an open transaction, not while it is paused, full or unheard of', async () => {
    const made = await started([[p0, 10]], { maxBytesPerPartition: 1000 });
    expect(made.isAtEnd(p0)).toBe(false);
    await port.take()[0]!.answer([{ partition: 0, highWatermark: 12, lastStableOffset: 10 }]);
    expect(made.isAtEnd(p0)).toBe(false);
    await port.take()[0]!.answer([{ partition: 0, highWatermark: 10, lastStableOffset: 10 }]);
    expect(made.isAtEnd(p0)).toBe(true);
    expect(made.isAtEnd(p1)).toBe(false);
    made.pause(p0);
    expect(made.isAtEnd(p0)).toBe(false);
    made.resume(p0);
    expect(made.isAtEnd(p0)).toBe(true);
    await clock.advance(2_001);
    expect(made.isAtEnd(p0)).toBe(false);
    await port.take()[0]!.answer([{ partition: 0, records: batch(10, 1, 2_500), highWatermark: 11, lastStableOffset: 11 }]);
    expect(made.isAtEnd(p0)).toBe(false);
    made.consumed(chunks[0]!.byteLength, p0);
    await settle();
    await port.take()[0]!.answer([{ partition: 0, highWatermark: 11, lastStableOffset: 11 }]);
    expect(made.isAtEnd(p0)).toBe(true);
  });

  it('asks for more bytes when not one batch fits', async () => {
    const made = await started([[p0, 0]], { maxBytesPerPartition: 1000 });
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 1, 9000).subarray(0, 1000) }]);
    expect(chunks).toEqual([]);
    const next = port.take()[0]!;
    expect(next.request.partitions[0]!.maxBytes).toBe(9000);
    await next.answer([{ partition: 0, records: batch(0, 1, 9000) }]);
    expect(received()).toEqual(['t-0 0→1']);
    made.consumed(9000, p0);
    await settle();
    expect(port.take()[0]!.request.partitions[0]!.maxBytes).toBe(1000);
  });

  it('reports a batch of impossible length instead of asking for ever', async () => {
    await started([[p0, 0]]);
    const broken = batch(0, 1);
    broken.writeInt32BE(0, 8);
    await port.take()[0]!.answer([{ partition: 0, records: broken }]);
    expect(errors).toMatchObject([{ error: { code: 'MILL_CORRUPT_BATCH' }, partition: p0 }]);
    expect(port.take()).toEqual([]);
  });

  it('waits out a quota', async () => {
    await started([[p0, 0]]);
    await port.take()[0]!.answer([], { throttleMs: 300 });
    expect(port.take()).toEqual([]);
    await clock.advance(299);
    expect(port.take()).toEqual([]);
    await clock.advance(1);
    expect(port.take()).toHaveLength(1);
  });
});

describe('what becomes fetchable while the long poll is parked', () => {
  it('is asked for within milliseconds, by a second, short fetch', async () => {
    const made = await started([[p0, 0]]);
    const parked = port.take()[0]!;
    await clock.advance(100);
    made.assign(p1, 4);
    await settle();
    const quick = port.take()[0]!;
    expect(quick.asks).toEqual(['t-1@4']);
    expect(quick.request.maxWaitMs).toBeLessThanOrEqual(10);
    await quick.answer([{ partition: 1, records: batch(4, 1) }]);
    expect(received()).toEqual(['t-1 4→5']);
    expect(port.take()[0]!.asks).toEqual(['t-1@5']);
    await parked.answer([]);
    expect(port.take()).toEqual([]);
  });

  it('joins the long poll when that is back', async () => {
    const made = await started([[p0, 0]]);
    const parked = port.take()[0]!;
    await clock.advance(100);
    made.assign(p1, 0);
    await settle();
    const quick = port.take()[0]!;
    await parked.answer([]);
    expect(port.take()).toEqual([]);
    await quick.answer([]);
    const next = port.take();
    expect(next).toHaveLength(1);
    expect(next[0]!.asks).toEqual(['t-0@0', 't-1@0']);
    expect(next[0]!.request.maxWaitMs).toBe(500);
  });

  it('does not wake a second fetch when the first has only just left', async () => {
    const made = await started([[p0, 0]]);
    const first = port.take()[0]!;
    made.assign(p1, 0);
    await settle();
    expect(port.take()).toEqual([]);
    await first.answer([{ partition: 0, records: batch(0, 1) }]);
    expect(port.take()[0]!.asks).toEqual(['t-1@0', 't-0@1']);
  });
});

describe('stale answers', () => {
  it('are dropped after unassign', async () => {
    const made = await started([[p0, 0]]);
    const sent = port.take()[0]!;
    made.unassign(p0);
    await sent.answer([{ partition: 0, records: batch(0, 5) }]);
    expect(chunks).toEqual([]);
    expect(port.take()).toEqual([]);
  });

  it('are dropped after the partition was assigned anew, even at the same offset', async () => {
    const made = await started([[p0, 0]]);
    const stale = port.take()[0]!;
    await clock.advance(50);
    made.unassign(p0);
    made.assign(p0, 0);
    await settle();
    const fresh = port.take()[0]!;
    await stale.answer([{ partition: 0, records: batch(0, 5) }]);
    expect(chunks).toEqual([]);
    await fresh.answer([{ partition: 0, records: batch(0, 5) }]);
    expect(received()).toEqual(['t-0 0→5']);
  });

  it('are dropped after seek', async () => {
    const made = await started([[p0, 0]]);
    const stale = port.take()[0]!;
    await clock.advance(50);
    made.seek(p0, 40);
    await settle();
    const fresh = port.take()[0]!;
    expect(fresh.asks).toEqual(['t-0@40']);
    await stale.answer([{ partition: 0, records: batch(0, 5) }]);
    expect(chunks).toEqual([]);
    await fresh.answer([{ partition: 0, records: batch(40, 2) }]);
    expect(received()).toEqual(['t-0 40→42']);
  });

  it('are dropped after stop; start goes on from the same position', async () => {
    const made = await started([[p0, 3]]);
    const stale = port.take()[0]!;
    await made.stop();
    await stale.answer([{ partition: 0, records: batch(3, 5) }]);
    expect(chunks).toEqual([]);
    expect(port.take()).toEqual([]);
    made.start();
    await settle();
    expect(port.take()[0]!.asks).toEqual(['t-0@3']);
  });
});

describe('pause and bounds', () => {
  it('leave a paused partition out until it is resumed', async () => {
    const made = await started([
      [p0, 0],
      [p1, 0],
    ]);
    made.pause(p0);
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 2) }]);
    expect(received()).toEqual(['t-0 0→2']);
    const parked = port.take()[0]!;
    expect(parked.asks).toEqual(['t-1@0']);
    await clock.advance(50);
    made.resume(p0);
    await settle();
    expect(port.take()[0]!.asks).toEqual(['t-0@2']);
  });

  it('leave a partition out that has two fetches’ worth buffered, until room is given back', async () => {
    const made = await started([[p0, 0]], { maxBytesPerPartition: 100 });
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 1, 100) }]);
    await port.take()[0]!.answer([{ partition: 0, records: batch(1, 1, 100) }]);
    expect(port.take()).toEqual([]);
    made.consumed(100, p0);
    await settle();
    expect(port.take()[0]!.asks).toEqual(['t-0@2']);
  });

  it('keep all partitions together within maxBufferedBytes', async () => {
    const made = await started(
      [
        [p0, 0],
        [p1, 0],
        [p2, 0],
      ],
      { maxBytesPerPartition: 1000, maxBufferedBytes: () => 4000 },
    );
    const first = port.take()[0]!;
    expect(first.request.maxBytes).toBe(2000);
    await first.answer([
      { partition: 0, records: batch(0, 1, 1000) },
      { partition: 1, records: batch(0, 1, 1000) },
    ]);
    const second = port.take()[0]!;
    expect(second.request.maxBytes).toBe(2000);
    await second.answer([
      { partition: 2, records: batch(0, 1, 1000) },
      { partition: 0, records: batch(1, 1, 1000) },
    ]);
    expect(port.take()).toEqual([]);
    made.consumed(1000, p1);
    await settle();
    expect(port.take()[0]!.request.maxBytes).toBe(1000);
  });

  it('are not blocked by what was unassigned or sought away unread', async () => {
    const made = await started(
      [
        [p0, 0],
        [p1, 0],
      ],
      { maxBytesPerPartition: 100, maxBufferedBytes: () => 200 },
    );
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 1, 200) }]);
    expect(port.take()).toEqual([]);
    made.unassign(p0);
    await settle();
    expect(port.take()[0]!.asks).toEqual(['t-1@0']);
  });
});

describe('an offset out of range', () => {
  /** Look-ups of the leader's range before. */
  const range = 2;

  it.each(['earliest', 'latest'] as const)('goes on at the %s offset', async (policy) => {
    reset = policy;
    const made = await started([[p0, 500]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(port.offsetQueries.slice(range)).toEqual([{ ...p0, at: policy, isolation: 'read_committed' }]);
    expect(port.take()[0]!.asks).toEqual(['t-0@7']);
    expect(made.metrics.resets).toBe(1);
    expect(warnings).toEqual([`offset 500 of t-0 is out of range: reading on at ${policy} offset 7`]);
  });

  it('goes on at a time, and at the end when no record is as new', async () => {
    reset = 12_345;
    port.offsets = ({ topic, partition, at }) => ({ topic, partition, errorCode: 0, offset: at === 'latest' ? 9 : 7 });
    await started([[p0, 500]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(port.offsetQueries.slice(range).map(({ at }) => at)).toEqual(['latest', 12_345]);
    expect(warnings).toEqual(['offset 500 of t-0 is out of range: reading on at first since 12345 offset 7']);
    port.offsets = ({ topic, partition, at }) => ({
      topic,
      partition,
      errorCode: 0,
      offset: at === 'earliest' ? 8 : at === 'latest' ? 9 : -1,
    });
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(port.take()[0]!.asks).toEqual(['t-0@9']);
  });

  it('at a time is not the end when the broker could not tell it', async () => {
    reset = 12_345;
    await started([[p0, 500]]);
    port.offsets = ({ topic, partition, at }) => ({
      topic,
      partition,
      errorCode: at === 'latest' ? 0 : 6,
      offset: at === 'latest' ? 9 : -1,
    });
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(port.take()).toEqual([]);
  });

  it('without a policy is reported, and the partition rests until it is sought', async () => {
    reset = 'none';
    const made = await started([[p0, 500]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(errors).toMatchObject([
      { error: { code: 'MILL_OFFSET_OUT_OF_RANGE', details: { topic: 't', partition: 0, offset: 500 } }, partition: p0 },
    ]);
    await clock.advance(60_000);
    expect(port.take()).toEqual([]);
    made.seek(p0, 3);
    await settle();
    expect(port.take()[0]!.asks).toEqual(['t-0@3']);
  });

  it('is looked up again when the look-up fails', async () => {
    await started([[p0, 500]]);
    port.offsets = ({ topic, partition }) => ({ topic, partition, errorCode: 6, offset: -1 });
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(port.take()).toEqual([]);
    await clock.advance(30);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    expect(port.offsetQueries).toHaveLength(2 * range);
    expect(errors).toEqual([]);
  });

  it.each(['earliest', 'none'] as const)('by the word of a replica that lags is none: the leader has it (policy %s)', async (policy) => {
    reset = policy;
    port.offsets = ({ topic, partition, at }) => ({ topic, partition, errorCode: 0, offset: at === 'earliest' ? 3 : 500 });
    const made = await started([[p0, 500]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    await clock.advance(100);
    expect(port.take()[0]!.asks).toEqual(['t-0@500']);
    expect([made.metrics.resets, warnings, errors]).toEqual([0, [], []]);
  });

  it('does not overrule a seek that came in between', async () => {
    let tell: (offset: number) => void = () => undefined;
    port.offsets = ({ topic, partition }) =>
      new Promise((resolve) => (tell = (offset) => resolve({ topic, partition, errorCode: 0, offset })));
    const made = await started([[p0, 500]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 1 }]);
    made.seek(p0, 21);
    await settle();
    tell(0);
    await settle();
    expect(made.position(p0)).toBe(21);
    expect(port.take().map(({ asks }) => asks)).toEqual([['t-0@21']]);
  });
});

describe('a change of leader', () => {
  it.each([6, 74, 75, 3, 9, 56])('told by error %i leads to fresh metadata and the new broker', async (errorCode) => {
    await started([[p0, 5]]);
    port.leaders.set('t-0', 2);
    await port.take()[0]!.answer([{ partition: 0, errorCode }]);
    await clock.advance(30);
    const [next] = port.take();
    expect([next!.broker, next!.asks]).toEqual([2, ['t-0@5']]);
    expect(port.refreshes).toBeGreaterThanOrEqual(1);
  });

  it('is found out after a transport error too, and no other partition has to wait', async () => {
    port.leaders.set('t-1', 2);
    await started([
      [p0, 5],
      [p1, 0],
    ]);
    const [toFirst, toSecond] = port.take();
    port.leaders.set('t-0', 2);
    await toFirst!.fail();
    await clock.advance(30);
    expect(port.take().map(({ broker, asks }) => [broker, asks])).toEqual([[2, ['t-0@5']]]);
    await toSecond!.answer([{ partition: 1, records: batch(0, 1) }]);
    expect(received()).toEqual(['t-1 0→1']);
  });

  it('waits with growing pauses while there is no leader', async () => {
    port.leaders.delete('t-0');
    await started([[p0, 0]]);
    await clock.advance(10_000);
    expect(port.take()).toEqual([]);
    expect(port.metadataRequests).toBeGreaterThan(8);
    expect(port.metadataRequests).toBeLessThan(30);
    port.leaders.set('t-0', 1);
    await clock.advance(1200);
    expect(port.take()).toHaveLength(1);
    expect(errors).toEqual([]);
  });

  it('pauses longer with each failure and starts afresh after an answer', async () => {
    await started([[p0, 0]]);
    const pauses: number[] = [];
    for (let i = 0; i < 8; i++) {
      const failedAt = clock.now();
      await port.take()[0]!.fail();
      while (port.sent.length === 0) await clock.advance(1);
      pauses.push(clock.now() - failedAt);
    }
    expect(pauses).toEqual([20, 40, 80, 160, 320, 640, 1000, 1000]);
    await port.take()[0]!.answer([]);
    await port.take()[0]!.fail();
    await clock.advance(21);
    expect(port.take()).toHaveLength(1);
  });
});

describe('what no retry mends', () => {
  it('is reported with the topic: missing rights told by a fetch', async () => {
    await started([[p0, 0]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 29 }]);
    expect(errors).toMatchObject([{ error: { code: 'MILL_AUTHORIZATION', details: { topic: 't' } }, partition: p0 }]);
    await clock.advance(10_000);
    expect(port.take()).toEqual([]);
  });

  it('is reported with the topic: missing rights told by metadata', async () => {
    port.leaders.clear();
    port.topicErrors.set('t', 29);
    await started([[p0, 0]]);
    expect(errors).toMatchObject([{ error: { code: 'MILL_AUTHORIZATION' }, partition: p0 }]);
  });

  it('is reported under its name otherwise', async () => {
    await started([[p0, 4]]);
    await port.take()[0]!.answer([{ partition: 0, errorCode: 17 }]);
    expect(errors[0]!.error.message).toContain('Fetching t-0 at offset 4 failed with INVALID_TOPIC_EXCEPTION (17).');
  });
});

describe('the watchdog', () => {
  it('warns of and counts a partition that gets no answer', async () => {
    const made = await started([[p0, 0]]);
    await clock.advance(46_000);
    expect(made.metrics.stalls).toBe(1);
    expect(warnings).toEqual(['no answer for t-0 for 30000 ms']);
    await clock.advance(30_000);
    expect(made.metrics.stalls).toBe(2);
    await made.stop();
  });

  it('is content with answers that bring nothing', async () => {
    const made = await started([[p0, 0]]);
    for (let i = 0; i < 100; i++) {
      await clock.advance(500);
      await port.take()[0]!.answer([]);
    }
    expect(made.metrics.stalls).toBe(0);
    await made.stop();
  });

  it('does not blame the broker for a paused partition or a slow consumer', async () => {
    const made = await started(
      [
        [p0, 0],
        [p1, 0],
      ],
      { maxBytesPerPartition: 50 },
    );
    made.pause(p1);
    await port.take()[0]!.answer([{ partition: 0, records: batch(0, 1, 100) }]);
    await clock.advance(120_000);
    expect(made.metrics.stalls).toBe(0);
    await made.stop();
  });
});
