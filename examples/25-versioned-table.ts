// A versioned table knows its past: a sale is joined with the price as of the sale's own time, however late it comes. Runs without a broker:
//   npx tsx examples/25-versioned-table.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const hour = 3_600_000;

const builder = new StreamsBuilder();
const prices = builder.table('prices', { ...numbers, materialized: { storeName: 'prices-store', historyRetention: 24 * hour } });
builder
  .stream('sales', numbers)
  .join(prices, (pieces, price) => pieces * price, { valueSerde: serdes.double })
  .to('turnover');

await using driver = new TopologyTestDriver(builder.build());
const price = driver.inputTopic('prices', numbers);
const sale = driver.inputTopic('sales', numbers);
await price.pipe('tea', 2, { timestamp: 1 * hour });
await price.pipe('tea', 3, { timestamp: 5 * hour });
await sale.pipe('tea', 10, { timestamp: 6 * hour });
await sale.pipe('tea', 10, { timestamp: 2 * hour }); // late: the price was 2
await price.pipe('tea', 2.5, { timestamp: 4 * hour }); // a late row finds its place in the history
await sale.pipe('tea', 10, { timestamp: 4 * hour });

for (const { value, timestamp } of driver.outputTopic('turnover', numbers).readAll()) console.log(`at ${timestamp / hour} h: ${value}`);

// Prints:
// at 6 h: 30
// at 2 h: 20
// at 4 h: 25
