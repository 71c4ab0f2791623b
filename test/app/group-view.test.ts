import { afterEach, describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';
import { InMemoryDirectory } from '../../src/testing/in-memory-kafka/in-memory-directory.js';

const apps: StreamsApp[] = [];
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close();
});

function group() {
  const kafka = inMemoryKafka();
  kafka.createTopic('in', 4);
  const builder = new StreamsBuilder();
  builder
    .stream('in', { keySerde: serdes.string, valueSerde: serdes.string })
    .groupByKey()
    .count({ materialized: { storeName: 'counts' } });
  const start = async (name: string): Promise<StreamsApp> => {
    const app = new StreamsApp(
      builder.build(),
      {
        applicationId: 'app',
        bootstrapServers: 'memory:9092',
        storeEngine: 'memory',
        heartbeatInterval: 20,
        applicationServer: `${name}:80`,
        clientTags: { zone: name },
      },
      { openPort: ({ clientId }) => kafka.port({ clientId }), openDirectory: () => Promise.resolve(new InMemoryDirectory(name)) },
    );
    apps.push(app);
    await app.start();
    return app;
  };
  return { start };
}

const settled = (app: StreamsApp): boolean => app.groupView().members.flatMap(({ activeTasks }) => activeTasks).length === 4;

describe('the view of the group', () => {
  it('is empty before the start', () => {
    const app = new StreamsApp(new StreamsBuilder().build(), { applicationId: 'app', bootstrapServers: 'localhost:9092' });
    expect(app.groupView()).toEqual({ generation: -1, members: [] });
  });

  it('names every instance with its tasks, address and tags, the same in each of them, and follows the group', async () => {
    const { start } = group();
    const a = await start('a');
    expect(a.groupView().members).toMatchObject([
      { processId: 'a', applicationServer: 'a:80', tags: { zone: 'a' }, activeTasks: ['0_0', '0_1', '0_2', '0_3'], standbyTasks: [] },
    ]);
    const views: number[] = [];
    a.on('group', ({ generation }) => views.push(generation));
    const b = await start('b');
    await until(() => settled(a) && settled(b) && a.groupView().generation === b.groupView().generation);
    expect(a.groupView()).toEqual(b.groupView());
    expect(
      a
        .groupView()
        .members.map(({ applicationServer, activeTasks }) => [applicationServer, activeTasks.length])
        .sort(),
    ).toEqual([
      ['a:80', 2],
      ['b:80', 2],
    ]);
    expect(views.at(-1)).toBe(a.groupView().generation);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the group did not settle');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
