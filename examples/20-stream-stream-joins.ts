// Two streams joined in a window, inner, left and outer: which clicks followed which ad within a minute. Runs without a broker:
//   npx tsx examples/20-stream-stream-joins.ts
import { joinWindows, serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const within = { windows: joinWindows({ before: 0, after: 60_000 }), valueSerde: serdes.string };

const builder = new StreamsBuilder();
const ads = builder.stream('ads', text);
const clicks = builder.stream('clicks', text);
ads.join(clicks, (ad, click) => `${ad} + ${click}`, within).to('inner');
ads.leftJoin(clicks, (ad, click) => `${ad} + ${click ?? 'nothing'}`, within).to('left');
ads.outerJoin(clicks, (ad, click) => `${ad ?? 'nothing'} + ${click ?? 'nothing'}`, within).to('outer');

await using driver = new TopologyTestDriver(builder.build());
const ad = driver.inputTopic('ads', text);
const click = driver.inputTopic('clicks', text);
await ad.pipe('ada', 'shoes', { timestamp: 0 });
await click.pipe('ada', 'buy', { timestamp: 60_000 }); // the last millisecond of the window
await ad.pipe('bob', 'hats', { timestamp: 70_000 });
await click.pipe('eve', 'look', { timestamp: 80_000 });
// Time moves with records: this one shows that nobody clicked on bob's ad, and that no ad came before eve's click.
await ad.pipe('cat', 'milk', { timestamp: 200_000 });

for (const topic of ['inner', 'left', 'outer']) {
  for (const { key, value, timestamp } of driver.outputTopic(topic, text).readAll())
    console.log(`${topic}: ${key} ${value} at ${timestamp}`);
}

// Prints:
// inner: ada shoes + buy at 60000
// left: ada shoes + buy at 60000
// left: bob hats + nothing at 70000
// outer: ada shoes + buy at 60000
// outer: bob hats + nothing at 70000
// outer: eve nothing + look at 80000
