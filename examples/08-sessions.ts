// Session windows: `page-views` (key: visitor, value: page) in, `visits` out, one record a visit, when half an hour without a view has ended it. Time moves with the
// records, so a visit is told when a later view shows that it is over. The topics must exist.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/08-sessions.ts
import { serdes, sessions, StreamsApp, StreamsBuilder } from 'millrace';

interface Visit {
  readonly from: number;
  readonly to: number;
  readonly pages: readonly string[];
}

const minute = 60_000;

const builder = new StreamsBuilder();
builder
  .stream('page-views', { keySerde: serdes.string, valueSerde: serdes.string })
  .groupByKey()
  .windowedBy(sessions({ gap: 30 * minute, grace: minute }))
  .aggregate(
    (): readonly string[] => [],
    (pages, page) => [...pages, page],
    (earlier, later) => [...earlier, ...later],
    {
      name: 'collect-pages',
      emit: 'onWindowClose',
      materialized: { storeName: 'visits-store', valueSerde: serdes.json<readonly string[]>() },
    },
  )
  .toStream({ name: 'finished-visits' })
  .map((pages, { key, window }) => [key, { from: window.start, to: window.end, pages }] as const, {
    keySerde: serdes.string,
    valueSerde: serdes.json<Visit>(),
  })
  .to('visits');

const app = new StreamsApp(builder.build({ explicitNames: 'require' }), {
  applicationId: 'visits',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
