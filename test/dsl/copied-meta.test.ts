import { describe, expect, it } from '@jest/globals';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import type { RecordMeta } from '../../src/processors/record-meta.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
type Meta = Pick<RecordMeta, 'topic' | 'partition' | 'offset' | 'timestamp'>;

/** Copies what it is given, in both ways, at the time of the call. */
class Copies {
  readonly spread: unknown[] = [];
  readonly json: unknown[] = [];

  take(meta: Meta): void {
    this.spread.push({ ...meta });
    this.json.push(JSON.parse(JSON.stringify(meta)));
  }
}

const records = [0, 1].map((offset) => ({ topic: 'in', partition: 0, offset, timestamp: 10 + offset }));

async function copiesOf(build: (builder: StreamsBuilder, take: (meta: Meta) => void) => void, wrapped?: Copies): Promise<Copies> {
  const copies = wrapped ?? new Copies();
  const builder = new StreamsBuilder();
  build(builder, (meta) => copies.take(meta));
  const driver = new TopologyTestDriver(builder.build(), {
    emit: 'onUpdate',
    processorWrapper: ({ name }) =>
      wrapped === undefined || name !== 'mine'
        ? null
        : {
            process: (key, value, timestamp, proceed, meta) => {
              wrapped.take(meta);
              return proceed(key, value, timestamp);
            },
          },
  });
  const input = driver.inputTopic('in', text);
  for (const { timestamp } of records) {
    await input.pipe('k', `at ${timestamp}`, { timestamp, headers: [{ key: 'h', value: Buffer.from('1') }] });
  }
  await driver.close();
  return copies;
}

describe('a copy of the meta of a record, by spreading or as JSON', () => {
  it.each<[string, (builder: StreamsBuilder, take: (meta: Meta) => void) => void]>([
    ['peek', (builder, take) => builder.stream('in', text).peek((_value, _key, meta) => take(meta))],
    [
      'filter of a table',
      (builder, take) =>
        builder
          .table('in', text)
          .filter((_value, _key, meta) => (take(meta), true))
          .toStream()
          .to('out'),
    ],
    [
      'mapValues of a table',
      (builder, take) =>
        builder
          .table('in', text)
          .mapValues((value, _key, meta) => (take(meta), value), { valueSerde: serdes.string })
          .toStream()
          .to('out'),
    ],
    [
      'groupBy of a table',
      (builder, take) =>
        builder
          .table('in', text)
          .groupBy((value, key, meta) => (take(meta), [key, value]), text)
          .count(),
    ],
    ['a topic extractor', (builder, take) => builder.stream('in', text).to((_value, _key, meta) => (take(meta), 'out'))],
    [
      'mapValuesAsync',
      (builder, take) =>
        builder
          .stream('in', text)
          .mapValuesAsync(async (value, _key, call) => (take(call), value), { name: 'a', ...text })
          .to('out'),
    ],
  ])('has topic, partition, offset and time in %s', async (_what, build) => {
    const { spread, json } = await copiesOf(build);
    const seen = new Set(spread.map((copy) => JSON.stringify(copy)));
    for (const record of records) {
      expect(spread).toContainEqual(expect.objectContaining(record));
      expect(json).toContainEqual(expect.objectContaining(record));
    }
    expect(seen.size).toBe(records.length);
  });

  it('has them in a processor wrapper', async () => {
    const copies = new Copies();
    await copiesOf((builder) => builder.stream('in', text).peek(() => undefined, { name: 'mine' }), copies);
    expect(copies.spread).toEqual(records);
    expect(copies.json).toEqual(records);
  });

  it('says the time that the record has by then: a topic extractor sees that of an aggregate, as in Kafka Streams', async () => {
    const builder = new StreamsBuilder();
    const times: number[] = [];
    builder
      .stream('in', text)
      .groupByKey()
      .reduce((_, value) => value, { materialized: { storeName: 's', valueSerde: serdes.string } })
      .toStream()
      .to((_value, _key, meta) => (times.push(meta.timestamp), 'out'));
    const driver = new TopologyTestDriver(builder.build(), { emit: 'onUpdate' });
    for (const timestamp of [20, 10]) await driver.inputTopic('in', text).pipe('k', 'v', { timestamp });
    expect(times).toEqual([20, 20]);
    await driver.close();
  });
});
