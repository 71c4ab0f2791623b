import type { Header } from '../bytes/headers.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import type { TaskRecord } from './task-record.js';
import type { OutputCollector } from './task-environment.js';

/**
 * Writes failed input records, byte for byte, to the dead-letter topic as part of the epoch in work, so that under exactly-once a dead letter appears
 * once and only if the epoch commits. Headers follow Kafka Streams' (KIP-1034).
 */
export class DeadLetters {
  constructor(
    private readonly topic: string | null,
    private readonly output: OutputCollector,
  ) {}

  async write(record: TaskRecord, error: Error): Promise<void> {
    const { topic } = this;
    if (topic === null)
      throw new MillraceError('MILL_CONFIG_INVALID', 'a handler answered "deadLetter" but no deadLetterTopic is set', { cause: error });
    const source = record.source;
    if (source === null)
      throw new MillraceError('MILL_PROCESSING', 'a failure outside any input record can’t be dead-lettered', { cause: error });
    const partitions = await this.output.partitionCount(topic);
    record.mustBeOpen();
    const hasKey = source.keyStart >= 0;
    const partition = hasKey
      ? partitionForKey(source.buffer, source.keyStart, source.keyEnd, partitions)
      : Math.max(0, record.partition) % partitions;
    const append = (headers: readonly Header[]): void => {
      this.output
        .builder(topic, partition)
        .appendRaw(
          Math.max(0, record.timestamp),
          hasKey ? source.buffer : null,
          source.keyStart,
          source.keyEnd,
          source.valueStart >= 0 ? source.buffer : null,
          source.valueStart,
          source.valueEnd,
          headers,
        );
    };
    try {
      append([...source.headers(), ...errorHeaders(record, error, maxStackChars)]);
    } catch (tooLarge) {
      if (!isTooLarge(tooLarge)) throw tooLarge;
      this.appendWithoutStack(append, record, error);
    }
  }

  /** A record near the topic's limit has no room for a stack. */
  private appendWithoutStack(append: (headers: readonly Header[]) => void, record: TaskRecord, error: Error): void {
    const { topic, partition, offset } = record;
    try {
      append([...(record.source?.headers() ?? []), ...errorHeaders(record, error, 0)]);
    } catch (cause) {
      throw new MillraceError(
        'MILL_RECORD_TOO_LARGE',
        `the record of ${topic}-${partition} at offset ${offset} does not fit into the dead-letter topic ${this.topic}: raise its max.message.bytes above that of ${topic}`,
        { cause, details: { topic, partition, offset, deadLetterTopic: this.topic } },
      );
    }
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof MillraceError && error.code === 'MILL_RECORD_TOO_LARGE';
}

function errorHeaders(record: TaskRecord, error: Error, stackChars: number): Header[] {
  const cause = error.cause instanceof Error ? error.cause : error;
  const text = (key: string, value: string): Header => ({ key: `__streams.errors.${key}`, value: Buffer.from(value) });
  return [
    text('exception', cause.name),
    text('stacktrace', (cause.stack ?? '').slice(0, stackChars)),
    text('message', cause.message.slice(0, maxMessageChars)),
    text('topic', record.topic ?? ''),
    text('partition', String(record.partition)),
    text('offset', String(record.offset)),
  ];
}

/** Keep a dead letter near the size of the record it holds. */
const maxStackChars = 4096;
const maxMessageChars = 1024;
