// Counts what is in `page-visits` (keys: pages) now, by the hour, the last hour included, writes `visits-an-hour` and ends. Start it again and it goes on with what came since. The
// topics must exist.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/11-bounded-run.ts
import { serdes, StreamsApp, StreamsBuilder, tumbling } from 'millrace';

const builder = new StreamsBuilder();
builder
  .stream('page-visits', { keySerde: serdes.string, valueSerde: serdes.string })
  .groupByKey()
  .windowedBy(tumbling({ size: 3_600_000, grace: 60_000 }))
  .count({ emit: 'onWindowClose', materialized: { storeName: 'visits-an-hour' } })
  .toStream()
  .map((count, { key, window }): [string, number] => [`${key}@${new Date(window.start).toISOString()}`, count])
  .to('visits-an-hour', { keySerde: serdes.string, valueSerde: serdes.int32 });

const app = new StreamsApp(builder.build({ explicitNames: 'require' }), {
  applicationId: 'visits-an-hour',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
const { recordsIn, epochs } = await app.runUntilEnd();
console.log(`${recordsIn} records in ${epochs} epochs`);
