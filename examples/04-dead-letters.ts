// Goes on after bad records: `readings` in, `fahrenheit` out. What is not JSON, or no reading, goes to `readings-dead`, byte for byte, with headers
// that say where it was and why. The topics must exist.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/04-dead-letters.ts
import { serdes, StreamsApp, StreamsBuilder } from 'millrace';

const builder = new StreamsBuilder();
builder
  .stream('readings', { keySerde: serdes.string, valueSerde: serdes.json<{ readonly celsius?: unknown }>() })
  .mapValues(
    ({ celsius }) => {
      if (typeof celsius !== 'number') throw new RangeError(`celsius is ${String(celsius)}`);
      return celsius * 1.8 + 32;
    },
    { name: 'to-fahrenheit' },
  )
  .to('fahrenheit', { valueSerde: serdes.json<number>() });

const app = new StreamsApp(builder.build(), {
  applicationId: 'fahrenheit',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
  deadLetterTopic: 'readings-dead',
  deserializationHandler: 'deadLetter',
  // Only what is known to be the record's fault; anything else is a fault of the program and stops the app.
  processingHandler: (error) => (error instanceof RangeError ? 'deadLetter' : 'fail'),
});
app.on('error', (error) => {
  console.error(error);
  process.exitCode = 1;
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
