/** Writes records with a kafkajs producer, and says how long those after the warm-up took, all acknowledged. */
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { Message } from 'kafkajs';
import { ReadArguments } from '../harness/arguments.js';
import { cpuMs, sayReport } from '../harness/side-report.js';
import { keyIndexOf, keyOf, makeValues } from '../input/record-shape.js';

/** The best of a dozen pairs from 500 to 20 000 messages a call and 1 to 8 calls at once. */
const messagesPerSend = 10_000;
const sendsInFlight = 3;

const options = new ReadArguments(process.argv.slice(2));
const [warmUp, records, topic] = [options.number('warm-up'), options.number('records'), options.text('output')];
const keys = Array.from({ length: options.number('keys') }, (_, index) => keyOf(index));
const values = makeValues().map((value) => Buffer.from(value));
const kafka = new Kafka({ clientId: 'bench-produce', brokers: options.text('bootstrap').split(','), logLevel: logLevel.ERROR });
const producer = kafka.producer({ createPartitioner: Partitioners.DefaultPartitioner, allowAutoTopicCreation: false });
await producer.connect();

await produce(0, warmUp);
const [startedAt, cpuBefore] = [performance.now(), cpuMs()];
await produce(warmUp, warmUp + records);
sayReport({ event: 'result', records, ms: performance.now() - startedAt, cpuMs: cpuMs() - cpuBefore });
await producer.disconnect();

async function produce(from: number, to: number): Promise<void> {
  const inFlight = new Set<Promise<void>>();
  for (let start = from; start < to; start += messagesPerSend) {
    const sent: Promise<void> = producer
      .send({ topic, acks: -1, messages: messagesOf(start, Math.min(start + messagesPerSend, to)) })
      .then(() => {
        inFlight.delete(sent);
      });
    inFlight.add(sent);
    if (inFlight.size >= sendsInFlight) await Promise.race(inFlight);
  }
  await Promise.all(inFlight);
}

function messagesOf(from: number, to: number): Message[] {
  const messages: Message[] = [];
  for (let i = from; i < to; i++) {
    messages.push({ key: keys[keyIndexOf(i, keys.length)] ?? '', value: values[i % values.length] ?? null, timestamp: String(Date.now()) });
  }
  return messages;
}
