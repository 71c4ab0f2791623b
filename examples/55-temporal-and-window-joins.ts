// Two joins by watermarks: orders with the exchange rate of their own time, and the clicks of each minute's views. Runs without a broker:
//   npx tsx examples/55-temporal-and-window-joins.ts
import { serdes, StreamsBuilder, tumblingEventTime, watermarks } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const number = { keySerde: serdes.string, valueSerde: serdes.double };
const ordered = { watermarks: watermarks.monotonous() };

const builder = new StreamsBuilder();
const orders = builder.stream('orders', { ...number, ...ordered }).keyBy();
const rates = builder.stream('rates', { ...number, ...ordered }).keyBy();
orders.temporalJoin(rates, (amount, rate) => `${amount} × ${rate}`, { name: 'converted', valueSerde: serdes.string }).to('converted');

const views = builder.stream('views', { ...text, ...ordered }).keyBy();
const clicks = builder.stream('clicks', { ...text, ...ordered }).keyBy();
views
  .windowJoin(clicks, tumblingEventTime({ size: 60_000 }), (page, target) => `${page} → ${target ?? 'nowhere'}`, {
    kind: 'left',
    name: 'clicked',
    valueSerde: serdes.string,
  })
  .map((line, { key, window }) => [`${key} in minute ${window.start / 60_000}`, line], text)
  .to('clicked');

await using driver = new TopologyTestDriver(builder.build());
const [order, rate] = [driver.inputTopic('orders', number), driver.inputTopic('rates', number)];
await rate.pipe('usd', 2, { timestamp: 0 });
await order.pipe('usd', 10, { timestamp: 1_000 });
await order.pipe('usd', 20, { timestamp: 5_000 });
await rate.pipe('usd', 3, { timestamp: 4_000 });
await rate.pipe('usd', 4, { timestamp: 9_000 });
await order.pipe('usd', 30, { timestamp: 9_000 }); // waits: nobody knows yet whether there is another rate

const [view, click] = [driver.inputTopic('views', text), driver.inputTopic('clicks', text)];
await view.pipe('ada', 'home', { timestamp: 10_000 });
await click.pipe('ada', 'cart', { timestamp: 30_000 });
await view.pipe('ada', 'help', { timestamp: 70_000 });
await view.pipe('ada', 'bye', { timestamp: 180_000 });
await click.pipe('ada', 'logo', { timestamp: 180_000 });

for (const topic of ['converted', 'clicked'])
  for (const { key, value } of driver.outputTopic(topic, text).readAll()) console.log(`${key}: ${value}`);

// Prints:
// usd: 10 × 2
// usd: 20 × 3
// ada in minute 0: home → cart
// ada in minute 1: help → nowhere
