/** A function that changes what it is given gives the rows of one that makes new values, and changes nothing that anybody else sees. */
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import type { KStream } from '../../src/dsl/kstream.js';
import { StreamsBuilder } from '../../src/dsl/streams-builder.js';
import { serdes } from '../../src/serdes/serdes.js';
import { TopologyTestDriver } from '../../src/testing/topology-test-driver.js';
import { sessions } from '../../src/time/session-windows.js';
import { sliding } from '../../src/time/sliding-windows.js';
import { hopping, tumbling } from '../../src/time/time-windows.js';
import { watermarks } from '../../src/time/watermarks/watermark-strategy.js';
import type { Windowed } from '../../src/time/windowed.js';
import { slidingEventTime } from '../../src/time/windowing/sliding-windows.js';

interface Sum {
  site: string;
  sum: number;
}
type Add = (all: Sum, one: Sum) => Sum;

const inPlace: Add = (all, one) => {
  all.sum += one.sum;
  return all;
};
const anew: Add = (all, one) => ({ ...all, sum: all.sum + one.sum });
const inPlaceLater = (async (all: Sum, one: Sum) => inPlace(all, one)) as unknown as Add;
const anewLater = (async (all: Sum, one: Sum) => anew(all, one)) as unknown as Add;

const json = { keySerde: serdes.string, valueSerde: serdes.json<Sum>() };
const bySite = (stream: KStream<string, Sum>) => stream.groupBy(({ site }) => site, { keySerde: serdes.string });
const text = (key: string | Windowed<string>): string => (typeof key === 'string' ? key : `${key.key}@${key.window.start}`);
const materialized = { valueSerde: json.valueSerde };

type Branch = (stream: KStream<string, Sum>, add: Add) => KStream<string, Sum> | KStream<Windowed<string>, Sum>;
const ofTables: Readonly<Record<string, Branch>> = {
  reduce: (stream, add) => stream.groupByKey().reduce(add).toStream(),
  'reduce behind a repartition': (stream, add) => bySite(stream).reduce(add).toStream(),
  'reduce in two stages': (stream, add) => bySite(stream).reduce(add, { twoStage: true }).toStream(),
  'an aggregate that begins with the value': (stream, add) =>
    stream
      .groupByKey()
      .aggregate<Sum>(
        () => ({ site: '', sum: 0 }),
        (all, one) => (all.site === '' ? one : add(all, one)),
        { materialized },
      )
      .toStream(),
  'tumbling windows': (stream, add) =>
    stream
      .groupByKey()
      .windowedBy(tumbling({ size: 100, grace: 1000 }))
      .reduce(add)
      .toStream(),
  'hopping windows': (stream, add) =>
    stream
      .groupByKey()
      .windowedBy(hopping({ size: 100, advance: 30, grace: 1000 }))
      .reduce(add)
      .toStream(),
  'hopping windows in two stages': (stream, add) =>
    bySite(stream)
      .windowedBy(hopping({ size: 100, advance: 50, grace: 1000 }))
      .reduce(add, { twoStage: true })
      .toStream(),
  'sliding windows': (stream, add) =>
    stream
      .groupByKey()
      .windowedBy(sliding({ timeDifference: 50, grace: 1000 }))
      .reduce(add)
      .toStream(),
  'an aggregate in sliding windows': (stream, add) =>
    stream
      .groupByKey()
      .windowedBy(sliding({ timeDifference: 50, grace: 1000 }))
      .aggregate<Sum>(() => ({ site: '', sum: 0 }), add, { materialized })
      .toStream(),
  sessions: (stream, add) =>
    stream
      .groupByKey()
      .windowedBy(sessions({ gap: 50, grace: 1000 }))
      .reduce(add)
      .toStream(),
  'a table of groups': (stream, add) =>
    stream
      .toTable()
      .groupBy((one, key) => [one.site, { ...one, site: key }], json)
      .reduce(add, (all, one) => ({ ...all, sum: all.sum - one.sum }))
      .toStream(),
};
const ofKeys: Readonly<Record<string, Branch>> = {
  'windows of a keyed stream': (stream, add) =>
    stream
      .keyBy(({ site }) => site, { keySerde: serdes.string })
      .window(slidingEventTime({ size: 100, slide: 50 }))
      .reduce(add, { name: 'windows' }),
  'windows of a keyed stream in two stages': (stream, add) =>
    stream
      .keyBy(({ site }) => site, { keySerde: serdes.string })
      .window(slidingEventTime({ size: 100, slide: 50 }))
      .reduce(add, { name: 'windows', twoStage: true }),
};

interface Reading {
  readonly key: string;
  readonly sum: number;
  readonly time: number;
  readonly commits: boolean;
}

async function run(branch: Branch, add: Add, readings: readonly Reading[]): Promise<Readonly<Record<string, unknown>>> {
  const builder = new StreamsBuilder();
  const stream = builder.stream('in', { ...json, watermarks: watermarks.boundedOutOfOrderness(50) });
  // Two kinds of keys, told apart by `text`.
  (branch(stream, add) as KStream<string, Sum>).map((value, key) => [text(key), value], json).to('out');
  stream
    .toTable({ materialized: { storeName: 'latest' } })
    .toStream()
    .to('latest-out');
  // Begins with the same objects.
  stream
    .groupByKey()
    .reduce(add, { materialized: { storeName: 'sums' } })
    .toStream()
    .to('sums-out');
  await using driver = new TopologyTestDriver(builder.build(), { autoCommit: false, applicationId: 'app' });
  const input = driver.inputTopic('in', json);
  for (const { key, sum, time, commits } of readings) {
    await input.pipe(key, { site: 's', sum }, { timestamp: time });
    if (commits) await driver.commit();
  }
  await driver.endInput();
  await driver.commit();
  const read = (topic: string) =>
    driver
      .outputTopic(topic, json)
      .readAll()
      .map(({ key, value, timestamp }) => [key, value, timestamp]);
  return { out: read('out'), latest: read('latest-out'), sums: read('sums-out'), changelog: read('app-latest-changelog') };
}

const anyReadings = fc.array(
  fc.record({
    key: fc.constantFrom('a', 'b'),
    sum: fc.integer({ min: 1, max: 100 }),
    time: fc.integer({ min: 0, max: 300 }),
    commits: fc.boolean(),
  }),
  { minLength: 1, maxLength: 20 },
);

describe('values changed in place by', () => {
  it.each(Object.entries({ ...ofTables, ...ofKeys }))('%s: rows and other branches are as with new values', async (_what, branch) => {
    await fc.assert(
      fc.asyncProperty(anyReadings, async (readings) => {
        expect(await run(branch, inPlace, readings)).toEqual(await run(branch, anew, readings));
      }),
      { numRuns: 40 },
    );
  });

  it.each(Object.entries(ofTables))('%s, later: the same', async (_what, branch) => {
    await fc.assert(
      fc.asyncProperty(anyReadings, async (readings) => {
        expect(await run(branch, inPlaceLater, readings)).toEqual(await run(branch, anewLater, readings));
      }),
      { numRuns: 10 },
    );
  });
});
