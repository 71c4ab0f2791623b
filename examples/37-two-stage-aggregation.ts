// A mean in two stages: each task folds what it reads of a site into one sum and count a commit, and only those go through the repartition topic. Runs without a broker:
//   npx tsx examples/37-two-stage-aggregation.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Mean {
  readonly sum: number;
  readonly count: number;
}

const readings = { keySerde: serdes.string, valueSerde: serdes.double };

const builder = new StreamsBuilder();
builder
  .stream('readings', readings)
  .groupBy((_value, device) => device.split('/')[0] ?? '', { keySerde: serdes.string })
  .aggregate(
    {
      initial: (): Mean => ({ sum: 0, count: 0 }),
      add: ({ sum, count }, value: number) => ({ sum: sum + value, count: count + 1 }),
      merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
      result: ({ sum, count }) => sum / count,
    },
    { twoStage: true, materialized: { storeName: 'means', valueSerde: serdes.json<Mean>() }, valueSerde: serdes.double },
  )
  .toStream()
  .to('means-by-site');

await using driver = new TopologyTestDriver(builder.build());
await driver
  .inputTopic('readings', readings)
  .pipeAll(Array.from({ length: 1_000 }, (_, i) => ({ key: `site-${i % 2}/device-${i % 10}`, value: i, timestamp: i })));
const parts = driver.outputTopic('test-means-parts-repartition', { keySerde: serdes.string, valueSerde: serdes.json<Mean>() });

console.log(
  'parts of 1000 records:',
  parts
    .readAll()
    .map(({ key, value }) => `${key} ${value?.sum}/${value?.count}`)
    .join(', '),
);
for (const { key, value } of driver.outputTopic('means-by-site', readings).readAll()) console.log(key, value);

// Prints:
// parts of 1000 records: site-0 249500/500, site-1 250000/500
// site-0 499
// site-1 500
