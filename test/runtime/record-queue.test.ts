import { describe, expect, it } from '@jest/globals';
import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import { RecordQueue } from '../../src/runtime/record-queue.js';
import { readWatermarks, watermarkHeaders } from '../../src/runtime/watermark-record.js';
import type { SourceReader } from '../../src/runtime/source-reader.js';
import { TopicLog } from '../../src/testing/topic-log.js';
import { deferred } from './harness/task-rig.js';

/** Chunks of `t-0`, one for each list of timestamps, with offsets from `from` on. */
function chunks(lists: readonly (readonly number[])[]): FetchedChunk[] {
  const log = new TopicLog();
  return lists.flatMap((timestamps) => {
    for (const timestamp of timestamps) log.builder('t', 0).appendRaw(timestamp, null, 0, 0, null, 0, 0, null);
    return log.deliver();
  });
}

interface Observed {
  readonly queue: RecordQueue;
  readonly released: number[];
  readonly drops: number[];
  readonly resets: (readonly [number, number])[];
}

type Extract = (queue: RecordQueue) => number | null | Promise<number | null>;

function queueAt(offset: number, extract?: Extract): Observed {
  const source = { extractsAtHead: extract !== undefined, extract: extract ?? (() => null) } as unknown as SourceReader;
  const released: number[] = [];
  const drops: number[] = [];
  const resets: (readonly [number, number])[] = [];
  const queue: RecordQueue = new RecordQueue(
    't',
    0,
    source,
    'read_uncommitted',
    { offset, partitionTime: -1 },
    (_topic, _partition, bytes) => released.push(bytes),
    {
      headDropped: () => drops.push(queue.committable - 1),
      positionReset: (from, to) => resets.push([from, to]),
      endReached: () => undefined,
    },
  );
  return { queue, released, drops, resets };
}

async function take(queue: RecordQueue): Promise<number[]> {
  const offsets: number[] = [];
  while (await queue.advance()) {
    offsets.push(queue.cursor.offset);
    queue.taken();
  }
  return offsets;
}

describe('a record queue', () => {
  it('hands watermarks of upstream tasks to its task in the order of the log, and never as records', async () => {
    const log = new TopicLog();
    const [key, value] = [Buffer.from('k'), Buffer.from('v')];
    const data = (at: number) => log.builder('t', 0).appendRaw(at, key, 0, 1, value, 0, 1, null);
    const mark = (at: number) =>
      log.builder('t', 0).appendRaw(0, null, 0, 0, null, 0, 0, watermarkHeaders(new Map([['0_0', { watermark: at, idle: false }]])));
    data(1);
    mark(1);
    mark(2);
    data(3);
    log.builder('t', 0).appendRaw(4, null, 0, 0, null, 0, 0, null);
    mark(4);
    const seen: string[] = [];
    const source = { extractsAtHead: false } as unknown as SourceReader;
    const isWatermark = (of: RecordQueue): boolean => {
      const marks = readWatermarks(of.cursor.headers());
      if (marks !== null) seen.push(`watermark ${marks.get('0_0')?.watermark}`);
      return marks !== null;
    };
    const observer = { headDropped: () => undefined, positionReset: () => undefined, isWatermark };
    const start = { offset: 0, partitionTime: -1 };
    const queue = new RecordQueue('t', 0, source, 'read_uncommitted', start, () => undefined, observer, true);
    for (const chunk of log.deliver()) queue.add(chunk);
    while (await queue.advance()) {
      seen.push(`record ${queue.cursor.timestamp}`);
      queue.taken();
    }
    expect(seen).toEqual(['record 1', 'watermark 1', 'watermark 2', 'record 3', 'record 4', 'watermark 4']);
    expect(queue.committable).toBe(6);
  });

  it('hands out the records of all chunks in the order of the log', async () => {
    const { queue, released } = queueAt(0);
    const made = chunks([[1, 2], [3], [4, 5]]);
    for (const chunk of made) queue.add(chunk);
    expect(await take(queue)).toEqual([0, 1, 2, 3, 4]);
    expect(queue.committable).toBe(5);
    expect(queue.isEmpty).toBe(true);
    expect(released).toEqual(made.map(({ byteLength }) => byteLength));
  });

  it('commits the offset of the head as long as it is not taken', () => {
    const { queue } = queueAt(0);
    for (const chunk of chunks([[1, 2]])) queue.add(chunk);
    expect(queue.committable).toBe(0);
    void queue.advance();
    expect(queue.committable).toBe(0);
    queue.taken();
    expect(queue.committable).toBe(1);
  });

  it('passes over records before its start', async () => {
    const { queue } = queueAt(1);
    const [chunk] = chunks([[1, 2, 3]]);
    queue.add({ ...(chunk as FetchedChunk), fetchOffset: 1 });
    expect(await take(queue)).toEqual([1, 2]);
  });

  it('refuses a chunk that goes back', () => {
    const { queue } = queueAt(5);
    const [chunk] = chunks([[1]]);
    queue.add(chunk as FetchedChunk);
    expect(() => queue.advance()).toThrow(expect.objectContaining({ code: 'MILL_INVARIANT' }));
  });

  it('goes back or forward with a chunk that follows a reset by policy, and tells', async () => {
    const { queue, resets } = queueAt(500);
    const [again] = chunks([[1, 2]]);
    queue.add({ ...(again as FetchedChunk), reset: true });
    expect(await take(queue)).toEqual([0, 1]);
    expect(queue.committable).toBe(2);
    expect(resets).toEqual([[500, 0]]);
  });

  it('takes what came before the reset first', async () => {
    const { queue } = queueAt(0);
    const [first] = chunks([[1, 2]]);
    const [again] = chunks([[7]]);
    queue.add(first as FetchedChunk);
    queue.add({ ...(again as FetchedChunk), reset: true });
    expect(await take(queue)).toEqual([0, 1, 0]);
  });

  it('drops heads without a time, tells of each, and goes on behind them', async () => {
    const { queue, drops } = queueAt(0, ({ cursor }) => (cursor.offset % 2 === 0 ? null : 100 + cursor.offset));
    for (const chunk of chunks([[1, 2, 3, 4]])) queue.add(chunk);
    void queue.advance();
    expect([queue.cursor.offset, queue.headTimestamp]).toEqual([1, 101]);
    queue.taken();
    expect(await take(queue)).toEqual([3]);
    expect(drops).toEqual([0, 2]);
  });

  it('has no head while a time is awaited, and loses no record over it', async () => {
    const gates = [deferred<number | null>(), deferred<number | null>()];
    let asked = 0;
    const { queue } = queueAt(0, () => gates[asked++]?.promise ?? 9);
    for (const chunk of chunks([[1, 2, 3]])) queue.add(chunk);
    const advanced = queue.advance();
    expect(queue.hasHead).toBe(false);
    expect(queue.committable).toBe(0);
    gates[0]?.resolve(null);
    gates[1]?.resolve(77);
    expect(await advanced).toBe(true);
    expect([queue.cursor.offset, queue.headTimestamp, queue.committable]).toEqual([1, 77, 1]);
  });

  it('gives everything back when it is cleared, and a time that comes late finds nothing', async () => {
    const gate = deferred<number | null>();
    const { queue, released } = queueAt(0, () => gate.promise);
    for (const chunk of chunks([[1], [2]])) queue.add(chunk);
    const advanced = queue.advance();
    queue.clear();
    expect(released).toHaveLength(2);
    gate.resolve(null);
    expect(await advanced).toBe(false);
  });
});
