// Joins a stream with a table: `orders` (key: customer id) and `customers` in, `enriched-orders` out. The topics must exist, and `orders` and
// `customers` must have equal partition counts.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/03-enrich-with-table.ts
import { serdes, StreamsApp, StreamsBuilder } from 'millrace';

interface Order {
  readonly id: string;
  readonly total: number;
}
interface Customer {
  readonly name: string;
}

const builder = new StreamsBuilder();
const customers = builder.table('customers', {
  keySerde: serdes.string,
  valueSerde: serdes.json<Customer>(),
  materialized: { storeName: 'customers-store' },
});
builder
  .stream('orders', { keySerde: serdes.string, valueSerde: serdes.json<Order>() })
  .filter((order) => order.total > 0)
  .leftJoin(customers, (order, customer) => ({ ...order, customer: customer?.name ?? '(unknown)' }), { name: 'with-customer' })
  .to('enriched-orders', { valueSerde: serdes.json() });

const app = new StreamsApp(builder.build({ explicitNames: 'require' }), {
  applicationId: 'enrich-orders',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
