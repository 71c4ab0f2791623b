import { describe, expect, it } from '@jest/globals';
import type { FetchRequest } from '../../../src/kafka/port.js';
import {
  batchOf,
  createTopic,
  eventually,
  fetchFrom,
  leaderOf,
  portsOf,
  roundTrip,
  send,
  unique,
  valuesOf,
  type PortSubject,
} from './fixture.js';

export function recordTests(subject: PortSubject): void {
  describe('records', () => {
    const ports = portsOf(subject, 1);

    it('come back byte for byte, from the batch that holds the offset on', async () => {
      const port = ports[0]!;
      const from = { topic: await createTopic(port, 'round-trip'), partition: 0 };
      expect(await send(port, from, [batchOf(['a', 'b', 'c'])])).toEqual({ errorCode: 0, baseOffset: 0 });
      expect(await send(port, from, [batchOf(['d'])])).toEqual({ errorCode: 0, baseOffset: 3 });
      const fetched = await fetchFrom(port, from, 1);
      expect(fetched).toMatchObject({ errorCode: 0, highWatermark: 4, lastStableOffset: 4, logStartOffset: 0, abortedTransactions: [] });
      expect(valuesOf(fetched, 1, 'read_committed')).toEqual(['b', 'c', 'd']);
      expect(fetched.records.readBigInt64BE(0)).toBe(0n);
      expect((await fetchFrom(port, from, 4)).records).toHaveLength(0);
    });

    it('are refused with a code when the batch is not in order', async () => {
      const port = ports[0]!;
      const to = { topic: await createTopic(port, 'refused', 1, { 'max.message.bytes': '2000' }), partition: 0 };
      const damaged = batchOf(['damaged']);
      damaged[damaged.length - 2]! ^= 1;
      expect((await send(port, to, [damaged])).errorCode).toBe(2);
      expect((await send(port, to, [batchOf(['one']), batchOf(['two'])])).errorCode).toBe(87);
      expect((await send(port, to, [batchOf(['x'.repeat(3000)])])).errorCode).toBe(10);
      const leader = await leaderOf(port, to);
      const absent = { topic: unique('absent'), partition: 0, records: [batchOf(['lost'])] };
      const { partitions } = await port.produce(leader, { transactionalId: null, acks: -1, timeoutMs: 1000, partitions: [absent] });
      expect(partitions[0]!.errorCode).toBe(3);
      expect((await fetchFrom(port, to, 0)).highWatermark).toBe(0);
    });

    it('get the time of the append where the topic says so', async () => {
      const port = ports[0]!;
      const to = { topic: await createTopic(port, 'stamped', 1, { 'message.timestamp.type': 'LogAppendTime' }), partition: 0 };
      const before = Date.now();
      const request = { transactionalId: null, acks: -1, timeoutMs: 1000, partitions: [{ ...to, records: [batchOf(['now'])] }] } as const;
      const { partitions } = await port.produce(await leaderOf(port, to), request);
      expect(partitions[0]!.logAppendTime).toBeGreaterThanOrEqual(before - 1000);
      const [answer] = await port.listOffsets([{ ...to, at: before - 1000 }]);
      expect(answer!.offset).toBe(0);
    });

    describe('of an idempotent producer', () => {
      async function producer() {
        const port = ports[0]!;
        const to = { topic: await createTopic(port, 'idempotent'), partition: 0 };
        const { brokers } = await port.metadata([]);
        const nodeId = brokers[0]!.nodeId;
        // A broker that has just started has no producer ids to give yet (14).
        const { errorCode, producerId } = await eventually(
          () => port.initProducerId(nodeId, { transactionalId: null, transactionTimeoutMs: 60_000 }),
          (answer) => answer.errorCode !== 14,
        );
        expect(errorCode).toBe(0);
        const write = (baseSequence: number, values: readonly string[], producerEpoch = 0) =>
          send(port, to, [batchOf(values, { producerId, producerEpoch, baseSequence })]);
        return { port, to, producerId, write };
      }

      it('are taken once, and a repetition is told where the first one went', async () => {
        const { port, to, write } = await producer();
        for (let i = 0; i < 6; i++) expect(await write(i * 2, ['a', 'b'])).toEqual({ errorCode: 0, baseOffset: i * 2 });
        for (let i = 1; i < 6; i++) expect(await write(i * 2, ['a', 'b'])).toEqual({ errorCode: 0, baseOffset: i * 2 });
        expect((await fetchFrom(port, to, 0)).highWatermark).toBe(12);
        // The sixth batch back is forgotten.
        expect((await write(0, ['a', 'b'])).errorCode).toBe(45);
      });

      it('must be in sequence', async () => {
        const { write } = await producer();
        expect((await write(0, ['a'])).errorCode).toBe(0);
        expect((await write(2, ['gap'])).errorCode).toBe(45);
        expect((await write(1, ['b'])).errorCode).toBe(0);
        // A repetition only in part is no repetition.
        expect((await write(1, ['b', 'c'])).errorCode).toBe(45);
      });

      it('begin with sequence 0 in a new epoch, and an old epoch is fenced', async () => {
        const { write } = await producer();
        expect((await write(0, ['a'], 0)).errorCode).toBe(0);
        expect((await write(1, ['b'], 1)).errorCode).toBe(45);
        expect((await write(0, ['b'], 1)).errorCode).toBe(0);
        expect((await write(1, ['late'], 0)).errorCode).toBe(47);
        // As a repetition of what the old epoch wrote it is no longer known either.
        expect((await write(0, ['a'], 0)).errorCode).toBe(47);
      });

      it('are taken from any sequence on when the partition does not know the producer', async () => {
        const { write } = await producer();
        expect((await write(7, ['later'])).errorCode).toBe(0);
        expect((await write(9, ['gap'])).errorCode).toBe(45);
        expect((await write(8, ['next'])).errorCode).toBe(0);
      });

      it('may wrap around', async () => {
        const { write } = await producer();
        const last = 0x7fff_ffff;
        expect((await write(last - 1, ['a', 'b'])).errorCode).toBe(0);
        expect(await write(0, ['c'])).toEqual({ errorCode: 0, baseOffset: 2 });
        expect(await write(0, ['c'])).toEqual({ errorCode: 0, baseOffset: 2 });
      });
    });

    describe('fetched', () => {
      const base = { isolation: 'read_committed', minBytes: 1, maxBytes: 1_000_000 } as const;

      it('out of the log’s range are an error', async () => {
        const port = ports[0]!;
        const from = { topic: await createTopic(port, 'range'), partition: 0 };
        await send(port, from, [batchOf(['a', 'b'])]);
        expect((await fetchFrom(port, from, 3)).errorCode).toBe(1);
        await port.admin.deleteRecords([{ ...from, offset: 1 }]);
        expect((await fetchFrom(port, from, 0)).errorCode).toBe(1);
        const after = await fetchFrom(port, from, 1);
        expect(after).toMatchObject({ errorCode: 0, logStartOffset: 1 });
        expect(valuesOf(after, 1, 'read_committed')).toEqual(['b']);
      });

      it('of an unknown topic are an error', async () => {
        const port = ports[0]!;
        const leader = await leaderOf(port, { topic: await createTopic(port, 'known'), partition: 0 });
        const partitions = [{ topic: unique('absent'), partition: 0, offset: 0, maxBytes: 1000 }];
        expect((await port.fetch(leader, { ...base, maxWaitMs: 1000, partitions })).partitions[0]!.errorCode).toBe(3);
      });

      it('of a topic that has another id are an error', async () => {
        const port = ports[0]!;
        const from = { topic: await createTopic(port, 'identified'), partition: 0 };
        await send(port, from, [batchOf(['a'])]);
        const topicId = (await port.metadata([from.topic])).topics.get(from.topic)?.topicId ?? null;
        const leader = await leaderOf(port, from);
        const fetchWith = async (id: string | null) => {
          const request = { ...base, maxWaitMs: 1000, partitions: [{ ...from, topicId: id, offset: 0, maxBytes: 1000 }] };
          return (await port.fetch(leader, request)).partitions[0]!;
        };
        expect(topicId).toMatch(/^[\w-]{22}$/);
        const same = await fetchWith(topicId);
        expect(same).toMatchObject({ ...from, errorCode: 0 });
        expect(valuesOf(same, 0, 'read_committed')).toEqual(['a']);
        expect(await fetchWith(Buffer.alloc(16, 7).toString('base64url'))).toMatchObject({ ...from, errorCode: 100 });
      });

      it('are waited for, and come as soon as they are there', async () => {
        const port = ports[0]!;
        const from = { topic: await createTopic(port, 'awaited'), partition: 0 };
        const leader = await leaderOf(port, from);
        const request: FetchRequest = { ...base, maxWaitMs: 10_000, partitions: [{ ...from, offset: 0, maxBytes: 1000 }] };
        const started = performance.now();
        const fetched = port.fetch(leader, request);
        await roundTrip(port);
        await send(port, from, [batchOf(['at last'])]);
        expect(valuesOf((await fetched).partitions[0]!, 0, 'read_committed')).toEqual(['at last']);
        expect(performance.now() - started).toBeLessThan(5000);
        const empty = performance.now();
        const nothing = await port.fetch(leader, { ...request, maxWaitMs: 300, partitions: [{ ...from, offset: 1, maxBytes: 1000 }] });
        expect(nothing.partitions[0]).toMatchObject({ errorCode: 0, records: Buffer.alloc(0) });
        expect(performance.now() - empty).toBeGreaterThan(250);
      });

      it('fill the bytes asked for: the first batch whole, the last one cut', async () => {
        const port = ports[0]!;
        const topic = await createTopic(port, 'limits', 2);
        const batch = batchOf(['x'.repeat(500)]);
        for (const partition of [0, 0, 1]) await send(port, { topic, partition }, [batch]);
        const leader = await leaderOf(port, { topic, partition: 0 });
        const sizes = async (maxBytes: number, perPartition: number) => {
          const partitions = [0, 1].map((partition) => ({ topic, partition, offset: 0, maxBytes: perPartition }));
          const answer = await port.fetch(leader, { ...base, maxBytes, maxWaitMs: 0, partitions });
          return [...answer.partitions].sort((a, b) => a.partition - b.partition).map(({ records }) => records.length);
        };
        const size = batch.length;
        expect(await sizes(1_000_000, 1_000_000)).toEqual([2 * size, size]);
        expect(await sizes(1_000_000, size + 100)).toEqual([size + 100, size]);
        expect(await sizes(1_000_000, 100)).toEqual([size, 0]);
        expect(await sizes(100, 1_000_000)).toEqual([size, 0]);
      });
    });
  });
}
