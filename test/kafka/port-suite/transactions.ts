import { beforeAll, describe, expect, it } from '@jest/globals';
import type { KafkaPort, ProducerIdentity, TopicPartition } from '../../../src/kafka/port.js';
import {
  batchOf,
  begin,
  createTopic,
  endOnce51IsOver,
  enlist,
  eventually,
  fetchFrom,
  outsideGroup,
  portsOf,
  readUpTo,
  send,
  sendIn,
  unique,
  type BegunTransaction,
  type PortSubject,
} from './fixture.js';

export function transactionTests(subject: PortSubject, transactionV2: boolean): void {
  describe(`transactions, protocol ${transactionV2 ? 2 : 1}`, () => {
    const ports = portsOf(subject, 1, { transactionV2 });
    let port: KafkaPort;
    let out: TopicPartition;
    beforeAll(async () => {
      port = ports[0]!;
      expect(port.transactionV2).toBe(transactionV2);
    });

    /** A transaction with one record written. */
    async function openTransaction(id = unique('tx'), timeoutMs?: number): Promise<BegunTransaction> {
      out = { topic: await createTopic(port, 'txn'), partition: 0 };
      const begun = await begin(port, id, timeoutMs);
      await enlist(port, begun, out);
      expect(await sendIn(port, begun.identity, out, ['first'], 0)).toEqual({ errorCode: 0, baseOffset: 0 });
      return begun;
    }

    const following = (identity: ProducerIdentity, next: object | null): ProducerIdentity => ({ ...identity, ...next });

    it('show their records when they are committed, and never when aborted', async () => {
      const to = { topic: await createTopic(port, 'outcomes'), partition: 0 };
      const begun = await begin(port, unique('tx'));
      let { identity } = begun;
      let sequence = 0;
      for (const [values, commit] of [
        [['a', 'b'], true],
        [['dropped'], false],
        [['c'], true],
      ] as const) {
        await enlist(port, { ...begun, identity }, to);
        expect((await sendIn(port, identity, to, values, sequence)).errorCode).toBe(0);
        const ended = await endOnce51IsOver(port, { ...begun, identity }, commit);
        expect(ended.errorCode).toBe(0);
        expect(ended.next === null).toBe(!transactionV2);
        if (ended.next !== null) expect(ended.next).toEqual({ producerId: identity.producerId, producerEpoch: identity.producerEpoch + 1 });
        sequence = transactionV2 ? 0 : sequence + values.length;
        identity = following(identity, ended.next);
      }
      expect(await readUpTo(port, to, 7, 'read_committed')).toEqual(['a', 'b', 'c']);
      expect(await readUpTo(port, to, 7, 'read_uncommitted')).toEqual(['a', 'b', 'dropped', 'c']);
      expect((await fetchFrom(port, to, 3)).abortedTransactions).toEqual([{ producerId: identity.producerId, firstOffset: 3 }]);
      expect((await fetchFrom(port, to, 5)).abortedTransactions).toEqual([]);
    });

    it('hold back what comes after them until they end', async () => {
      const begun = await openTransaction();
      await send(port, out, [batchOf(['plain'])]);
      const held = await fetchFrom(port, out, 0);
      expect(held).toMatchObject({ highWatermark: 2, lastStableOffset: 0 });
      expect(held.records).toHaveLength(0);
      const latest = async (isolation: 'read_committed' | 'read_uncommitted') =>
        (await port.listOffsets([{ ...out, at: 'latest', isolation }]))[0]!.offset;
      expect(await latest('read_committed')).toBe(0);
      expect(await latest('read_uncommitted')).toBe(2);
      expect((await endOnce51IsOver(port, begun, true)).errorCode).toBe(0);
      expect(await readUpTo(port, out, 3, 'read_committed')).toEqual(['first', 'plain']);
      expect(await latest('read_committed')).toBe(3);
    });

    it('refuse records without a transaction from a producer that has one open', async () => {
      const { identity } = await openTransaction();
      expect((await send(port, out, [batchOf(['plain'], { ...identity, baseSequence: 1 })])).errorCode).toBe(48);
    });

    it('take a repeated batch once', async () => {
      const { identity } = await openTransaction();
      expect(await sendIn(port, identity, out, ['first'], 0)).toEqual({ errorCode: 0, baseOffset: 0 });
      expect((await sendIn(port, identity, out, ['gap'], 2)).errorCode).toBe(45);
    });

    it('refuse late records once they have ended', async () => {
      const begun = await openTransaction();
      expect((await endOnce51IsOver(port, begun, true)).errorCode).toBe(0);
      await readUpTo(port, out, 2, 'read_committed');
      const late = await sendIn(port, begun.identity, out, ['late'], 1);
      expect(late.errorCode).toBe(transactionV2 ? 47 : 120);
      // The repetition of a batch of before is still recognised, unless the epoch is another one.
      const repeated = await sendIn(port, begun.identity, out, ['first'], 0);
      expect(repeated.errorCode).toBe(transactionV2 ? 47 : 120);
    });

    it('can be ended again with the same outcome only', async () => {
      const begun = await openTransaction();
      const first = await endOnce51IsOver(port, begun, true);
      expect(first.errorCode).toBe(0);
      const again = await endOnce51IsOver(port, begun, true);
      expect(again).toEqual(first);
      expect((await endOnce51IsOver(port, begun, false)).errorCode).toBe(48);
    });

    it('can be aborted twice, not committed after', async () => {
      const begun = await openTransaction();
      const first = await endOnce51IsOver(port, begun, false);
      expect(first.errorCode).toBe(0);
      expect(await endOnce51IsOver(port, begun, false)).toEqual(first);
      expect((await endOnce51IsOver(port, begun, true)).errorCode).toBe(48);
    });

    it('that were never begun cannot be committed', async () => {
      const begun = await begin(port, unique('empty'));
      expect((await endOnce51IsOver(port, begun, true)).errorCode).toBe(48);
      const aborted = await endOnce51IsOver(port, begun, false);
      expect(aborted.errorCode).toBe(transactionV2 ? 0 : 48);
    });

    it('know no strangers', async () => {
      const begun = await begin(port, unique('known'));
      const stranger = { ...begun.identity, producerId: begun.identity.producerId + 100_000n };
      const unknown = { ...begun.identity, transactionalId: unique('nobody') };
      const coordinator = await port.findCoordinator('transaction', unknown.transactionalId);
      expect((await port.endTxn(begun.coordinator, { ...stranger, commit: true })).errorCode).toBe(49);
      expect((await port.endTxn(coordinator, { ...unknown, commit: true })).errorCode).toBe(49);
      expect((await port.addOffsetsToTxn(begun.coordinator, { ...stranger, groupId: 'g' })).errorCode).toBe(49);
      const future = { ...begun.identity, producerEpoch: begun.identity.producerEpoch + 5 };
      expect((await port.endTxn(begun.coordinator, { ...future, commit: true })).errorCode).toBe(90);
      expect((await port.addOffsetsToTxn(begun.coordinator, { ...future, groupId: 'g' })).errorCode).toBe(90);
      const to = { topic: await createTopic(port, 'strangers'), partition: 0 };
      const added = await port.addPartitionsToTxn(begun.coordinator, { ...future, partitions: [to] });
      expect(added).toEqual([{ ...to, errorCode: 90 }]);
    });

    it('are refused with a timeout that no broker allows', async () => {
      const transactionalId = unique('timeout');
      const coordinator = await port.findCoordinator('transaction', transactionalId);
      const attempt = (transactionTimeoutMs: number) =>
        eventually(
          () => port.initProducerId(coordinator, { transactionalId, transactionTimeoutMs }),
          ({ errorCode }) => ![14, 15, 16].includes(errorCode),
        );
      expect((await attempt(0)).errorCode).toBe(50);
      expect((await attempt(10_000_000)).errorCode).toBe(50);
      expect((await attempt(1000)).errorCode).toBe(0);
    });

    it('keep the producer id and raise the epoch with each new owner, who fences the one before', async () => {
      const begun = await openTransaction();
      expect(await port.listOpenTransactions(begun.identity.transactionalId)).toEqual([begun.identity.transactionalId]);
      const next = await begin(port, begun.identity.transactionalId);
      expect(next.identity.producerId).toBe(begun.identity.producerId);
      expect(next.identity.producerEpoch).toBeGreaterThan(begun.identity.producerEpoch);
      await eventually(
        () => port.listOpenTransactions(begun.identity.transactionalId),
        (open) => open?.length === 0,
      );
      expect(await readUpTo(port, out, 2, 'read_committed')).toEqual([]);
      expect((await port.endTxn(begun.coordinator, { ...begun.identity, commit: true })).errorCode).toBe(90);
      expect((await sendIn(port, begun.identity, out, ['late'], 1)).errorCode).toBe(47);
      const added = await port.addPartitionsToTxn(begun.coordinator, { ...begun.identity, partitions: [out] });
      expect(added[0]!.errorCode).toBe(90);
      // The new owner begins with sequence 0.
      await enlist(port, next, out);
      expect((await sendIn(port, next.identity, out, ['new'], 0)).errorCode).toBe(0);
      expect((await endOnce51IsOver(port, next, true)).errorCode).toBe(0);
      expect(await readUpTo(port, out, 4, 'read_committed')).toEqual(['new']);
    });

    it('let an owner raise its own epoch, again if the answer was lost, and nobody who was fenced', async () => {
      const transactionalId = unique('bump');
      const { coordinator, identity } = await begin(port, transactionalId);
      const bump = (current: { readonly producerId: bigint; readonly producerEpoch: number }) =>
        port.initProducerId(coordinator, { transactionalId, transactionTimeoutMs: 60_000, current });
      const bumped = await bump(identity);
      expect(bumped).toEqual({ errorCode: 0, producerId: identity.producerId, producerEpoch: identity.producerEpoch + 1 });
      expect(await bump(identity)).toEqual(bumped);
      const twice = await bump(bumped);
      expect(twice.producerEpoch).toBe(identity.producerEpoch + 2);
      expect((await bump(identity)).errorCode).toBe(90);
    });

    it('add partitions only as a whole', async () => {
      if (transactionV2) return;
      const { coordinator, identity } = await begin(port, unique('partly'));
      const known = { topic: await createTopic(port, 'partly'), partition: 0 };
      const absent = { topic: unique('absent'), partition: 0 };
      const results = await port.addPartitionsToTxn(coordinator, { ...identity, partitions: [known, absent] });
      expect(results.find(({ topic }) => topic === known.topic)!.errorCode).toBe(55);
      expect(results.find(({ topic }) => topic === absent.topic)!.errorCode).toBe(3);
      expect((await send(port, known, [batchOf(['x'], { ...identity, transactional: true })], identity.transactionalId)).errorCode).toBe(
        120,
      );
    });

    it('are aborted when their time is up', async () => {
      const begun = await openTransaction(unique('slow'), 1000);
      await eventually(
        async () => (await fetchFrom(port, out, 0)).lastStableOffset,
        (offset) => offset === 2,
        40_000,
      );
      expect(await readUpTo(port, out, 2, 'read_committed')).toEqual([]);
      expect(await readUpTo(port, out, 2, 'read_uncommitted')).toEqual(['first']);
      expect((await sendIn(port, begun.identity, out, ['late'], 1)).errorCode).toBe(47);
      const ended = await endOnce51IsOver(port, begun, true);
      expect(ended.errorCode).toBe(transactionV2 ? 48 : 90);
    });

    describe('with offsets', () => {
      const groupId = unique('offsets');
      const offsets = (offset: number) => [{ ...out, offset, leaderEpoch: -1, metadata: `at ${offset}` }];
      const read = async (requireStable: boolean) => {
        const coordinator = await port.findCoordinator('group', groupId);
        const { offsets: answers } = await port.offsetFetch(coordinator, { groupId, partitions: [out], requireStable });
        return answers[0]!;
      };

      async function commitOffsets({ identity, coordinator }: BegunTransaction, offset: number, of = groupId): Promise<number> {
        if (!transactionV2) {
          const added = await eventually(
            () => port.addOffsetsToTxn(coordinator, { ...identity, groupId: of }),
            ({ errorCode }) => errorCode !== 51,
          );
          if (added.errorCode !== 0) return added.errorCode;
        }
        const group = await port.findCoordinator('group', of);
        const results = await eventually(
          () => port.txnOffsetCommit(group, { ...identity, ...outsideGroup, groupId: of, offsets: offsets(offset) }),
          ([result]) => ![14, 15, 16, 51].includes(result!.errorCode),
        );
        return results[0]!.errorCode;
      }

      it('make them visible with the commit, and answer 88 until then to those who ask for stable ones', async () => {
        const begun = await openTransaction();
        expect(await commitOffsets(begun, 42)).toBe(0);
        expect(await read(true)).toMatchObject({ errorCode: 88, offset: -1 });
        expect(await read(false)).toMatchObject({ errorCode: 0, offset: -1, metadata: '' });
        expect((await endOnce51IsOver(port, begun, true)).errorCode).toBe(0);
        const stable = await eventually(
          () => read(true),
          ({ errorCode }) => errorCode !== 88,
        );
        expect(stable).toMatchObject({ errorCode: 0, offset: 42, metadata: 'at 42' });
      });

      it('drop them with an abort', async () => {
        const begun = await openTransaction();
        expect(await commitOffsets(begun, 7)).toBe(0);
        expect((await endOnce51IsOver(port, begun, false)).errorCode).toBe(0);
        const stable = await eventually(
          () => read(true),
          ({ errorCode }) => errorCode !== 88,
        );
        expect(stable).toMatchObject({ errorCode: 0, offset: -1 });
      });

      it('refuse them from a fenced owner, and from one that never said so', async () => {
        const begun = await openTransaction();
        const next = await begin(port, begun.identity.transactionalId);
        expect(await commitOffsets(begun, 1)).toBe(transactionV2 ? 47 : 90);
        if (!transactionV2) {
          const group = await port.findCoordinator('group', groupId);
          const request = { ...next.identity, ...outsideGroup, groupId, offsets: offsets(1) };
          expect((await port.txnOffsetCommit(group, request))[0]!.errorCode).toBe(120);
        }
      });

      it('refuse them for topics that are not there and metadata that is too long', async () => {
        const begun = await openTransaction();
        const group = unique('faulty');
        if (!transactionV2) await port.addOffsetsToTxn(begun.coordinator, { ...begun.identity, groupId: group });
        const coordinator = await port.findCoordinator('group', group);
        const request = {
          ...begun.identity,
          ...outsideGroup,
          groupId: group,
          offsets: [
            { ...out, offset: 1, leaderEpoch: -1, metadata: 'x'.repeat(5000) },
            { topic: unique('absent'), partition: 0, offset: 1, leaderEpoch: -1, metadata: null },
          ],
        };
        const results = await eventually(
          () => port.txnOffsetCommit(coordinator, request),
          ([result]) => ![14, 15, 16, 51].includes(result!.errorCode),
        );
        expect(results.find(({ topic }) => topic === out.topic)!.errorCode).toBe(12);
        expect(results.find(({ topic }) => topic !== out.topic)!.errorCode).toBe(3);
      });

      it('refuse a generation of a group that there is not', async () => {
        const begun = await openTransaction();
        const group = unique('nobody');
        if (!transactionV2) await port.addOffsetsToTxn(begun.coordinator, { ...begun.identity, groupId: group });
        const coordinator = await port.findCoordinator('group', group);
        const member = { memberId: 'someone', generation: 3, groupInstanceId: null };
        const results = await eventually(
          () => port.txnOffsetCommit(coordinator, { ...begun.identity, ...member, groupId: group, offsets: offsets(1) }),
          ([result]) => ![14, 15, 16, 51].includes(result!.errorCode),
        );
        expect(results[0]!.errorCode).toBe(22);
      });
    });
  });
}
