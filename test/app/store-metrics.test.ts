import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { KeyedProcessorContext } from '../../src/processors/event-time/keyed-processor.js';
import { mapState, valueState } from '../../src/processors/state/state-descriptor.js';
import { serdes } from '../../src/serdes/serdes.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  apps.kafka.createTopic('in', 2);
  apps.kafka.createTopic('table', 1);
  apps.kafka.createTopic('out', 2);
});
afterEach(() => apps.end());

function topology() {
  const last = valueState<string>('last', { serde: serdes.string });
  const seen = mapState<string, string>('seen', { keySerde: serdes.string, serde: serdes.string });
  const builder = new StreamsBuilder();
  builder.globalTable('table', { ...strings, materialized: { storeName: 'names' } });
  const input = builder.stream('in', strings);
  input.groupByKey().count({ materialized: { storeName: 'counts' } });
  input.keyBy().process(
    () => {
      let context: KeyedProcessorContext<string, string, string>;
      return {
        init: (given) => {
          context = given;
        },
        process: ({ value }) => {
          context.state(last).update(value);
          context.state(seen).put(value, 'seen');
        },
      };
    },
    { name: 'remember', states: [last, seen], keySerde: serdes.string },
  );
  return builder.build();
}

describe('metrics of stores', () => {
  it.each(['memory', 'leveldb'])('tell keys and bytes of each store of a task, and of global tables (%s)', async (engine) => {
    const stateDir = engine === 'memory' ? {} : { stateDir: await apps.folder() };
    const app = await apps.running(topology(), stateDir);
    apps.kafka.produce('table', [{ key: 'a', value: 'A' }]);
    apps.kafka.produce(
      'in',
      Array.from({ length: 60 }, (_, i) => ({ key: `key-${i % 20}`, value: `value-${i}` })),
    );
    const tasks = () => Object.values(app.metrics().tasks);
    const keys = (store: string): number => tasks().reduce((sum, { stores }) => sum + (stores[store]?.estimateNumKeys ?? 0), 0);
    await until('every key is counted', () => keys('counts') === 20);
    await until('every key has its states', () => keys('remember-state') === 40);
    await until('the global table is read', () => app.metrics().globalTables?.stores['names']?.estimateNumKeys === 1);
    for (const { stores } of tasks())
      for (const { memoryBytes, diskBytes } of Object.values(stores)) {
        expect(memoryBytes).toBeGreaterThan(0);
        expect(diskBytes).toBeGreaterThanOrEqual(0);
      }
    await app.close();
    for (const { stores, active } of tasks()) expect({ stores, active }).toEqual({ stores: {}, active: false });
  });

  it('tell what a standby takes, and how many keys it has, however often they were written', async () => {
    const config = async () => ({ stateDir: await apps.folder(), numStandbyReplicas: 1 });
    const both = [await apps.running(topology(), await config()), await apps.running(topology(), await config())];
    const standbyKeys = (): number =>
      both
        .flatMap((app) => Object.values(app.metrics().standbys))
        .reduce((sum, { sizes }) => sum + (sizes['counts']?.estimateNumKeys ?? 0), 0);
    const processed = (): number =>
      both.flatMap((app) => Object.values(app.metrics().tasks)).reduce((sum, { recordsProcessed }) => sum + recordsProcessed, 0);
    for (let round = 1; round <= 3; round++) {
      apps.kafka.produce(
        'in',
        Array.from({ length: 20 }, (_, i) => ({ key: `key-${i}`, value: 'value' })),
      );
      await until('they are processed', () => processed() >= 20 * round);
    }
    await until('the copies have every key once', () => standbyKeys() === 20, 50_000);
  });
});
