// Counts words and answers over HTTP how often each came; start it twice with different ports, and either answers for both:
//   KAFKA_BROKERS=localhost:9092 PORT=8080 npx tsx examples/10-query-server.ts
//   curl 'http://127.0.0.1:8080/stores/words/key?key=tea'
import { serdes, StreamsApp, StreamsBuilder } from 'millrace';
import { createQueryServer } from 'millrace/query-server';

const port = Number(process.env['PORT'] ?? 8080);

const builder = new StreamsBuilder();
builder
  .stream('texts', { keySerde: serdes.string, valueSerde: serdes.string })
  .flatMapValues((line) => line.toLowerCase().match(/\p{L}+/gu) ?? [], { valueSerde: serdes.string })
  .groupBy((word) => word, { name: 'by-word', keySerde: serdes.string })
  .count({ materialized: { storeName: 'words' } });

const app = new StreamsApp(builder.build(), {
  applicationId: 'word-queries',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
  applicationServer: `127.0.0.1:${port}`,
});
const server = await createQueryServer(app, { port });
const stop = (): void =>
  void server
    .close()
    .then(() => app.close())
    .catch(console.error);
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
await app.start();
