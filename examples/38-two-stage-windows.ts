// Means a minute, every 20 seconds, in two stages: each task folds what it reads of a site into one part for each 20 seconds, and only the parts go through the repartition topic.
// Runs without a broker:
//   npx tsx examples/38-two-stage-windows.ts
import { serdes, slidingEventTime, StreamsBuilder, watermarks } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Mean {
  readonly sum: number;
  readonly count: number;
}

const readings = { keySerde: serdes.string, valueSerde: serdes.double };

const builder = new StreamsBuilder();
builder
  .stream('readings', { ...readings, watermarks: watermarks.boundedOutOfOrderness(5_000) })
  .keyBy((_value, device) => device.split('/')[0] ?? '', readings)
  .window(slidingEventTime({ size: 60_000, slide: 20_000 }))
  .aggregate(
    {
      initial: (): Mean => ({ sum: 0, count: 0 }),
      add: ({ sum, count }, value: number) => ({ sum: sum + value, count: count + 1 }),
      merge: (a, b) => ({ sum: a.sum + b.sum, count: a.count + b.count }),
      result: ({ sum, count }) => sum / count,
    },
    { name: 'means', twoStage: true, valueSerde: serdes.double },
  )
  .map((mean, { key, window }) => [`${key} from ${window.start / 1_000} s`, mean], readings)
  .to('means-a-minute');

await using driver = new TopologyTestDriver(builder.build(), { partitions: { readings: 2 } });
await driver
  .inputTopic('readings', readings)
  .pipeAll(Array.from({ length: 600 }, (_, i) => ({ key: `site/device-${i % 10}`, value: i, timestamp: i * 100 })));
await driver.endInput();

const parts = driver.outputTopic('test-means-state-parts-repartition', { keySerde: serdes.string, valueSerde: serdes.bytes }).readAll();
console.log(`600 records, ${parts.length} parts`);
for (const { key, value } of driver.outputTopic('means-a-minute', readings).readAll()) console.log(key, value);

// Prints:
// 600 records, 6 parts
// site from -40 s 99.5
// site from -20 s 199.5
// site from 0 s 299.5
// site from 20 s 399.5
// site from 40 s 499.5
