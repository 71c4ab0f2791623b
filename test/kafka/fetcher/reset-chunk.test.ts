import { describe, expect, it } from '@jest/globals';
import type { FetchedChunk } from '../../../src/kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../../../src/kafka/fetcher/fetcher.js';
import { silentLogger } from '../../../src/observability/logger.js';
import { batch, ManualClock, ScriptedPort, settle } from './scripted-port.js';

const p0 = { topic: 't', partition: 0 };

describe('a position that was set anew by policy', () => {
  it('is told of by a chunk of its own, before there is a record', async () => {
    const port = new ScriptedPort();
    port.leaders.set('t-0', 1);
    port.offsets = ({ topic, partition }) => ({ topic, partition, errorCode: 0, offset: 0 });
    const chunks: FetchedChunk[] = [];
    const fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'earliest',
      logger: silentLogger,
      clock: new ManualClock(),
      random: () => 0.5,
      onData: (chunk) => chunks.push(chunk),
      onError: () => undefined,
    });
    fetcher.assign(p0, 500);
    fetcher.start();
    await settle();
    await port.take()[0]?.answer([{ partition: 0, errorCode: 1 }]);
    expect(chunks).toMatchObject([{ fetchOffset: 0, nextOffset: 0, byteLength: 0, reset: true }]);
    await port.take()[0]?.answer([{ partition: 0, records: batch(0, 2) }]);
    await port.take()[0]?.answer([{ partition: 0, records: batch(2, 1) }]);
    expect(chunks.map(({ fetchOffset, reset }) => [fetchOffset, reset])).toEqual([
      [0, true],
      [0, undefined],
      [2, undefined],
    ]);
    await fetcher.stop();
  });
});
