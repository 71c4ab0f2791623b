// Stores read from outside: by key, by range, by window, as of a time, and partition by partition.
import { queries, serdes, StreamsBuilder, tumbling } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

const text = { keySerde: serdes.string, valueSerde: serdes.string };
const minute = 60_000;

const builder = new StreamsBuilder();
const orders = builder.stream('orders', text).groupByKey();
orders.count({ materialized: { storeName: 'orders-by-customer' } });
orders.windowedBy(tumbling({ size: minute })).count({ materialized: { storeName: 'orders-by-minute', retention: 60 * minute } });
builder.table('addresses', { ...text, materialized: { storeName: 'addresses', historyRetention: 60 * minute } });

// The driver's `view` and `query` are the app's `store` and `query`.
await using driver = new TopologyTestDriver(builder.build());
const order = driver.inputTopic('orders', text);
const address = driver.inputTopic('addresses', text);
await order.pipe('ann', 'tea', { timestamp: 0 });
await order.pipe('bob', 'milk', { timestamp: 1000 });
await order.pipe('ann', 'rice', { timestamp: minute });
await address.pipe('ann', 'Paris', { timestamp: 0 });
await address.pipe('ann', 'Rome', { timestamp: 10 * minute });

const counts = await driver.view<string, number>('orders-by-customer');
console.log('ann ordered', await counts.get('ann'), 'times');
for await (const { key, value } of counts.range({ from: 'b' })) console.log(`from b on: ${key} ${value}`);

const perMinute = await driver.view<string, number>('orders-by-minute', { kind: 'window' });
for await (const { start, value } of perMinute.fetch('ann')) console.log(`ann in minute ${start / minute}: ${value}`);

const addresses = await driver.view<string, string>('addresses', { kind: 'versioned' });
console.log('ann lived in', (await addresses.get('ann', { asOf: 5 * minute }))?.value);

const result = await driver.query({ store: 'orders-by-customer', query: queries.key<string, number>('bob') });
console.log('bob ordered', result.only, 'times, as of', JSON.stringify(result.position));

// Prints:
// ann ordered 2 times
// from b on: bob 1
// ann in minute 0: 1
// ann in minute 1: 1
// ann lived in Paris
// bob ordered 1 times, as of {"orders":{"0":2}}
