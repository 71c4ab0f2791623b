import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StreamsApp } from '../../src/app/streams-app.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { TaskAssignor } from '../../src/rebalance/assignor.js';
import type { StandbyProgress } from '../../src/runtime/standby-listener.js';
import type { RestoreProgress } from '../../src/runtime/state-restorer.js';
import { serdes } from '../../src/serdes/serdes.js';
import { StateDirectory } from '../../src/stores/state-directory.js';
import { inMemoryKafka } from '../../src/testing/in-memory-kafka/in-memory-kafka.js';

const records = 500;
let folder: string;
const apps: StreamsApp[] = [];
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'millrace-moves-'));
});
afterEach(async () => {
  for (const app of apps.splice(0)) await app.close({ timeout: 5000 }).catch(() => undefined);
  await rm(folder, { recursive: true, force: true });
});

/** Everything runs at the member of that tag, and the members of the other one have the copies. */
function everythingAt(owner: () => string): TaskAssignor {
  return {
    name: 'everything-at-one',
    assign: ({ tasks, members }) =>
      new Map(
        members.map(({ memberId, tags }) => {
          const copies = tags['name'] === 'third' ? [] : tasks.filter(({ stateful }) => stateful);
          return [memberId, tags['name'] === owner() ? { active: tasks } : { active: [], standby: copies }];
        }),
      ),
  };
}

describe('a task that changes places with its standby', () => {
  it.each(['leveldb', 'memory'] as const)('goes on from the copy, and leaves one behind, in %s', async (storeEngine) => {
    const kafka = inMemoryKafka();
    kafka.createTopic('in', 1);
    kafka.createTopic('out', 1);
    const builder = new StreamsBuilder();
    builder
      .stream('in', { keySerde: serdes.string, valueSerde: serdes.string })
      .groupByKey()
      .count({ materialized: { storeName: 'counts' } })
      .toStream()
      .to('out');
    let owner = 'first';
    const assignor = everythingAt(() => owner);
    const start = async (name: string) => {
      const told = { restored: [] as RestoreProgress[], copied: [] as StandbyProgress[], ended: [] as string[] };
      const app = new StreamsApp(
        builder.build(),
        { applicationId: 'app', bootstrapServers: 'memory:9092', storeEngine, heartbeatInterval: 20, assignor, clientTags: { name } },
        {
          openPort: ({ clientId }) => kafka.port({ clientId }),
          openDirectory: () => StateDirectory.acquire({ applicationId: 'app', stateDir: join(folder, name) }),
        },
      );
      app.setRestoreListener({ onEnd: (progress) => told.restored.push(progress) });
      app.setStandbyUpdateListener({
        onUpdateStart: (progress) => told.copied.push(progress),
        onUpdateSuspended: (_, reason) => told.ended.push(reason),
      });
      apps.push(app);
      await app.start();
      return { app, told };
    };
    const first = await start('first');
    const second = await start('second');
    const feed = (): void =>
      kafka.produce(
        'in',
        Array.from({ length: records }, (_, i) => ({ key: `k${i}`, value: '' })),
      );
    feed();
    await until(() => kafka.records('out').length === records);
    await until(() => second.app.metrics().standbys['0_0']?.lag === 0);
    expect(second.app.metrics().standbys['0_0']?.stores['counts']?.recordsApplied).toBe(records);

    owner = 'second';
    await start('third');
    await until(() => second.app.metrics().tasks['0_0']?.active === true && first.told.copied.length > 0);
    expect(second.told.ended).toEqual(['promoted']);
    expect(second.told.restored).toMatchObject([{ whole: false, recordsRestored: 0 }]);
    // In memory a state ends with its task; on disk it is there for the copy.
    if (storeEngine === 'leveldb') expect(first.told.copied[0]?.startOffset).toBeGreaterThanOrEqual(records);
    feed();
    await until(() => kafka.records('out').length === 2 * records);
    await until(() => first.app.metrics().standbys['0_0']?.lag === 0);
    expect(
      kafka
        .records('out')
        .slice(records)
        .every(({ value }) => value?.at(-1) === 2),
    ).toBe(true);
    expect(first.app.metrics().tasks['0_0']?.active).toBe(false);
  });
});

async function until(condition: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!condition()) {
    if (Date.now() > deadline) throw new Error('the group did not get there');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}
