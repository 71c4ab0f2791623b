import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

import type { Stack } from '../../scripts/stack/stack.js';
import { startStack } from '../../scripts/stack/stack.js';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { createTopic, eventually, leaderOf, produceTo, readUpTo, unique } from './broker-fixture.js';
import { Opened } from '../opened.js';

describe('a broker with SASL/PLAIN and access control', () => {
  let stack: Stack;
  const opened = new Opened();
  beforeAll(async () => {
    stack = opened.add(await startStack({ acl: true }), (started) => started.stop());
  });
  afterAll(() => opened.close());

  function portOf(username: string, password: string, transactionV2 = true): KafkaPort {
    const config = { brokers: stack.bootstrapServers, clientId: 'millrace-test', sasl: { mechanism: 'plain', username, password } };
    return opened.add(createKafkajsPort(config, silentLogger, { transactionV2 }), (made) => made.close());
  }

  it('says so when the login is refused', async () => {
    await expect(portOf('app', 'wrong').connect()).rejects.toMatchObject({ code: 'MILL_AUTHORIZATION' });
  });

  it.each([true, false])(
    'lets a user without rights on the cluster run transactions (transaction.version 2: %s)',
    async (transactionV2) => {
      const { username, password } = stack.credentials!.user;
      const port = portOf(username, password, transactionV2);
      await port.connect();
      const topic = await createTopic(port, 'allowed');
      const transactionalId = unique('tx');
      const coordinator = await port.findCoordinator('transaction', transactionalId);
      const { producerId, producerEpoch } = await eventually(
        () => port.initProducerId(coordinator, { transactionalId, transactionTimeoutMs: 10_000 }),
        ({ errorCode }) => errorCode === 0,
      );
      const to = { topic, partition: 0 };
      if (!transactionV2) {
        const added = await port.addPartitionsToTxn(coordinator, { transactionalId, producerId, producerEpoch, partitions: [to] });
        expect(added).toEqual([{ ...to, errorCode: 0 }]);
      }
      const identity = { producerId, producerEpoch, transactional: true };
      expect((await produceTo(port, to, ['x'], { transactionalId, identity, baseSequence: 0 })).errorCode).toBe(0);
      expect((await port.endTxn(coordinator, { transactionalId, producerId, producerEpoch, commit: true })).errorCode).toBe(0);
      expect(await readUpTo(port, to, 2, 'read_committed')).toEqual(['x']);
      expect(await port.listOpenTransactions(transactionalId)).toEqual([]);
      expect(await leaderOf(port, to)).toBeGreaterThan(0);
    },
  );
});
