import { Fetcher } from '../../src/kafka/fetcher/fetcher.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { RecordCursor } from '../../src/kafka/record-batch/record-cursor.js';
import { silentLogger } from '../../src/observability/logger.js';

/** Hands every committed record of a topic that is there now to `onRecord`, partition by partition in order. The cursor is reused. */
export async function readTopic(port: KafkaPort, topic: string, onRecord: (cursor: RecordCursor) => void): Promise<void> {
  const { topics } = await port.metadata([topic]);
  const partitions = topics.get(topic)?.partitions ?? [];
  const ends = await port.listOffsets(partitions.map(({ partition }) => ({ topic, partition, at: 'latest', isolation: 'read_committed' })));
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
