/**
 * What a Node service without a streams library does: a kafkajs consumer whose every batch becomes one transaction of a kafkajs producer, offsets included.
 * The counts stand in memory only: they are wrong after the first restart, which a measurement does not see.
 */
import { Kafka, logLevel, Partitioners } from 'kafkajs';
import type { KafkaMessage, Message } from 'kafkajs';
import { ReadArguments } from '../harness/arguments.js';
import { endOfInput } from '../harness/end-of-input.js';
import { cpuMs, sayReport } from '../harness/side-report.js';

const options = new ReadArguments(process.argv.slice(2));
const [groupId, topic] = [options.text('application-id'), options.text('input')];
const kafka = new Kafka({ clientId: groupId, brokers: options.text('bootstrap').split(','), logLevel: logLevel.ERROR });
const consumer = kafka.consumer({ groupId });
const producer = kafka.producer({
  transactionalId: groupId,
  maxInFlightRequests: 1,
  idempotent: true,
  createPartitioner: Partitioners.DefaultPartitioner,
});
const counts = new Map<string, number>();
const answers = options.text('topology') === 'count' ? countsOf : upperCaseOf;
let processed = 0;

await Promise.all([consumer.connect(), producer.connect()]);
await consumer.subscribe({ topic, fromBeginning: true });
consumer.on(consumer.events.CRASH, ({ payload }) => {
  console.error(payload.error);
  process.exit(1);
});
setInterval(() => sayReport({ event: 'progress', processed, cpuMs: cpuMs() }), 10);
await consumer.run({
  autoCommit: false,
  eachBatchAutoResolve: false,
  eachBatch: async (payload) => {
    const { batch } = payload;
    const transaction = await producer.transaction();
    await transaction.send({ topic: options.text('output'), messages: answers(batch.messages) });
    const next = String(BigInt(batch.lastOffset()) + 1n);
    await transaction.sendOffsets({
      consumerGroupId: groupId,
      topics: [{ topic, partitions: [{ partition: batch.partition, offset: next }] }],
    });
    await transaction.commit();
    payload.resolveOffset(batch.lastOffset());
    processed += batch.messages.length;
  },
});
await endOfInput();
await consumer.disconnect();
await producer.disconnect();
process.exit(0);

function upperCaseOf(messages: readonly KafkaMessage[]): Message[] {
  return messages.map(({ key, value }) => ({ key, value: value?.toString().toUpperCase() ?? null }));
}

/** The last count of each key of the batch. */
function countsOf(messages: readonly KafkaMessage[]): Message[] {
  const changed = new Set<string>();
  for (const { key } of messages) {
    const text = key?.toString() ?? '';
    counts.set(text, (counts.get(text) ?? 0) + 1);
    changed.add(text);
  }
  return Array.from(changed, (key) => {
    const value = Buffer.alloc(8);
    value.writeBigInt64BE(BigInt(counts.get(key) ?? 0));
    return { key, value };
  });
}
