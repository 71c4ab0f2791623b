import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { startStack, type Stack } from '../../scripts/stack/stack.js';
import { serdes, StreamsBuilder } from '../../src/index.js';
import { JobRun } from '../faults/job-run.js';
import { Scenario } from './scenario.js';
import { Opened } from '../opened.js';

describe('a broker with access control: a normal user’s transactions failed, because AddPartitionsToTxn v4 needs rights on the cluster', () => {
  let stack: Stack;
  const opened = new Opened();
  beforeAll(async () => {
    stack = opened.add(await startStack({ own: true, acl: true }), (started) => started.stop());
  });
  afterAll(() => opened.close());

  it('the whole job runs as a user without rights on the cluster, through a kill -9 as well', async () => {
    const run = await JobRun.create('ordinary-user', { brokers: stack.bootstrapServers, credentials: stack.credentials! });
    try {
      const [a, b] = [run.instance(), run.instance()];
      run.input.start(300);
      for (const instance of [a, b]) instance.start();
      for (const instance of [a, b]) await instance.untilState('running');
      await a.kill();
      a.start();
      await a.untilState('running');
      await run.input.stop();
      expect(await run.differences()).toEqual([]);
      for (const instance of [a, b]) await instance.close();
      expect(run.instances.flatMap(({ errors }) => errors)).toEqual([]);
    } finally {
      await run.end();
    }
  });

  it('a wrong password is said at start, without the password', async () => {
    const scenario = await Scenario.begin('wrong-password', stack.bootstrapServers, {
      mechanism: 'plain',
      ...stack.credentials!.superUser,
    });
    try {
      const topic = await scenario.topic('in');
      const builder = new StreamsBuilder();
      builder.stream(topic, { keySerde: serdes.string, valueSerde: serdes.string }).foreach(() => undefined);
      const app = scenario.app(builder.build(), { sasl: { mechanism: 'plain', username: 'app', password: 'not-this-one' } });
      const error = await app.start().then(
        () => null,
        (thrown: unknown) => thrown,
      );
      expect(error).toMatchObject({ code: expect.stringMatching(/^MILL_(AUTHORIZATION|BROKER_UNREACHABLE)$/) });
      expect(`${String(error)} ${scenario.story()}`).not.toContain('not-this-one');
    } finally {
      await scenario.end();
    }
  });
});
