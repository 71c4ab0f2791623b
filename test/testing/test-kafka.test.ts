import { afterEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type InstanceConfig, type TestKafka } from '../../src/testing/test-kafka.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const counted = { keySerde: serdes.string, valueSerde: serdes.count };
const apps: StreamsApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close({ timeout: 2000 }).catch(() => undefined);
});

function counter() {
  const builder = new StreamsBuilder();
  builder
    .stream('in', text)
    .groupBy((value) => value, text)
    .count({ materialized: { storeName: 'counts' } })
    .toStream()
    .to('out');
  return builder.build();
}

function cluster(partitions = 3): { readonly kafka: TestKafka; readonly start: (config?: Partial<InstanceConfig>) => Promise<StreamsApp> } {
  const kafka = inMemoryKafka();
  kafka.createTopic('in', partitions);
  kafka.createTopic('out', partitions);
  const start = async (config: Partial<InstanceConfig> = {}): Promise<StreamsApp> => {
    const app = kafka.app(counter(), { applicationId: 'counter', ...config });
    apps.push(app);
    await app.start();
    return app;
  };
  return { kafka, start };
}

const running = (app: StreamsApp): number => Object.values(app.metrics().tasks).filter(({ active }) => active).length;

/** One word again and again, the instance killed half way: its counts must grow up to the last. */
async function countsOnThoughKilled(kafka: TestKafka, victim: StreamsApp): Promise<void> {
  const words = kafka.inputTopic('in', text);
  const counts = kafka.outputTopic('out', counted);
  let highest = 0;
  for (let i = 0; i < 30; i++) {
    await words.pipe(null, 'x');
    if (i === 15) await kafka.kill(victim);
  }
  await kafka.until(() => {
    for (const { value } of counts.readAll()) {
      expect(Number(value)).toBeGreaterThan(highest);
      highest = Number(value);
    }
    return highest === 30;
  });
}

describe('apps on a Kafka in memory', () => {
  it('share the work and write committed results', async () => {
    const { kafka, start } = cluster();
    const [a, b] = [await start(), await start()];
    await kafka.until(() => running(a) === 3 && running(b) === 3);
    const words = kafka.inputTopic('in', text);
    const counts = kafka.outputTopic('out', counted);
    for (const word of ['x', 'y', 'z', 'x']) await words.pipe(null, word, { timestamp: 5 });
    const found = new Map<string | null, number>();
    await kafka.until(() => {
      for (const { key, value, timestamp } of counts.readAll()) {
        expect(timestamp).toBe(5);
        found.set(key, Number(value));
      }
      return found.get('x') === 2 && found.size === 3;
    });
    expect(kafka.topics).toContain('counter-counts-changelog');
  });

  it('that are killed are missed, and nothing is lost or doubled', async () => {
    const { kafka, start } = cluster();
    const [a, b] = [await start({ sessionTimeout: 300 }), await start({ sessionTimeout: 300 })];
    await kafka.until(() => running(a) === 3 && running(b) === 3);
    await countsOnThoughKilled(kafka, b);
    expect(running(a)).toBe(6);
  });

  it('are the same instance again under the same name', async () => {
    const { kafka, start } = cluster();
    const app = await start({ instance: 'one' });
    await expect(start({ instance: 'one' })).rejects.toMatchObject({ code: 'MILL_STORE_DIRECTORY_LOCKED' });
    expect(app.groupView().members).toMatchObject([{ processId: 'one' }]);
    await app.close();
    const again = await start({ instance: 'one' });
    expect(again.groupView().members).toMatchObject([{ processId: 'one' }]);
    await kafka.until(() => again.state === 'running');
  });

  it('go on after a broker was away', async () => {
    const { kafka, start } = cluster();
    const app = await start();
    await kafka.until(() => app.state === 'running');
    kafka.stopBroker();
    const words = kafka.inputTopic('in', text);
    const counts = kafka.outputTopic('out', counted);
    await words.pipe(null, 'x');
    kafka.startBroker();
    await kafka.until(() => counts.size === 1);
  });
});

describe('apps with groupProtocol streams on a Kafka in memory', () => {
  const protocol = { groupProtocol: 'streams' } as const;
  const copies = (app: StreamsApp): readonly string[] => Object.keys(app.metrics().standbys);

  it('share the work, keep the copies that the group is to have, and go on when one is killed', async () => {
    const { kafka, start } = cluster();
    kafka.alterGroup('counter', { 'streams.num.standby.replicas': '1', 'streams.session.timeout.ms': '300' });
    const [a, b] = [await start(protocol), await start(protocol)];
    await kafka.until(() => running(a) === 3 && running(b) === 3 && copies(a).length + copies(b).length === 3);
    await countsOnThoughKilled(kafka, b);
    expect(running(a)).toBe(6);
  });

  it('keep the place of a static member', async () => {
    const { kafka, start } = cluster();
    const [a, b] = [
      await start({ ...protocol, instance: 'a', groupInstanceId: 'seat-a' }),
      await start({ ...protocol, instance: 'b', groupInstanceId: 'seat-b' }),
    ];
    await kafka.until(() => running(a) === 3 && running(b) === 3);
    const tasks = b.metrics().group!.ownedTasks;
    await b.close();
    const back = await start({ ...protocol, instance: 'b', groupInstanceId: 'seat-b' });
    await kafka.until(() => running(back) === 3);
    expect(back.metrics().group!.ownedTasks).toEqual(tasks);
    expect(running(a)).toBe(3);
  });

  it('take over the group of the other protocol once it is empty', async () => {
    const { kafka, start } = cluster();
    const classic = await start();
    await kafka.until(() => running(classic) === 6);
    const refused = kafka.app(counter(), { applicationId: 'counter', ...protocol });
    refused.on('error', () => undefined);
    await expect(refused.start()).rejects.toMatchObject({ code: 'MILL_GROUP_FATAL' });
    await classic.close();
    const streams = await start(protocol);
    await kafka.until(() => running(streams) === 6);
  });

  it('are chosen by auto where nothing speaks against it', async () => {
    const { kafka, start } = cluster();
    const app = await start({ groupProtocol: 'auto' });
    await kafka.until(() => running(app) === 6);
    const other = await start({ groupProtocol: 'streams' });
    await kafka.until(() => running(other) === 3);
  });

  it('refuse what the group decides, and settings that no group has', async () => {
    const { kafka, start } = cluster();
    await expect(start({ ...protocol, sessionTimeout: 300 })).rejects.toMatchObject({ code: 'MILL_CONFIG_INVALID' });
    const wrong: Record<string, string>[] = [{ 'session.timeout': '1' }, { 'streams.num.standby.replicas': 'many' }];
    for (const settings of wrong)
      expect(() => kafka.alterGroup('counter', settings)).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
  });
});

describe('a Kafka in memory', () => {
  it('has no topic that nobody made', () => {
    const kafka = inMemoryKafka();
    expect(() => kafka.inputTopic('in', text)).toThrow(expect.objectContaining({ code: 'MILL_TOPIC_MISSING' }));
    expect(() => kafka.outputTopic('in', text)).toThrow(expect.objectContaining({ code: 'MILL_TOPIC_MISSING' }));
    kafka.createTopic('in');
    expect(kafka.outputTopic('in', text).isEmpty).toBe(true);
    expect(() => kafka.inputTopic('in', {} as typeof text)).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
  });

  it.each(['größe', '', '..', 'x'.repeat(250), 'taken'])('says with a code that it can’t have the topic "%s"', (name) => {
    const kafka = inMemoryKafka();
    kafka.createTopic('taken');
    expect(() => kafka.createTopic(name)).toThrow(expect.objectContaining({ code: 'MILL_CONFIG_INVALID' }));
  });

  it('says so when what is waited for does not happen', async () => {
    await expect(inMemoryKafka().until(() => false, 10)).rejects.toThrow('did not happen within 10 ms');
  });

  it('gives back what was written, with headers, partition and time', async () => {
    const kafka = inMemoryKafka();
    kafka.createTopic('t', 2);
    const topic = kafka.inputTopic('t', text);
    await topic.pipe('k', 'v', { partition: 1, timestamp: 7, headers: [{ key: 'h', value: Buffer.from('1') }] });
    await topic.pipe('k', null, { partition: 0, timestamp: 8 });
    const read = kafka.outputTopic('t', text).readAll();
    expect(read).toMatchObject([
      { key: 'k', value: null, partition: 0, timestamp: 8 },
      { key: 'k', value: 'v', partition: 1, timestamp: 7 },
    ]);
    expect(read[1]!.headers).toHaveLength(1);
  });
});
