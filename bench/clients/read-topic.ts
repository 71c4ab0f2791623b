import { setTimeout as delay } from 'node:timers/promises';
import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { KafkaPort, OffsetAnswer } from '../../src/kafka/port.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { silentLogger } from '../../src/observability/logger.js';

const openTransactionMs = 30_000;
const pollMs = 10;

/**
 * Hands every committed record of a topic to `onRecord`, partition by partition in order, once none of its transactions is open: a commit is answered before
 * its marker is in every partition. The cursor is reused.
 */
export async function readTopic(port: KafkaPort, topic: string, onRecord: (cursor: RecordCursor) => void): Promise<void> {
  const { topics } = await port.metadata([topic]);
  const partitions = topics.get(topic)?.partitions.map(({ partition }) => partition) ?? [];
  const ends = await stableEnds(port, topic, partitions);
  const open = new Map(ends.filter(({ offset }) => offset > 0).map(({ partition, offset }) => [partition, offset]));
  if (open.size === 0) return;
  const cursor = new RecordCursor();
  let fetcher: Fetcher | undefined;
  await new Promise<void>((resolve, reject) => {
    const reader = (fetcher = new Fetcher(port, {
      isolation: 'read_committed',
      autoOffsetReset: () => 'earliest',
      logger: silentLogger,
      onError: reject,
      onData: (chunk) => {
        cursor.open(chunk.records, { ...chunk, isolation: 'read_committed' });
        while (cursor.next()) onRecord(cursor);
        reader.consumed(chunk.byteLength, chunk);
        if (chunk.nextOffset >= (open.get(chunk.partition) ?? 0)) open.delete(chunk.partition);
        if (open.size === 0) resolve();
      },
    }));
    for (const partition of open.keys()) reader.assign({ topic, partition }, 0);
    reader.start();
  });
  await fetcher?.stop();
}

async function stableEnds(port: KafkaPort, topic: string, partitions: readonly number[]): Promise<readonly OffsetAnswer[]> {
  const deadline = Date.now() + openTransactionMs;
  for (;;) {
    const [stable, all] = await Promise.all(
      (['read_committed', 'read_uncommitted'] as const).map((isolation) =>
        port.listOffsets(partitions.map((partition) => ({ topic, partition, at: 'latest', isolation }))),
      ),
    );
    const ends = new Map(all?.map(({ partition, offset }) => [partition, offset]));
    if (stable?.every(({ partition, offset }) => offset === ends.get(partition))) return stable;
    if (Date.now() > deadline) throw new Error(`${topic} has had an open transaction for ${openTransactionMs / 1000} s`);
    await delay(pollMs);
  }
}
