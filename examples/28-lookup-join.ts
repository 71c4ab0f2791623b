// A lookup join: orders get the name of their product from a service, which is asked once for each product in ten minutes. What it has answered is state, so a crash or a move asks
// nobody again. Runs without a broker:
//   npx tsx examples/28-lookup-join.ts
import { serdes, StreamsBuilder } from 'millrace';
import { TopologyTestDriver } from 'millrace/testing';

interface Order {
  readonly product: string;
  readonly quantity: number;
}

/** Stands in for a service. */
async function productName(id: string): Promise<string | null> {
  console.log(`asked for ${id}`);
  return { p1: 'hammer', p2: 'nail' }[id] ?? null;
}

const orderSerdes = { keySerde: serdes.string, valueSerde: serdes.json<Order>() };
const text = { keySerde: serdes.string, valueSerde: serdes.string };

const builder = new StreamsBuilder();
builder
  .stream('orders', orderSerdes)
  .leftLookupJoin(productName, ({ quantity }, name) => `${quantity} × ${name ?? 'unknown product'}`, {
    name: 'with-product',
    keyOf: (order) => order.product,
    cache: { ttl: 600_000, missingTtl: 10_000, valueSerde: serdes.string },
    timeout: 2_000,
    retry: { attempts: 3 },
    valueSerde: serdes.string,
  })
  .to('order-lines');

await using driver = new TopologyTestDriver(builder.build());
const orders = driver.inputTopic('orders', orderSerdes);
const lines = driver.outputTopic('order-lines', text);

// Two orders at once share a call.
await orders.pipeAll([
  { key: 'o1', value: { product: 'p1', quantity: 2 }, timestamp: 1 },
  { key: 'o2', value: { product: 'p1', quantity: 3 }, timestamp: 2 },
  { key: 'o3', value: { product: 'p9', quantity: 1 }, timestamp: 3 },
]);
await driver.advanceWallClock(10_000);
await orders.pipe('o4', { product: 'p1', quantity: 4 }); // still known
await orders.pipe('o5', { product: 'p9', quantity: 1 }); // that there is none is known for ten seconds
await driver.advanceWallClock(590_000);
await orders.pipe('o6', { product: 'p1', quantity: 5 }); // its time is over

for (const { key, value } of lines.readAll()) console.log(key, value);

// Prints:
// asked for p1
// asked for p9
// asked for p9
// asked for p1
// o1 2 × hammer
// o2 3 × hammer
// o3 1 × unknown product
// o4 4 × hammer
// o5 1 × unknown product
// o6 5 × hammer
