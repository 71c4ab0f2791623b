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

  it.each([
    ['something else', () => 'REPLACE_THREAD', 'answered "REPLACE_THREAD" in place of "replaceThread" or "shutdownClient"'],
    ['nothing', () => undefined, 'answered undefined in place of'],
    ['a promise', () => Promise.reject(new Error('late')), 'answered a promise in place of'],
    [
      'with an error of its own',
      () => {
        throw new Error('in the handler');
      },
      'failed: in the handler',
    ],
  ])('stops the instance when the handler answers %s, and its error says so', async (_what, handler, told) => {
    apps = new MemoryApps();
    apps.kafka.createTopic('in', 1);
    apps.kafka.createTopic('out', 1);
    const app = await apps.running(failing());
    const errors: Error[] = [];
    app.on('error', (error) => errors.push(error));
    app.setUncaughtErrorHandler(handler as never);
    apps.kafka.produce('in', [record('bad')]);
    await until('it has stopped', () => app.state === 'error');
    expect(errors).toMatchObject([
      { code: 'MILL_PROCESSING', message: expect.stringContaining(told), details: { topic: 'in', offset: 0 } },
    ]);
    expect(errors[0]?.message.split('[MILL_PROCESSING]')).toHaveLength(2);
    expect(errors[0]?.cause).toMatchObject({ code: 'MILL_PROCESSING' });
  });

  it('refuses handlers and listeners that are none, and events that there are not', async () => {
    apps = new MemoryApps();
    apps.kafka.createTopic('in', 1);
    apps.kafka.createTopic('out', 1);
    const app = await apps.running(failing());
    const refused = (message: string) =>
      expect.objectContaining({ code: 'MILL_CONFIG_INVALID', message: expect.stringContaining(message) });
    expect(() => app.setUncaughtErrorHandler('replaceThread' as never)).toThrow(
      refused('setUncaughtErrorHandler: the handler must be a function, not "replaceThread".'),
    );
    expect(() => app.on('stat' as never, () => undefined)).toThrow(
      refused('on: the event must be "state" or "error" or "group", not "stat".'),
    );
    expect(() => app.on('state', undefined as never)).toThrow(refused('on: the listener must be a function, not undefined.'));
    expect(() => app.setRestoreListener(undefined as never)).toThrow(refused('setRestoreListener: the listener must be an object'));
    expect(() => app.setStandbyUpdateListener(5 as never)).toThrow(refused('setStandbyUpdateListener: the listener must be an object'));
    await app.close();
  });
});
