// Event time with watermarks: a window closes when the watermark has passed it, late records correct the result, and what comes later still goes aside. Runs without a broker:
//   npx tsx examples/50-event-time-windows.ts
import { serdes, StreamsBuilder, tumblingEventTime, watermarks } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const text = { keySerde: serdes.string, valueSerde: serdes.string };
const second = 1_000;

const builder = new StreamsBuilder();
const { results, late } = builder
  .stream('readings', { ...numbers, watermarks: watermarks.boundedOutOfOrderness(5 * second) })
  .keyBy()
  .window(tumblingEventTime({ size: 60 * second }), { allowedLateness: 60 * second })
  .aggregate(
    { initial: () => 0, add: (sum, value: number) => sum + value, result: (sum) => sum },
    {
      name: 'sums',
      accumulatorSerde: serdes.double,
      sideOutputLate: true,
      apply: (_key, sum, { window, revision }) => `${window.start / second} s: ${sum}, revision ${revision}`,
    },
  );
results.map((line, { key }) => [key, line], text).to('sums');
late.to('too-late', numbers);

await using driver = new TopologyTestDriver(builder.build());
const reading = driver.inputTopic('readings', numbers);
await reading.pipe('roof', 1, { timestamp: 10 * second });
await reading.pipe('roof', 2, { timestamp: 64 * second }); // the watermark is 5 s behind: the first minute is open
await reading.pipe('roof', 3, { timestamp: 58 * second });
await reading.pipe('roof', 4, { timestamp: 70 * second }); // closes it
await reading.pipe('roof', 5, { timestamp: 30 * second }); // late, and allowed: a second revision
await reading.pipe('roof', 6, { timestamp: 300 * second });
await reading.pipe('roof', 7, { timestamp: 30 * second }); // too late for that

for (const { value } of driver.outputTopic('sums', text).readAll()) console.log(value);
for (const { value } of driver.outputTopic('too-late', numbers).readAll()) console.log(`too late: ${value}`);

// Prints:
// 0 s: 4, revision 1
// 0 s: 9, revision 2
// 60 s: 6, revision 1
// too late: 7
