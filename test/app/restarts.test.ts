import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import type { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { exhausted, Restarts } from '../../src/app/restarts.js';
import { MillraceError } from '../../src/errors.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { RestartOptions } from '../../src/runtime/restart-strategy.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in');
  apps.kafka.createTopic('out');
});
afterEach(() => apps.end());

/** An app that copies records, and fails on those that `isBad` names. */
function failing(isBad: (value: string) => boolean, restart: RestartOptions | undefined) {
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .mapValues(
      (value) => {
        if (isBad(value)) throw new Error(`can’t do ${value}`);
        return value;
      },
      { name: 'work', valueSerde: serdes.string },
    )
    .to('out', strings);
  const errors: Error[] = [];
  const app: StreamsApp = apps.app(builder.build(), restart === undefined ? {} : { restart });
  app.on('error', (error) => errors.push(error));
  return { app, errors };
}

const write = (...values: string[]): void =>
  apps.kafka.produce(
    'in',
    values.map((value) => ({ value })),
  );
const stops = (app: StreamsApp): Promise<void> => until('the app stops', () => app.state === 'error');

describe('a record that fails whenever it comes', () => {
  it('stops the app at once without a strategy, as in Kafka Streams', async () => {
    const { app, errors } = failing((value) => value === 'poison', undefined);
    await app.start();
    write('a', 'poison');
    await stops(app);
    expect(errors).toMatchObject([{ code: 'MILL_PROCESSING', details: { topic: 'in', partition: 0, offset: 1 } }]);
    expect(app.metrics().restarts).toMatchObject({ numRestarts: 0, uncaughtErrors: 1, attempt: 0 });
  });

  it('is tried as often as the strategy allows; then the app ends in error, with the cause and the place of the record', async () => {
    const { app, errors } = failing((value) => value === 'poison', { strategy: 'fixedDelay', attempts: 3, delay: 10 });
    await app.start();
    write('a');
    await until('a is committed', () => apps.values('out').length === 1);
    write('b', 'poison', 'c');
    await stops(app);
    expect(errors).toMatchObject([...Array.from({ length: 3 }, () => ({ code: 'MILL_PROCESSING' })), { code: 'MILL_RESTARTS_EXHAUSTED' }]);
    expect(errors[3]).toMatchObject({
      message: expect.stringContaining('gave up after 3 restarts (fixedDelay allows 3 restarts)') as unknown as string,
      cause: { code: 'MILL_PROCESSING' },
      details: { topic: 'in', partition: 0, offset: 2, node: 'work', taskId: '0_0' },
    });
    expect(errors[3]?.message).toContain('in-0 at offset 2');
    expect(app.metrics().restarts).toMatchObject({
      numRestarts: 3,
      uncaughtErrors: 4,
      attempt: 3,
      lastFailure: { code: 'MILL_PROCESSING', taskId: '0_0', node: 'work', topic: 'in', partition: 0, offset: 2, times: 4 },
    });
    expect(apps.values('out')).toEqual(['a']);
  });

  it('is named in the log each time, with how often it has failed', async () => {
    const { app } = failing((value) => value === 'poison', { strategy: 'fixedDelay', attempts: 2, delay: 1 });
    await app.start();
    write('poison');
    await stops(app);
    const lines = apps.logged.filter(({ level, message }) => level === 'error' && message.startsWith('uncaught error'));
    expect(lines.map(({ fields: { topic, partition, offset, times } }) => [topic, partition, offset, times])).toEqual([
      ['in', 0, 0, 1],
      ['in', 0, 0, 2],
      ['in', 0, 0, 3],
    ]);
    expect(lines.map(({ message }) => /; (.*)$/.exec(message)?.[1])).toEqual(['restart 1 in 1 ms', 'restart 2 in 1 ms', 'the app stops']);
  });

  it('does not stop an app whose handler says replaceThread: its pauses grow, and it closes in order', async () => {
    const { app, errors } = failing((value) => value === 'poison', { strategy: 'exponentialDelay', initialBackoff: 5, jitterFactor: 0 });
    app.setUncaughtErrorHandler(() => 'replaceThread');
    await app.start();
    write('poison');
    await until('it fails often', () => errors.length >= 5);
    await app.close();
    expect(app.state).toBe('notRunning');
    const waits = apps.logged.flatMap(({ message }) => /restart \d+ in (\d+) ms/.exec(message)?.[1] ?? []).map(Number);
    expect(waits.slice(0, 5)).toEqual([5, 8, 11, 17, 25]);
  });
});

describe('an error that passes', () => {
  it('costs a restart: everything comes out, once', async () => {
    let left = 2;
    const { app, errors } = failing((value) => value === 'b' && left-- > 0, {
      strategy: 'failureRate',
      maxFailuresPerInterval: 5,
      delay: 1,
    });
    await app.start();
    write('a', 'b', 'c');
    await until('all came out', () => apps.values('out').length === 3);
    expect(apps.values('out')).toEqual(['a', 'b', 'c']);
    expect(app.state).toBe('running');
    expect(errors).toHaveLength(2);
    expect(app.metrics().restarts).toMatchObject({ numRestarts: 2, uncaughtErrors: 2, lastFailure: { times: 2, offset: 1 } });
  });
});

describe('handler and strategy', () => {
  it('shutdownClient stops the app whatever the strategy allows', async () => {
    const { app, errors } = failing((value) => value === 'poison', { strategy: 'fixedDelay', attempts: 9 });
    app.setUncaughtErrorHandler(() => 'shutdownClient');
    await app.start();
    write('poison');
    await stops(app);
    expect(errors).toMatchObject([{ code: 'MILL_PROCESSING' }]);
  });

  it('"none" stops the app even when the handler says replaceThread', async () => {
    const { app, errors } = failing((value) => value === 'poison', { strategy: 'none' });
    app.setUncaughtErrorHandler(() => 'replaceThread');
    await app.start();
    write('poison');
    await stops(app);
    expect(errors).toMatchObject([{ code: 'MILL_RESTARTS_EXHAUSTED', cause: { code: 'MILL_PROCESSING' } }]);
  });
});

describe('the count of failures in a row', () => {
  const at = (offset: number): MillraceError =>
    new MillraceError('MILL_PROCESSING', 'x', { details: { taskId: '0_0', topic: 'in', partition: 0, offset } });

  it('begins anew with another record, and with an error without a place', () => {
    const restarts = new Restarts({ strategy: 'none' }, silentLogger);
    const times = [at(1), at(1), at(2), new Error('x'), new Error('y'), at(2)].map((error) => {
      restarts.failed(error, true);
      return restarts.snapshot().lastFailure?.times;
    });
    expect(times).toEqual([1, 2, 1, 1, 2, 1]);
  });

  it('is of no use to an error of the user’s own: it has neither code nor place', () => {
    const restarts = new Restarts(null, silentLogger);
    restarts.failed(new TypeError('own'), false);
    expect(restarts.snapshot()).toMatchObject({ numRestarts: 0, lastFailure: { code: null, topic: null, offset: null, message: 'own' } });
    expect(exhausted(new TypeError('own'), { kind: 'giveUp', attempt: 1, reason: 'because' }).message).toContain(
      'after one restart (because): own',
    );
  });
});
