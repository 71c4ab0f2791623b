import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createServer, type AddressInfo } from 'node:net';
import { once } from 'node:events';
import { startStack, type Stack } from '../../scripts/stack/stack.js';
import { JobRun } from './job-run.js';
import { until } from './until.js';
import { Opened } from '../opened.js';

const runs: JobRun[] = [];
afterEach(async () => {
  for (const run of runs.splice(0)) await run.end();
});

/**
 * Brokers are killed in a replicated cluster: Kafka 4.4.0 loses transaction markers for partitions that have no leader when a transaction ends, and a single broker's have none for a
 * moment at each of its restarts (docs/Guides/operations.md, "A task that does not start").
 */
describe('three brokers, killed one after the other', () => {
  let stack: Stack;
  const opened = new Opened();
  beforeAll(async () => {
    stack = opened.add(await startStack({ own: true, brokers: 3 }), (started) => started.stop());
  }, 120_000);
  afterAll(() => opened.close());

  it('under load: both instances go on, outputs equal the model', async () => {
    const run = await JobRun.create('broker-restart', { brokers: stack.bootstrapServers });
    runs.push(run);
    run.input.start(200);
    const [first, second] = [run.instance(), run.instance()];
    for (const instance of [first, second]) instance.start();
    for (const instance of [first, second]) await instance.untilState('running');
    for (const id of [1, 2, 3]) {
      await stack.restartBroker(id, 'SIGKILL');
      const before = run.input.sent;
      await until('the input is written again', () => run.input.sent > before + 50, 60_000);
      await until(
        'the job goes on',
        async () => (await run.output.mapped.poll()).length > before,
        60_000,
        () => run.story(),
      );
    }
    await run.input.stop();
    expect(await run.differences()).toEqual([]);
    for (const instance of [first, second]) await instance.close();
    expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
  }, 240_000);
});

describe('a broker that is not there at the start', () => {
  let stack: Stack;
  const opened = new Opened();
  beforeAll(async () => {
    stack = opened.add(await startStack({ own: true }), (started) => started.stop());
  });
  afterAll(() => opened.close());

  it('while an instance starts: it waits, or says that it can’t reach the broker', async () => {
    const run = await JobRun.create('broker-restart-at-start', { brokers: stack.bootstrapServers });
    runs.push(run);
    await run.input.send(500);
    const instance = run.instance();
    const restarting = stack.restartBroker(1, 'SIGKILL');
    instance.start();
    await restarting;
    await until(
      'it runs or has ended',
      () => instance.state === 'running' || !instance.isAlive,
      60_000,
      () => run.story(),
    );
    if (!instance.isAlive) {
      expect(instance.errors.map(({ code }) => code)).toEqual(['MILL_BROKER_UNREACHABLE']);
      instance.start();
    }
    expect(await run.differences()).toEqual([]);
    await instance.close();
  });

  it('no broker at start is MILL_BROKER_UNREACHABLE, and the process can end', async () => {
    const run = await JobRun.create('no-broker', { brokers: stack.bootstrapServers });
    runs.push(run);
    const nobody = createServer();
    nobody.listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    await once(nobody, 'close');
    const instance = run.instance('without a broker', [`127.0.0.1:${port}`]);
    instance.start();
    await until(
      'the process ends',
      () => !instance.isAlive,
      60_000,
      () => instance.story(),
    );
    expect(instance.errors.map(({ code }) => code)).toEqual(['MILL_BROKER_UNREACHABLE']);
    expect(instance.errors[0]?.message).toContain(`127.0.0.1:${port}`);
  });
});
