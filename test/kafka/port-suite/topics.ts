import { describe, expect, it } from '@jest/globals';
import { batchOf, createTopic, eventually, leaderOf, portsOf, send, unique, type PortSubject } from './fixture.js';

export function topicTests(subject: PortSubject): void {
  describe('topics', () => {
    const ports = portsOf(subject, 1);

    it('are created, described and deleted', async () => {
      const [port] = ports as [(typeof ports)[0]];
      const topic = await createTopic(port, 'made', 3, { 'cleanup.policy': 'compact' });
      const described = (await port.metadata([topic], { refresh: true })).topics.get(topic)!;
      expect(described).toMatchObject({ name: topic, isInternal: false, errorCode: 0 });
      expect(described.topicId).toMatch(/^[\w-]{22}$/);
      expect(described.partitions.map(({ partition, errorCode }) => [partition, errorCode])).toEqual([
        [0, 0],
        [1, 0],
        [2, 0],
      ]);
      const configs = await port.admin.describeTopicConfigs([topic, unique('absent')]);
      expect([...configs.keys()]).toEqual([topic]);
      expect(configs.get(topic)!.get('cleanup.policy')).toBe('compact');
      expect(configs.get(topic)!.get('max.message.bytes')).toBe('1048588');
      expect((await port.metadata('all')).topics.has(topic)).toBe(true);

      await port.admin.deleteTopics([topic, unique('absent')]);
      await eventually(
        async () => (await port.metadata([topic], { refresh: true })).topics.get(topic)?.errorCode,
        (errorCode) => errorCode === 3,
      );
    });

    it('say why they are not created', async () => {
      const [port] = ports as [(typeof ports)[0]];
      const topic = await createTopic(port, 'twice');
      const attempt = async (name: string, partitions: number, replicationFactor: number): Promise<number> =>
        (await port.admin.createTopics([{ topic: name, partitions, replicationFactor, configs: {} }]))[0]!.errorCode;
      expect(await attempt(topic, 1, -1)).toBe(36);
      expect(await attempt(unique('none'), 0, -1)).toBe(37);
      expect(await attempt(unique('replicas'), 1, 99)).toBe(38);
      expect(await attempt('not a name!', 1, -1)).toBe(17);
    });

    it('have offsets by position and by time', async () => {
      const [port] = ports as [(typeof ports)[0]];
      const topic = await createTopic(port, 'offsets', 2);
      const to = { topic, partition: 1 };
      await send(port, to, [batchOf(['a', 'b'], { timestamp: 1000 })]);
      await send(port, to, [batchOf(['c'], { timestamp: 3000 })]);
      await send(port, to, [batchOf(['d'], { timestamp: 2000 })]);
      const ask = async (at: 'earliest' | 'latest' | number, partition = 1) => {
        const [answer] = await port.listOffsets([{ topic, partition, at }]);
        return [answer!.offset, answer!.errorCode];
      };
      expect(await ask('latest')).toEqual([4, 0]);
      expect(await ask('earliest')).toEqual([0, 0]);
      expect(await ask('latest', 0)).toEqual([0, 0]);
      expect(await ask(0)).toEqual([0, 0]);
      expect(await ask(1001)).toEqual([2, 0]);
      expect(await ask(2000)).toEqual([2, 0]);
      expect(await ask(3001)).toEqual([-1, 0]);
      expect(await ask('latest', 9)).toEqual([-1, 3]);
    });

    it('lose the records that are deleted', async () => {
      const [port] = ports as [(typeof ports)[0]];
      const topic = await createTopic(port, 'deleted');
      const to = { topic, partition: 0 };
      await send(port, to, [batchOf(['a', 'b', 'c'])]);
      const earliest = async () => (await port.listOffsets([{ ...to, at: 'earliest' }]))[0]!.offset;
      await port.admin.deleteRecords([{ ...to, offset: 2 }]);
      expect(await earliest()).toBe(2);
      await port.admin.deleteRecords([{ ...to, offset: 1 }]);
      expect(await earliest()).toBe(2);
      const tooFar = port.admin.deleteRecords([{ ...to, offset: 99 }]);
      await expect(tooFar).rejects.toMatchObject({ code: 'MILL_BROKER_ERROR', details: { brokerErrorCode: 1 } });
      await port.admin.deleteRecords([{ ...to, offset: -1 }]);
      expect(await earliest()).toBe(3);
      expect(await send(port, to, [batchOf(['d'])])).toEqual({ errorCode: 0, baseOffset: 3 });
    });

    it('are served by their leader', async () => {
      const [port] = ports as [(typeof ports)[0]];
      const topic = await createTopic(port, 'led');
      const { brokers } = await port.metadata([]);
      expect(brokers.map(({ nodeId }) => nodeId)).toContain(await leaderOf(port, { topic, partition: 0 }));
    });
  });
}
