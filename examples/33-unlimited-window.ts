// The unlimited window: everything from a day on, without an end. Runs without a broker:
//   npx tsx examples/33-unlimited-window.ts
import { serdes, StreamsBuilder, unlimited } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const numbers = { keySerde: serdes.string, valueSerde: serdes.double };
const text = { keySerde: serdes.string, valueSerde: serdes.string };
const opening = Date.parse('2026-01-01');

const builder = new StreamsBuilder();
builder
  .stream('visitors', numbers)
  .groupByKey()
  .windowedBy(unlimited({ start: opening }))
  .reduce((sum, visitors) => sum + visitors, { materialized: { storeName: 'visitors-store' } })
  .toStream()
  .map((sum, { key, window }) => [key, `${sum} since ${new Date(window.start).toISOString().slice(0, 10)}`], text)
  .to('visitors-in-all');

await using driver = new TopologyTestDriver(builder.build());
const visitors = driver.inputTopic('visitors', numbers);
await visitors.pipe('museum', 7, { timestamp: opening - 1 }); // before the window: in none
await visitors.pipe('museum', 100, { timestamp: opening });
await visitors.pipe('museum', 50, { timestamp: Date.parse('2031-05-01') });

for (const { key, value } of driver.outputTopic('visitors-in-all', text).readAll()) console.log(`${key}: ${value}`);

// Prints:
// museum: 100 since 2026-01-01
// museum: 150 since 2026-01-01
