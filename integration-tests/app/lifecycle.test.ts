import { afterEach, describe, expect, it } from '@jest/globals';
import { serdes, StreamsBuilder, tumbling, type StreamsApp, type Topology } from '../../src/index.js';
import { until } from '../faults/until.js';
import { Scenario, text } from '../pitfalls/scenario.js';

const scenarios: Scenario[] = [];
afterEach(async () => {
  for (const scenario of scenarios.splice(0)) await scenario.end();
});

async function begin(name: string): Promise<Scenario> {
  const scenario = await Scenario.begin(name);
  scenarios.push(scenario);
  return scenario;
}

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

function through(from: string, to: string, step: (value: string) => string | Promise<string>): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream(from, strings)
    .mapValues(async (value) => step(value), { valueSerde: serdes.string })
    .to(to, strings);
  return builder.build();
}

const values = async (scenario: Scenario, topic: string, count: number): Promise<(string | null)[]> =>
  (await scenario.read(topic, count)).map(({ value }) => text(value));

describe('close()', () => {
  it('that waits for a function without end gives up after its timeout; the next instance goes on from the last commit', async () => {
    const scenario = await begin('hanging');
    const [input, output] = [await scenario.topic('in'), await scenario.topic('out')];
    let release: (value: string) => void = () => undefined;
    let hanging = 0;
    const stuck = await scenario.running(
      through(input, output, (value) => {
        if (value !== 'stuck') return value;
        hanging++;
        return new Promise((resolve) => {
          release = resolve;
        });
      }),
    );
    await scenario.write(input, [{ value: 'a' }]);
    await values(scenario, output, 1);
    await scenario.write(input, [{ value: 'stuck' }, { value: 'b' }]);
    await until('the function hangs', () => hanging === 1, 10_000);
    const startedAt = performance.now();
    await expect(stuck.close({ timeout: 500 })).rejects.toMatchObject({ code: 'MILL_CLOSE_TIMEOUT' });
    expect(performance.now() - startedAt).toBeLessThan(5000);
    expect(stuck.state).toBe('notRunning');
    release('from the grave');
    await scenario.running(through(input, output, (value) => value));
    expect(await values(scenario, output, 3)).toEqual(['a', 'stuck', 'b']);
  });

  it('twice, and during a start, ends once', async () => {
    const scenario = await begin('early-close');
    const [input, output] = [await scenario.topic('in'), await scenario.topic('out')];
    for (const wait of [0, 5, 30, 100, 300]) {
      const app = scenario.app(
        through(input, output, (value) => value),
        { stateDir: `${scenario.folder}/early` },
      );
      const started = app.start().then(
        () => null,
        (error: unknown) => error,
      );
      await new Promise((resolve) => setTimeout(resolve, wait));
      await Promise.all([app.close(), app.close()]);
      const error = await started;
      if (error !== null) expect(error).toMatchObject({ code: 'MILL_STATE_INVALID' });
      expect(app.state).toBe('notRunning');
    }
  });
});

describe('an uncaught error', () => {
  const failing = async (name: string, answer: 'replaceThread' | 'shutdownClient') => {
    const scenario = await begin(name);
    const [input, output] = [await scenario.topic('in'), await scenario.topic('out')];
    const calls: number[] = [];
    const app: StreamsApp = scenario.app(
      through(input, output, (value) => {
        if (value !== 'poison') return value;
        calls.push(performance.now());
        throw new Error('poison');
      }),
    );
    app.setUncaughtErrorHandler(() => answer);
    await app.start();
    await scenario.write(input, [{ value: 'good' }]);
    expect(await values(scenario, output, 1)).toEqual(['good']);
    await scenario.write(input, [{ value: 'poison' }]);
    await until('it fails', () => calls.length > 0, 10_000);
    return { scenario, app, calls, output };
  };

  it('stops the app by default: state error, its record processed again by whoever comes next', async () => {
    const { app } = await failing('stops', 'shutdownClient');
    await until('the app stops', () => app.state === 'error', 10_000);
    await app.close();
    expect(app.state).toBe('error');
  });

  it('under replaceThread is tried again after pauses that grow, and the app still closes', async () => {
    const { app, calls, scenario, output } = await failing('replaces', 'replaceThread');
    await until('it fails five times', () => calls.length >= 5, 20_000);
    const pauses = calls.slice(1).map((at, index) => at - (calls[index] ?? 0));
    expect(pauses[3]).toBeGreaterThan(250);
    expect(app.metrics().tasks['0_0']?.processingErrors).toBeGreaterThanOrEqual(5);
    await app.close();
    expect(app.state).toBe('notRunning');
    expect(await values(scenario, output, 1)).toEqual(['good']);
  });
});

describe('metrics', () => {
  it('say where the group stands and what was fetched', async () => {
    const scenario = await begin('metrics');
    const [input, output] = [await scenario.topic('in', 2), await scenario.topic('out')];
    const app = await scenario.running(through(input, output, (value) => value));
    await scenario.write(input, [{ value: 'a', partition: 0 }]);
    await scenario.read(output, 1);
    const metrics = app.metrics();
    expect(metrics.group).toMatchObject({ phase: 'stable', stable: true, ownedTasks: ['0_0', '0_1'] });
    expect(metrics.group?.generation).toBeGreaterThan(0);
    expect(metrics.fetcher?.requests).toBeGreaterThan(0);
    expect(metrics.fetcher?.bytes).toBeGreaterThan(0);
    expect(metrics.restoring).toEqual([]);
    expect(JSON.parse(JSON.stringify(metrics))).toEqual(metrics);
  });
});

describe('a topic that is deleted and created again', () => {
  it('is read from its beginning, by policy: counted and logged, no fault', async () => {
    const scenario = await begin('recreated');
    const [input, output] = [await scenario.topic('in'), await scenario.topic('out')];
    const app = await scenario.running(through(input, output, (value) => value));
    await scenario.write(
      input,
      ['a', 'b', 'c'].map((value) => ({ value })),
    );
    await scenario.read(output, 3);
    await scenario.port.admin.deleteTopics([input]);
    await until(
      'the topic is there again',
      async () => {
        const [created] = await scenario.port.admin.createTopics([{ topic: input, partitions: 1, replicationFactor: -1, configs: {} }]);
        return created?.errorCode === 0;
      },
      30_000,
    );
    const written = async (): Promise<boolean> => {
      await scenario.write(input, [{ value: 'again' }]);
      return true;
    };
    await until('its leader takes a record', () => written().catch(() => false), 30_000);
    expect(await values(scenario, output, 4)).toEqual(['a', 'b', 'c', 'again']);
    expect(app.state).toBe('running');
    expect(app.metrics().tasks['0_0']?.positionResets).toBe(1);
    expect(scenario.logged.some(({ message }) => message.includes('is gone: going on at 0'))).toBe(true);
  });
});

describe('two topologies under one applicationId', () => {
  it('whose store of one name is of two kinds are told apart: the second instance is refused, the first goes on', async () => {
    const scenario = await begin('mismatch');
    const [input, output] = [await scenario.topic('in'), await scenario.topic('out')];
    const counted = new StreamsBuilder();
    counted
      .stream(input, strings)
      .groupByKey()
      .count({ materialized: { storeName: 'rows' } })
      .toStream()
      .mapValues(String, { valueSerde: serdes.string })
      .to(output);
    await scenario.running(counted.build());
    const other = new StreamsBuilder();
    other
      .stream(input, strings)
      .groupByKey()
      .windowedBy(tumbling({ size: 1000, grace: 0 }))
      .count({ materialized: { storeName: 'rows' } });
    const stranger = scenario.app(other.build(), { stateDir: `${scenario.folder}/stranger` });
    await expect(stranger.start()).rejects.toMatchObject({ code: 'MILL_TOPOLOGY_MISMATCH' });
    expect(stranger.state).toBe('error');
    await scenario.write(input, [{ key: 'k', value: 'a' }]);
    expect(await values(scenario, output, 1)).toEqual(['1']);
  });
});
