import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { sendableConfig } from '../../src/app/threads/sendable-config.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import type { TimestampExtractor } from '../../src/time/timestamp-extractor.js';
import { failOnInvalidTimestamp } from '../../src/time/timestamp-extractors.js';
import { MemoryApps, until } from './harness/memory-app.js';

const strings = { keySerde: serdes.string, valueSerde: serdes.string };

let apps: MemoryApps;
beforeEach(() => {
  apps = new MemoryApps();
  for (const topic of ['in', 'own', 'record', 'table', 'out']) apps.kafka.createTopic(topic);
});
afterEach(() => apps.end());

/** A value is a time. Tells what it was asked for, to see that nobody asks where it does not count. */
function timeInValue(asked: string[] = []): TimestampExtractor {
  return {
    name: 'timeInValue',
    extract: ({ value, topic }) => {
      asked.push(topic);
      return Number(value);
    },
  };
}

const plus = (time: number): TimestampExtractor => ({ name: `plus${time}`, extract: ({ timestamp }) => timestamp + time });

describe('defaultTimestampExtractor', () => {
  it('gives the time of records of sources that name none, and not of internal topics and global tables', async () => {
    const asked: string[] = [];
    const builder = new StreamsBuilder();
    const table = builder.globalTable('table', strings);
    const byDefault = builder.stream('in', strings);
    const joined = byDefault.join(table, (value: string) => value, { keyOf: () => 'k' });
    builder
      .stream('own', { ...strings, timestampExtractor: plus(1) })
      .merge(builder.stream('record', { ...strings, timestampExtractor: failOnInvalidTimestamp }))
      .merge(joined)
      .selectKey((value) => value, { keySerde: serdes.string })
      .repartition(strings)
      .to('out', strings);
    const app = await apps.running(builder.build(), { defaultTimestampExtractor: timeInValue(asked) });
    apps.kafka.produce('table', [{ key: 'k', value: 'not a time' }]);
    await until('the table is read', () => app.metrics().globalTables?.recordsProcessed === 1);
    for (const topic of ['in', 'own', 'record']) apps.kafka.produce(topic, [{ key: 'k', value: '7000', timestamp: 100 }]);
    await until('all came out', () => apps.kafka.records('out').length === 3);
    expect(
      apps.kafka
        .records('out')
        .map(({ timestamp }) => timestamp)
        .toSorted((a, b) => a - b),
    ).toEqual([100, 101, 7000]);
    expect(new Set(asked)).toEqual(new Set(['in']));
  });

  it('holds in the test driver, where a record without a time is dropped and counted', async () => {
    const builder = new StreamsBuilder();
    builder.stream('in', strings).to('out', strings);
    await using driver = new TopologyTestDriver(builder.build(), { defaultTimestampExtractor: timeInValue() });
    const input = driver.inputTopic('in', strings);
    await input.pipe('k', '5', { timestamp: 1 });
    await input.pipe('k', '-1', { timestamp: 2 });
    expect(
      driver
        .outputTopic('out', strings)
        .readAll()
        .map(({ timestamp }) => timestamp),
    ).toEqual([5]);
    expect(driver.droppedByReason).toEqual(new Map([['invalid-timestamp', 1]]));
  });

  it('is refused when it is none, and where the records of a topic are to be those of a table', () => {
    const builder = new StreamsBuilder();
    builder.table('in', { ...strings, materialized: { storeName: 'rows' } });
    const topology = builder.build({ optimizations: ['reuseSourceTopics'] });
    for (const wrong of [null, () => 5, { name: 'no extract' }])
      expect(() => apps.app(topology, { defaultTimestampExtractor: wrong as never })).toThrow(
        'defaultTimestampExtractor must be a timestamp extractor, such as wallclockTimestamp()',
      );
    expect(() => apps.app(topology, { defaultTimestampExtractor: timeInValue() })).toThrow(
      'but the defaultTimestampExtractor gives times that a restore would not know',
    );
    expect(() => apps.app(topology, { defaultTimestampExtractor: failOnInvalidTimestamp })).not.toThrow();
  });

  it('can’t be sent to threads: the topology module has it', () => {
    const { faults } = sendableConfig({ applicationId: 'a', bootstrapServers: 'b:1', defaultTimestampExtractor: failOnInvalidTimestamp });
    expect(faults.join()).toContain('export it from the topology module, as in export const config = { defaultTimestampExtractor }');
  });
});
