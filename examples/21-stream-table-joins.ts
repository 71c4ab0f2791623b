// A stream enriched from a table, inner and left: each order gets the customer's name as it is at that moment. Runs without a broker:
//   npx tsx examples/21-stream-table-joins.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };

const builder = new StreamsBuilder();
const orders = builder.stream('orders', text);
const names = builder.table('customers', text);
orders.join(names, (order, name) => `${order} for ${name}`, { valueSerde: serdes.string }).to('known');
orders.leftJoin(names, (order, name) => `${order} for ${name ?? 'a stranger'}`, { valueSerde: serdes.string }).to('all');

await using driver = new TopologyTestDriver(builder.build());
const order = driver.inputTopic('orders', text);
const customer = driver.inputTopic('customers', text);
await order.pipe('c1', 'tea');
await customer.pipe('c1', 'Ada'); // changes of the table give no results
await order.pipe('c1', 'cake');
await customer.pipe('c1', 'Ada Lovelace');
await order.pipe('c1', 'milk');
await customer.pipe('c1', null); // deletes the row
await order.pipe('c1', 'bill');

for (const topic of ['known', 'all']) {
  for (const { value } of driver.outputTopic(topic, text).readAll()) console.log(`${topic}: ${value}`);
}

// Prints:
// known: cake for Ada
// known: milk for Ada Lovelace
// all: tea for a stranger
// all: cake for Ada
// all: milk for Ada Lovelace
// all: bill for a stranger
