/** One instance of a counting app with its query server, in a process that the test may kill. */
import { serdes, StreamsApp, StreamsBuilder, type StreamsConfig } from 'millrace';
import { createQueryServer } from 'millrace/query-server';

const { topic, applicationId, port, stateDir, groupProtocol } = JSON.parse(process.env['QUERY_INSTANCE'] ?? '') as {
  readonly topic: string;
  readonly applicationId: string;
  readonly port: number;
  readonly stateDir: string;
  readonly groupProtocol: 'classic' | 'streams';
};
/** The broker has that of a streams group. */
const session: Partial<StreamsConfig> = groupProtocol === 'classic' ? { sessionTimeout: 6000 } : {};

const builder = new StreamsBuilder();
builder
  .stream(topic, { keySerde: serdes.string, valueSerde: serdes.string })
  .groupByKey()
  .count({ materialized: { storeName: 'counts' } });

const app = new StreamsApp(builder.build(), {
  applicationId,
  stateDir,
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? '',
  applicationServer: `127.0.0.1:${port}`,
  groupProtocol,
  ...session,
});
await createQueryServer(app, { port, forwardTimeout: 1000 });
// Without its test the process has no reason to live.
process.on('disconnect', () => process.exit(1));
await app.start();
