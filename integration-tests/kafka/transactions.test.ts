import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { KafkaPort, ProducerIdentity, TopicPartition } from '../../src/kafka/port.js';
import { createTopic, eventually, fetchFrom, openPort, produceTo, readUpTo, unique } from './broker-fixture.js';

const OUTSIDE_GROUP = { memberId: '', generation: -1, groupInstanceId: null };

/** Retries while the previous transaction is still being completed (51) or the coordinator is loading (14, 15). */
async function begin(port: KafkaPort, transactionalId: string): Promise<{ identity: ProducerIdentity; coordinator: number }> {
  const coordinator = await port.findCoordinator('transaction', transactionalId);
  const answer = await eventually(
    () => port.initProducerId(coordinator, { transactionalId, transactionTimeoutMs: 30_000 }),
    ({ errorCode }) => ![14, 15, 51].includes(errorCode),
  );
  expect(answer.errorCode).toBe(0);
  return { coordinator, identity: { transactionalId, producerId: answer.producerId, producerEpoch: answer.producerEpoch } };
}

const inTransaction = ({ transactionalId, producerId, producerEpoch }: ProducerIdentity, baseSequence: number) => ({
  transactionalId,
  baseSequence,
  identity: { producerId, producerEpoch, transactional: true },
});

const endUntilDone = (port: KafkaPort, coordinator: number, identity: ProducerIdentity, commit: boolean) =>
  eventually(
    () => port.endTxn(coordinator, { ...identity, commit }),
    ({ errorCode }) => errorCode !== 51,
  );

for (const transactionV2 of [false, true]) {
  describe(`transactions, ${transactionV2 ? 'transaction.version 2 (KIP-890)' : 'the protocol of brokers before 4.0'}`, () => {
    let port: KafkaPort;
    let topic: string;
    let out: TopicPartition;
    beforeAll(async () => {
      port = openPort(undefined, { transactionV2 });
      await port.connect();
      topic = await createTopic(port, 'txn', 2);
      out = { topic, partition: 0 };
    });
    afterAll(() => port.close());

    async function addPartition(coordinator: number, identity: ProducerIdentity, partition: TopicPartition): Promise<void> {
      if (transactionV2) return;
      const results = await eventually(
        () => port.addPartitionsToTxn(coordinator, { ...identity, partitions: [partition] }),
        ([result]) => result!.errorCode !== 51,
      );
      expect(results).toEqual([{ ...partition, errorCode: 0 }]);
    }

    it('speaks the protocol that it says', () => {
      expect(port.transactionV2).toBe(transactionV2);
    });

    it('commits and aborts: read_committed sees the committed records only', async () => {
      const from = { topic, partition: 1 };
      const begun = await begin(port, unique('tx'));
      const { coordinator } = begun;
      let { identity } = begun;
      let sequence = 0;
      for (const [values, commit] of [
        [['a', 'b'], true],
        [['dropped'], false],
        [['c'], true],
      ] as const) {
        await addPartition(coordinator, identity, from);
        const produced = await eventually(
          () => produceTo(port, from, values, inTransaction(identity, sequence)),
          ({ errorCode }) => errorCode !== 51,
        );
        expect(produced.errorCode).toBe(0);
        const ended = await endUntilDone(port, coordinator, identity, commit);
        expect(ended.errorCode).toBe(0);
        if (transactionV2) {
          expect(ended.next).not.toBeNull();
          identity = { ...identity, ...ended.next };
          sequence = 0;
        } else {
          expect(ended.next).toBeNull();
          sequence += values.length;
        }
      }
      expect(await readUpTo(port, from, 7, 'read_committed')).toEqual(['a', 'b', 'c']);
      expect(await readUpTo(port, from, 7, 'read_uncommitted')).toEqual(['a', 'b', 'dropped', 'c']);
      const { abortedTransactions } = await fetchFrom(port, from, 3);
      expect(abortedTransactions).toEqual([{ producerId: identity.producerId, firstOffset: 3 }]);
    });

    it('commits offsets with the transaction, and answers 88 to requireStable while it is open', async () => {
      const groupId = unique('group');
      const { identity, coordinator } = await begin(port, unique('tx'));
      const groupCoordinator = await port.findCoordinator('group', groupId);
      if (!transactionV2) expect((await port.addOffsetsToTxn(coordinator, { ...identity, groupId })).errorCode).toBe(0);
      const offsets = [{ ...out, offset: 42, leaderEpoch: -1, metadata: 'epoch=1' }];
      const committed = await eventually(
        () => port.txnOffsetCommit(groupCoordinator, { ...identity, ...OUTSIDE_GROUP, groupId, offsets }),
        ([result]) => ![14, 15, 16, 51].includes(result!.errorCode),
      );
      expect(committed).toEqual([{ ...out, errorCode: 0 }]);

      const read = (requireStable: boolean) => port.offsetFetch(groupCoordinator, { groupId, partitions: [out], requireStable });
      expect((await read(true)).offsets[0]!.errorCode).toBe(88);
      expect((await read(false)).offsets[0]).toMatchObject({ offset: -1, errorCode: 0 });

      expect((await endUntilDone(port, coordinator, identity, true)).errorCode).toBe(0);
      const stable = await eventually(
        () => read(true),
        (answer) => answer.offsets[0]!.errorCode !== 88,
      );
      expect(stable).toEqual({ errorCode: 0, offsets: [{ ...out, offset: 42, leaderEpoch: -1, metadata: 'epoch=1', errorCode: 0 }] });
      expect((await port.offsetFetch(groupCoordinator, { groupId, partitions: null, requireStable: true })).offsets).toHaveLength(1);
      await port.admin.deleteGroups([groupId]);
    });

    it('lists open transactions by prefix, and a new owner fences the old one', async () => {
      const prefix = unique('dead');
      const { identity, coordinator } = await begin(port, `${prefix}-1`);
      expect(await port.listOpenTransactions(prefix)).toEqual([]);
      await addPartition(coordinator, identity, out);
      expect((await produceTo(port, out, ['held'], inTransaction(identity, 0))).errorCode).toBe(0);
      expect(await port.listOpenTransactions(prefix)).toEqual([`${prefix}-1`]);
      expect(await port.listOpenTransactions(unique('other'))).toEqual([]);

      await begin(port, `${prefix}-1`);
      await eventually(
        () => port.listOpenTransactions(prefix),
        (open) => open?.length === 0,
      );
      expect([47, 90]).toContain((await port.endTxn(coordinator, { ...identity, commit: true })).errorCode);
      expect([47, 90]).toContain((await produceTo(port, out, ['late'], inTransaction(identity, 1))).errorCode);
    });
  });
}
