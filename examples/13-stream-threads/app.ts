// Computes on several cores: as many stream threads as there are, each with tasks of its own.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/13-stream-threads/app.ts
import { availableParallelism } from 'node:os';
import { consoleLogger, StreamsApp } from 'millrace';

const app = await StreamsApp.fromModule(new URL('./topology.ts', import.meta.url), {
  applicationId: 'fingerprints',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
  threads: Math.max(2, availableParallelism()),
  logger: consoleLogger('warn'),
});
// A thread that dies is begun anew, after pauses as the option `restart` says.
app.setUncaughtErrorHandler(() => 'replaceThread');
const stop = (): void => void app.close().catch(console.error);
process.once('SIGINT', stop);
process.once('SIGTERM', stop);
await app.start();

/** A view reads the stores of all threads. */
const report = setInterval(() => {
  if (app.state !== 'running') return;
  const threads = Object.entries(app.metrics().threads).map(([index, { group }]) => `${index}: ${group.ownedTasks.join(' ')}`);
  app
    .store<string, number>('documents-of')
    .get('ada')
    .then((count) => console.log(`ada: ${count ?? 0} documents; tasks by thread ${threads.join(', ')}`))
    .catch((error: unknown) => console.log(String(error)));
}, 1000);
report.unref();
