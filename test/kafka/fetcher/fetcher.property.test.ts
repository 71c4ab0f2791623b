import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';

import type { FetchedChunk } from '../../../src/kafka/fetcher/fetched-chunk.js';
import { Fetcher } from '../../../src/kafka/fetcher/fetcher.js';
import { silentLogger } from '../../../src/observability/logger.js';
import type { SentFetch } from './scripted-port.js';
import { batch, ManualClock, ScriptedPort, settle } from './scripted-port.js';

const PARTITIONS = 3;
const tp = (partition: number) => ({ topic: 't', partition });

/** Whatever happens in whatever order: what is handed over of an assignment is the log from its offset on, without gap or repetition. */
const step = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      kind: fc.constant('answer' as const),
      which: fc.nat(5),
      batches: fc.nat(3),
      errorCode: fc.constantFrom(0, 0, 0, 0, 6, 1, -1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('fail' as const), which: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('assign' as const), partition: fc.nat(PARTITIONS - 1), offset: fc.nat(100) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      kind: fc.constantFrom('unassign' as const, 'pause' as const, 'resume' as const),
      partition: fc.nat(PARTITIONS - 1),
    }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('seek' as const), partition: fc.nat(PARTITIONS - 1), offset: fc.nat(100) }) },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('consume' as const), partition: fc.nat(PARTITIONS - 1) }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('move' as const), partition: fc.nat(PARTITIONS - 1), broker: fc.integer({ min: 1, max: 2 }) }),
  },
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('wait' as const), ms: fc.nat(300) }) },
);

describe('the order of a partition', () => {
  it('holds under every schedule of answers, failures, moves and assignments', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 60 }), async (steps) => {
        const port = new ScriptedPort();
        const clock = new ManualClock();
        const expected = new Map<number, number>();
        const unread = new Map<number, number>();
        const faults: string[] = [];
        port.offsets = ({ topic, partition }) => {
          expected.set(partition, 50);
          unread.set(partition, 0);
          return { topic, partition, errorCode: 0, offset: 50 };
        };
        const onData = ({ partition, fetchOffset, nextOffset, byteLength }: FetchedChunk): void => {
          if (fetchOffset !== expected.get(partition)) faults.push(`${partition}: ${fetchOffset} instead of ${expected.get(partition)}`);
          expected.set(partition, nextOffset);
          unread.set(partition, (unread.get(partition) ?? 0) + byteLength);
        };
        const options = {
          isolation: 'read_committed',
          autoOffsetReset: () => 'earliest' as const,
          logger: silentLogger,
          clock,
          random: () => 0.5,
        } as const;
        const fetcher = new Fetcher(port, {
          ...options,
          maxBytesPerPartition: 500,
          maxBufferedBytes: () => 2000,
          onData,
          onError: () => undefined,
        });
        for (let partition = 0; partition < PARTITIONS; partition++) port.leaders.set(`t-${partition}`, 1);
        fetcher.start();
        let open: SentFetch[] = [];

        for (const one of steps) {
          open.push(...port.take());
          if (one.kind === 'answer' || one.kind === 'fail') {
            const sent = open[one.which % Math.max(open.length, 1)];
            open = open.filter((other) => other !== sent);
            if (one.kind === 'fail') await sent?.fail();
            else {
              await sent?.answer(
                sent.request.partitions.map(({ partition, offset }) => ({
                  partition,
                  errorCode: one.errorCode,
                  records:
                    one.errorCode === 0
                      ? Buffer.concat([...Array(one.batches).keys()].map((n) => batch(offset + 2 * n, 2, 200)))
                      : Buffer.alloc(0),
                })),
              );
            }
          } else if (one.kind === 'assign' || one.kind === 'seek') {
            if (one.kind === 'assign' || fetcher.position(tp(one.partition)) >= 0) expected.set(one.partition, one.offset);
            unread.set(one.partition, 0);
            fetcher[one.kind](tp(one.partition), one.offset);
          } else if (one.kind === 'consume') {
            fetcher.consumed(unread.get(one.partition) ?? 0, tp(one.partition));
            unread.set(one.partition, 0);
          } else if (one.kind === 'move') port.leaders.set(`t-${one.partition}`, one.broker);
          else if (one.kind === 'wait') await clock.advance(one.ms);
          else fetcher[one.kind](tp(one.partition));
          await settle();
        }
        expect(faults).toEqual([]);

        // And nothing is stuck: once all is read and answered, every assigned, unpaused partition is asked for again.
        for (let partition = 0; partition < PARTITIONS; partition++) {
          fetcher.consumed(unread.get(partition) ?? 0, tp(partition));
          fetcher.resume(tp(partition));
        }
        for (let round = 0; round < 4; round++) {
          for (const sent of [...open.splice(0), ...port.take()]) await sent.answer([]);
          await clock.advance(2000);
        }
        const asked = port.take().flatMap(({ request }) => request.partitions.map(({ partition }) => partition));
        const assigned = [...Array(PARTITIONS).keys()].filter((partition) => fetcher.position(tp(partition)) >= 0);
        expect(asked.sort()).toEqual(assigned);
        await fetcher.stop();
      }),
      { numRuns: 300 },
    );
  });
});
