/** Reads every key and value of a topic with a kafkajs consumer, and says how long those after the warm-up took. */
import { Kafka, logLevel } from 'kafkajs';
import type { KafkaMessage } from 'kafkajs';
import { ReadArguments } from '../harness/arguments.js';
import { cpuMs, sayReport } from '../harness/side-report.js';

const options = new ReadArguments(process.argv.slice(2));
const [warmUp, records, topic] = [options.number('warm-up'), options.number('records'), options.text('input')];
const kafka = new Kafka({ clientId: 'bench-fetch', brokers: options.text('bootstrap').split(','), logLevel: logLevel.ERROR });
const consumer = kafka.consumer({ groupId: options.text('application-id') });
let [seen, checksum] = [0, 0];
let [seenAtStart, startedAt, cpuBefore] = [0, 0, 0];

await consumer.connect();
await consumer.subscribe({ topic, fromBeginning: true });
await new Promise<void>((resolve, reject) => {
  consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
  void consumer.run({
    autoCommit: false,
    // Per message, run() awaits a promise and is far slower; a batch is its fastest interface.
    eachBatch: async ({ batch }) => {
      read(batch.messages);
      if (startedAt === 0 && seen >= warmUp) [seenAtStart, startedAt, cpuBefore] = [seen, performance.now(), cpuMs()];
      if (seen < warmUp + records) return;
      sayReport({ event: 'result', records: seen - seenAtStart, ms: performance.now() - startedAt, cpuMs: cpuMs() - cpuBefore });
      resolve();
    },
  });
});
await consumer.disconnect();
process.exit(checksum === 0 ? 1 : 0);

function read(messages: readonly KafkaMessage[]): void {
  for (const { key, value } of messages) {
    if (key === null || value === null) continue;
    checksum = (checksum + (key.at(-1) ?? 0) + (value.at(-1) ?? 0) + key.length + value.length) | 0;
    seen++;
  }
}
