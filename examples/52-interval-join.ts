// An interval join: each pair of records of one key whose event times are near enough, with watermarks in place of grace. Runs without a broker:
//   npx tsx examples/52-interval-join.ts
import { serdes, StreamsBuilder, watermarks } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const source = { ...text, watermarks: watermarks.boundedOutOfOrderness(1_000) };

const builder = new StreamsBuilder();
const impressions = builder.stream('impressions', source).keyBy();
const clicks = builder.stream('clicks', source).keyBy();
impressions
  .intervalJoin(clicks, { lower: 0, upper: 10_000 }, (ad, click) => `${ad} → ${click}`, { name: 'clicked', valueSerde: serdes.string })
  .to('clicked-ads');

await using driver = new TopologyTestDriver(builder.build());
const impression = driver.inputTopic('impressions', text);
const click = driver.inputTopic('clicks', text);
await impression.pipe('ada', 'shoes', { timestamp: 0 });
await click.pipe('ada', 'first', { timestamp: 10_000 });
await click.pipe('ada', 'second', { timestamp: 10_001 }); // one millisecond too far
await impression.pipe('ada', 'hats', { timestamp: 9_500 });

for (const { value, timestamp } of driver.outputTopic('clicked-ads', text).readAll()) console.log(`${value} at ${timestamp}`);

// Prints:
// shoes → first at 10000
// hats → first at 10000
// hats → second at 10001
