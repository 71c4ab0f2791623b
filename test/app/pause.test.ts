import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { TopologyBuilder } from '../../src/topology/topology-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in');
  apps.kafka.createTopic('out');
});
afterEach(() => apps.end());

function copy() {
  const builder = new StreamsBuilder();
  builder.stream('in', strings).to('out', strings);
  return builder.build();
}

function counts() {
  const builder = new StreamsBuilder();
  builder
    .stream('in', strings)
    .groupByKey()
    .count({ materialized: { storeName: 'counts' } });
  return builder.build();
}

const write = (...values: string[]): void =>
  apps.kafka.produce(
    'in',
    values.map((value) => ({ key: 'k', value })),
  );
/** Long enough for many epochs. */
const aWhile = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 150));

describe('pause()', () => {
  it('stops processing, not the app: its state stays running, and resume() goes on where it stopped', async () => {
    const app = await apps.running(copy());
    write('a');
    await until('a came out', () => apps.values('out').length === 1);
    app.pause();
    expect([app.isPaused, app.state, app.metrics().paused]).toEqual([true, 'running', true]);
    write('b', 'c');
    await aWhile();
    expect(apps.values('out')).toEqual(['a']);
    expect(app.state).toBe('running');
    app.resume();
    expect(app.isPaused).toBe(false);
    await until('all came out', () => apps.values('out').length === 3);
    expect(apps.values('out')).toEqual(['a', 'b', 'c']);
  });

  it('before start() begins paused: in the group, with its tasks, doing nothing', async () => {
    const app = apps.app(copy());
    app.pause();
    await app.start();
    await until('it runs', () => app.state === 'running');
    expect(app.metrics().group?.ownedTasks).toEqual(['0_0']);
    write('a');
    await aWhile();
    expect(apps.values('out')).toEqual([]);
    app.resume();
    await until('a came out', () => apps.values('out').length === 1);
  });

  it('commits what was processed before it; the state can be read', async () => {
    const app = await apps.running(counts(), { commitInterval: 200 });
    write('x', 'y');
    await until('both are processed', () => app.metrics().tasks['0_0']?.recordsProcessed === 2);
    app.pause();
    await until('they are committed', () => apps.kafka.committedOffsets('app')[0]?.offset === 2);
    write('z');
    await aWhile();
    const store = app.store<string, number>('counts');
    expect(await store.get('k')).toBe(2);
    app.resume();
    await until('z is committed', () => apps.kafka.committedOffsets('app')[0]?.offset === 3);
  });

  it('keeps the member in the group for longer than its session', async () => {
    const app = await apps.running(copy(), { sessionTimeout: 6000 });
    const { generation } = apps.kafka.group('app')!;
    app.pause();
    await aWhile();
    expect(apps.kafka.group('app')).toMatchObject({ state: 'Stable', generation });
  });

  it('holds timers back; what was due meanwhile fires once', async () => {
    const fired: number[] = [];
    const builder = new TopologyBuilder();
    builder.addSource('source', { topics: ['in'], ...strings }).addProcessor(
      'timer',
      () => ({
        init: (context) => {
          context.schedule({ interval: 20, time: 'wallClock' }, () => {
            fired.push(Date.now());
          });
        },
        process: () => undefined,
      }),
      ['source'],
    );
    const app = await apps.running(builder.build());
    await until('it fires', () => fired.length >= 2);
    app.pause();
    await aWhile();
    const before = fired.length;
    await aWhile();
    expect(fired).toHaveLength(before);
    app.resume();
    await until('it fires again', () => fired.length > before);
  });

  it('does not keep the app from closing: it commits, and the next instance goes on', async () => {
    const app = await apps.running(copy());
    app.pause();
    write('a');
    await aWhile();
    await app.close();
    expect(app.state).toBe('notRunning');
    await apps.running(copy());
    await until('a came out', () => apps.values('out').length === 1);
  });

  it('lets what a closing app gives up finish the calls that it has begun: nobody calls again', async () => {
    const calls: string[] = [];
    let answer = (): void => undefined;
    const answered = new Promise<void>((resolve) => (answer = resolve));
    const calling = () => {
      const builder = new StreamsBuilder();
      const ask = async (value: string): Promise<string> => {
        calls.push(value);
        await answered;
        return value;
      };
      builder.stream('in', strings).mapValuesAsync(ask, { name: 'ask' }).to('out', strings);
      return builder.build();
    };
    const app = await apps.running(calling());
    write('a');
    await until('a is asked for', () => calls.length === 1);
    app.pause();
    const closing = app.close();
    answer();
    await closing;
    await until('a came out', () => apps.values('out').length === 1);
    await apps.running(calling());
    write('b');
    await until('b came out', () => apps.values('out').length === 2);
    expect(calls).toEqual(['a', 'b']);
  });

  it('is for one instance: others go on, and the tasks that they give it stand still', async () => {
    apps.kafka.createTopic('in2', 2);
    const builder = new StreamsBuilder();
    builder.stream('in2', strings).to('out', strings);
    const topology = builder.build();
    const one = await apps.running(topology);
    const two = apps.app(topology);
    two.pause();
    await two.start();
    await until('each has a task', () =>
      [one, two].every((app) => app.metrics().group?.ownedTasks.length === 1 && app.state === 'running'),
    );
    const partitionOf = (app: typeof one): number => Number(app.metrics().group?.ownedTasks[0]?.split('_')[1]);
    apps.kafka.produce('in2', [
      { value: 'of one', partition: partitionOf(one) },
      { value: 'of two', partition: partitionOf(two) },
    ]);
    await until('one works', () => apps.values('out').length === 1);
    await aWhile();
    expect(apps.values('out')).toEqual(['of one']);
    await two.close();
    await until('one does the rest', () => apps.values('out').length === 2);
  });

  it('twice is as once; resume() of an app that is not paused does nothing', async () => {
    const app = await apps.running(copy());
    app.resume();
    app.pause();
    app.pause();
    app.resume();
    write('a');
    await until('a came out', () => apps.values('out').length === 1);
    expect(apps.logged.filter(({ message }) => message === 'paused' || message === 'resumed')).toHaveLength(2);
  });

  it('is refused by an app that has ended', async () => {
    const app = await apps.running(copy());
    await app.close();
    for (const call of [() => app.pause(), () => app.resume()])
      expect(call).toThrow(expect.objectContaining({ code: 'MILL_STATE_INVALID', message: expect.stringContaining('is notRunning') }));
    expect(app.isPaused).toBe(false);
  });
});
