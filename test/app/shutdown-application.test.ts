import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes, StreamsBuilder, type Topology } from '../../src/index.js';
import { MemoryApps, until } from './harness/memory-app.js';

let apps: MemoryApps;
afterEach(() => apps.end());

function failing(): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('in', { keySerde: serdes.string, valueSerde: serdes.string })
    .peek((value) => {
      if (value === 'bad') throw new Error('cannot be');
    })
    .to('out');
  return builder.build();
}

const record = (value: string) => ({ key: Buffer.from('k'), value: Buffer.from(value) });

describe('an uncaught error that is to stop the application', () => {
  it('stops every instance: the one that has it with the error, the others with MILL_APPLICATION_SHUTDOWN; a later one works', async () => {
    apps = new MemoryApps();
    apps.kafka.createTopic('in', 2);
    apps.kafka.createTopic('out', 2);
    const errors: string[][] = [[], []];
    const both = [apps.app(failing()), apps.app(failing())];
    both.forEach((app, index) => {
      app.setUncaughtErrorHandler(() => 'shutdownApplication');
      app.on('error', (error) => errors[index]!.push((error as { code?: string }).code ?? ''));
    });
    await Promise.all(both.map((app) => app.start()));
    await until('both run', () => both.every(({ state }) => state === 'running'));
    apps.kafka.produce('in', [record('bad')]);
    await until('both have stopped', () => both.every(({ state }) => state === 'error'), 20_000);
    expect(errors.map((codes) => codes.join()).sort()).toEqual(['MILL_APPLICATION_SHUTDOWN', 'MILL_PROCESSING']);
    const later = await apps.running(failing(), { processingHandler: 'continue' });
    apps.kafka.produce('in', [record('good')]);
    await until('the later one works', () => apps.values('out').includes('good'));
    await later.close();
  });

  it.each([{ groupProtocol: 'classic' }, { groupProtocol: 'streams', heartbeatInterval: undefined, sessionTimeout: undefined }] as const)(
    'stops every instance, and ends with its error, when the one that has it is closed before the group has heard (%p)',
    async (config) => {
      apps = new MemoryApps();
      apps.kafka.createTopic('in', 2);
      apps.kafka.createTopic('out', 2);
      const errors: string[] = [];
      const both = [apps.app(failing(), config), apps.app(failing(), config)];
      for (const app of both) {
        app.setUncaughtErrorHandler(() => 'shutdownApplication');
        app.on('error', (error) => errors.push((error as { code?: string }).code ?? ''));
        app.on('state', (state) => {
          if (state === 'pendingError') void app.close();
        });
      }
      await Promise.all(both.map((app) => app.start()));
      await until('both run', () => both.every(({ state }) => state === 'running'));
      apps.kafka.produce('in', [record('bad')]);
      await until('both have stopped', () => both.every(({ state }) => state === 'error'), 20_000);
      expect(errors.sort()).toEqual(['MILL_APPLICATION_SHUTDOWN', 'MILL_PROCESSING']);
    },
  );

  it('asks a handler that answers something else for nothing: the instance stops', async () => {
    apps = new MemoryApps();
    apps.kafka.createTopic('in', 1);
    apps.kafka.createTopic('out', 1);
    const app = await apps.running(failing());
    app.setUncaughtErrorHandler(() => 'restart' as never);
    apps.kafka.produce('in', [record('bad')]);
    await until('it has stopped', () => app.state === 'error');
    expect(apps.logged.some(({ message }) => message.includes('answered none of replaceThread, shutdownClient, shutdownApplication'))).toBe(
      true,
    );
  });
});
