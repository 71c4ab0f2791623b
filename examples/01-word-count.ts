// Counts words: `lines` in, `word-counts` out. Run it against a broker that has both topics:
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/01-word-count.ts
import { serdes, StreamsApp, StreamsBuilder } from 'millrace';

const builder = new StreamsBuilder();
builder
  .stream('lines', { keySerde: serdes.string, valueSerde: serdes.string })
  .flatMapValues((line) => line.toLowerCase().match(/\p{L}+/gu) ?? [], { valueSerde: serdes.string })
  .groupBy((word) => word, { name: 'by-word', keySerde: serdes.string })
  .count({ name: 'count-words', materialized: { storeName: 'word-counts-store' } })
  .toStream()
  .to('word-counts');

const app = new StreamsApp(builder.build(), {
  applicationId: 'word-count',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
