// Totals of a day, told once: in batch mode a table tells each key at the end of the input, and not with every record. Runs without a broker:
//   npx tsx examples/39-batch-mode.ts
// On a broker it is an app that ends by itself: await new StreamsApp(topology('batch'), { … }).runUntilEnd().
import { serdes, StreamsBuilder, type Topology } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const amounts = { keySerde: serdes.string, valueSerde: serdes.double };

function topology(mode: 'streaming' | 'batch'): Topology {
  const builder = new StreamsBuilder();
  builder
    .stream('sales', amounts)
    .groupByKey()
    .reduce((total, amount) => total + amount, { materialized: { storeName: 'totals' } })
    .toStream({ name: 'day-totals' })
    .to('totals', amounts);
  return builder.build({ mode });
}

for (const mode of ['streaming', 'batch'] as const) {
  await using driver = new TopologyTestDriver(topology(mode), { emit: 'onUpdate' });
  const sale = driver.inputTopic('sales', amounts);
  const totals = driver.outputTopic('totals', amounts);
  for (const [shop, amount] of [
    ['north', 10],
    ['south', 7],
    ['north', 5],
  ] as const) {
    await sale.pipe(shop, amount);
  }
  const told = totals.size;
  await driver.endInput();
  const lines = totals.readAll().map(({ key, value }) => `${key} ${value}`);
  console.log(`${mode}: ${told} before the end; ${lines.join(', ')}`);
}

// Prints:
// streaming: 3 before the end; north 10, south 7, north 15
// batch: 0 before the end; north 15, south 7
