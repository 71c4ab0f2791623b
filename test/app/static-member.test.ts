import { afterEach, describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka, type InMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';

const apps: StreamsApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close({ timeout: 1000 }).catch(() => undefined);
});

function group() {
  const kafka = inMemoryKafka();
  kafka.createTopic('in', 4);
  const builder = new StreamsBuilder();
  builder
    .stream('in', { keySerde: serdes.string, valueSerde: serdes.string })
    .groupByKey()
    .count({ materialized: { storeName: 'counts' } });
  const start = async (groupInstanceId: string | null, directory: InMemoryDirectory): Promise<StreamsApp> => {
    const app = new StreamsApp(
      builder.build(),
      { applicationId: 'app', bootstrapServers: 'memory:9092', storeEngine: 'memory', heartbeatInterval: 20, groupInstanceId },
      { openPort: ({ clientId }) => kafka.port({ clientId }), openDirectory: () => Promise.resolve(directory) },
    );
    apps.push(app);
    app.on('error', () => undefined);
    await app.start();
    return app;
  };
  return { kafka, start };
}

const generation = (kafka: InMemoryKafka): number => kafka.group('app')!.generation;
const tasksOf = (app: StreamsApp): readonly string[] => app.metrics().group!.ownedTasks;

async function two() {
  const { kafka, start } = group();
  const disks = [new InMemoryDirectory('a'), new InMemoryDirectory('b')] as const;
  const a = await start('seat-a', disks[0]);
  const b = await start('seat-b', disks[1]);
  await until(() => tasksOf(a).length === 2 && tasksOf(b).length === 2 && a.metrics().group!.stable && b.metrics().group!.stable);
  return { kafka, start, disks, a, b };
}

describe('a static member', () => {
  it('that closes and comes back has its tasks again, without a rebalance', async () => {
    const { kafka, start, disks, a, b } = await two();
    const [was, tasks] = [generation(kafka), tasksOf(b)];
    await b.close();
    expect(kafka.group('app')!.members).toHaveLength(2);
    const back = await start('seat-b', disks[1]);
    await until(() => back.state === 'running');
    expect(tasksOf(back)).toEqual(tasks);
    expect(generation(kafka)).toBe(was);
    expect(tasksOf(a)).toHaveLength(2);
  });

  it('gives its tasks to the others when it is told to leave the group', async () => {
    const { kafka, a, b } = await two();
    await b.close({ leaveGroup: true });
    await until(() => tasksOf(a).length === 4);
    expect(kafka.group('app')!.members).toHaveLength(1);
  });

  it('that comes back on another disk tells the group', async () => {
    const { kafka, start, a, b } = await two();
    const was = generation(kafka);
    await b.close();
    const moved = await start('seat-b', new InMemoryDirectory('elsewhere'));
    await until(() => generation(kafka) > was && a.groupView().members.some(({ processId }) => processId === 'elsewhere'));
    expect(tasksOf(moved)).toHaveLength(2);
  });

  it('is fenced by another process under its id, with an error that says so', async () => {
    const { start, b } = await two();
    const failures: Error[] = [];
    b.on('error', (error) => failures.push(error));
    const second = await start('seat-b', new InMemoryDirectory('second'));
    await until(() => b.state === 'error');
    await until(() => second.state === 'running');
    expect(tasksOf(second)).toHaveLength(2);
    expect(failures).toMatchObject([{ code: 'MILL_INSTANCE_FENCED', message: expect.stringContaining('"seat-b-1"') as unknown as string }]);
  });
});

describe('a dynamic member', () => {
  it('stays in the group when it is told so, until its session ends', async () => {
    const { kafka, start } = group();
    const a = await start(null, new InMemoryDirectory('a'));
    await a.close({ leaveGroup: false });
    expect(kafka.group('app')!.members).toHaveLength(1);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the group did not get there');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
