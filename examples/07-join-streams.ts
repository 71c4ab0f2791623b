// Joins two streams: `invoices` and `payments` (keys: invoice numbers) in, `invoice-states` out. An invoice that nobody pays within 30 days is told as overdue,
// once a later record of either topic shows that the time has passed. The topics must exist, and the first two must have equal partition counts.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/07-join-streams.ts
import { joinWindows, serdes, StreamsApp, StreamsBuilder } from 'millrace';

interface Invoice {
  readonly total: number;
}
interface Payment {
  readonly amount: number;
}

const day = 86_400_000;

const builder = new StreamsBuilder();
const payments = builder.stream('payments', { keySerde: serdes.string, valueSerde: serdes.json<Payment>() });
builder
  .stream('invoices', { keySerde: serdes.string, valueSerde: serdes.json<Invoice>() })
  .leftJoin(payments, ({ total }, payment): string => (payment === null ? 'overdue' : payment.amount < total ? 'paid in part' : 'paid'), {
    name: 'with-payment',
    storeName: 'invoice-payments',
    windows: joinWindows({ before: 0, after: 30 * day, grace: day }),
  })
  .to('invoice-states', { valueSerde: serdes.string });

const app = new StreamsApp(builder.build({ explicitNames: 'require' }), {
  applicationId: 'invoice-states',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
