import { afterEach, expect, it } from '@jest/globals';
import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { delay } from '../../src/kafka/backoff.js';
import { TopicWriter } from '../faults/topic-writer.js';
import { until } from '../faults/until.js';
import { Scenario } from '../pitfalls/scenario.js';
import type { MemoryAnswer, MemoryJobSetup } from './memory-job.js';

const mebibyte = 2 ** 20;
const value = Buffer.alloc(100, 'v');

let scenario: Scenario;
let child: ChildProcess;
afterEach(async () => {
  child.kill('SIGKILL');
  await scenario.end();
});

async function measure(): Promise<MemoryAnswer> {
  child.send('measure');
  const [answer] = (await once(child, 'message')) as [MemoryAnswer];
  return answer;
}

/** What is held when nothing is on its way: the least of several looks, since memory outside of the heap is given back some time after the collection that finds it free. */
async function settled(): Promise<number> {
  let least = Infinity;
  for (let look = 0; look < 10; look++) {
    least = Math.min(least, (await measure()).held);
    await delay(50);
  }
  return least;
}

it('an app whose keys never end holds no more after fifty epochs than before', async () => {
  scenario = await Scenario.begin('memory');
  const [input, output] = [await scenario.topic('in', 2), await scenario.topic('out', 2)];
  const setup: MemoryJobSetup = {
    input,
    output,
    config: {
      applicationId: scenario.id,
      bootstrapServers: process.env['KAFKA_BROKERS'] ?? '',
      stateDir: join(scenario.folder, 'state'),
      maxMemoryBytes: 2 * mebibyte,
    },
  };
  child = fork(fileURLToPath(new URL('memory-job.ts', import.meta.url)), {
    execArgv: ['--expose-gc', '--import', 'tsx'],
    env: { ...process.env, JOB_SETUP: JSON.stringify(setup), NODE_OPTIONS: '' },
  });
  const writer = new TopicWriter(scenario.port, input, 2);
  let written = 0;

  /** Sends new keys as long as epochs are to come, and waits until all of them are counted. */
  async function load(epochs: number): Promise<number> {
    const begin = (await measure()).epochs;
    await until('the epochs are committed', async () => {
      for (let i = 0; i < 2000; i++) writer.append(written, `key-${written++}`, value);
      await writer.flush();
      await delay(50);
      return (await measure()).epochs >= begin + epochs;
    });
    await until('everything is counted', async () => (await measure()).processed >= written);
    return settled();
  }

  const before = await load(30);
  const keysBefore = written;
  const after = await load(50);
  const keys = written - keysBefore;
  child.send('close');
  await once(child, 'exit');
  // Whatever were kept of each key would be more.
  const bytes = keys * value.length;
  expect(bytes).toBeGreaterThan(4 * mebibyte);
  expect(after - before).toBeLessThan(bytes / 3);
});
