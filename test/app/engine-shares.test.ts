import { afterEach, describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MemoryApps } from './harness/memory-app.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const apps: MemoryApps[] = [];
afterEach(async () => {
  for (const all of apps.splice(0)) await all.end();
});

describe('the share of a database in storeEngineMaxBytes', () => {
  it('is not smaller for tasks beside it that keep their rows in memory', async () => {
    const engineBytes = async (tasksInMemory: number): Promise<number | undefined> => {
      const all = new MemoryApps();
      apps.push(all);
      all.kafka.createTopic('disk', 1);
      all.kafka.createTopic('memory', 12);
      const builder = new StreamsBuilder();
      builder
        .stream('disk', text)
        .groupByKey()
        .count({ materialized: { storeName: 'd' } });
      if (tasksInMemory > 0)
        builder
          .stream('memory', text)
          .groupByKey()
          .count({ materialized: { storeName: 'm', engine: 'memory' } });
      const app = await all.running(builder.build(), { stateDir: await all.folder(), storeEngineMaxBytes: 52 * 2 ** 20 });
      return app.metrics().memory?.engineBytes;
    };
    const alone = await engineBytes(0);
    expect(alone).toBeGreaterThan(0);
    expect(await engineBytes(12)).toBe(alone);
  });
});
