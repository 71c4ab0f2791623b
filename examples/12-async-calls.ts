// Looks up the exchange rate of each payment, eight look-ups at a time: `foreign-payments` (keys: accounts) in, `payments-in-euros` out, in the order of the payments. A
// look-up that fails is repeated; a currency that nobody knows goes to `unknown-currencies`. The topics must exist.
//   KAFKA_BROKERS=localhost:9092 npx tsx examples/12-async-calls.ts
import { setTimeout as pause } from 'node:timers/promises';
import { serdes, StreamsApp, StreamsBuilder } from 'millrace';

interface Payment {
  readonly amount: number;
  readonly currency: string;
}

class UnknownCurrency extends Error {}

/** Stands in for a service: it takes its time, and now and then it is busy. */
async function rateOf(currency: string, signal: AbortSignal): Promise<number> {
  await pause(20 + Math.random() * 80, undefined, { signal });
  if (Math.random() < 0.2) throw new Error('busy');
  const rate = { EUR: 1, USD: 0.5, GBP: 1.25 }[currency];
  if (rate === undefined) throw new UnknownCurrency(`no rate for ${currency}`);
  return rate;
}

const builder = new StreamsBuilder();
builder
  .stream('foreign-payments', { keySerde: serdes.string, valueSerde: serdes.json<Payment>() })
  .mapValuesAsync(async ({ amount, currency }, _account, { signal }) => amount * (await rateOf(currency, signal)), {
    name: 'to-euros',
    concurrency: 8,
    timeout: 1_000,
    retry: { attempts: 10, backoff: 50, when: (error) => !(error instanceof UnknownCurrency) },
  })
  .to('payments-in-euros', { valueSerde: serdes.double });

const app = new StreamsApp(builder.build({ explicitNames: 'require' }), {
  applicationId: 'payments-in-euros',
  bootstrapServers: process.env['KAFKA_BROKERS'] ?? 'localhost:9092',
  processingHandler: 'deadLetter',
  deadLetterTopic: 'unknown-currencies',
});
process.once('SIGINT', () => void app.close().catch(console.error));
process.once('SIGTERM', () => void app.close().catch(console.error));
await app.start();
