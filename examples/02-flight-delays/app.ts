// One instance of the flight app. Start it as often as you like: the instances share the work.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/02-flight-delays/app.ts
import { StreamsApp } from 'millrace';
import { flightDelays } from './topology.js';

const stateDir = process.env['STATE_DIR'];
const app = new StreamsApp(flightDelays(), {
  applicationId: process.env['APPLICATION_ID'] ?? 'flight-delays',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
  ...(stateDir === undefined ? {} : { stateDir }),
});

app.on('state', (state) => {
  // The demo listens; without a parent process it is told to the terminal.
  if (process.send === undefined) console.log(`state: ${state}`);
  else process.send({ kind: 'state', state, metrics: app.metrics() });
});
app.on('error', (error) => {
  console.error(error);
  process.exitCode = 1;
});

for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    void app.close().finally(() => {
      process.send?.({ kind: 'closed', metrics: app.metrics() });
      if (process.connected) process.disconnect();
    });
  });
}
await app.start();
