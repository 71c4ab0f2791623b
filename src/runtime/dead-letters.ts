import type { Header } from '../bytes/headers.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import type { OutputCollector } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/**
 * Writes failed input records, byte for byte, to the dead-letter topic as part of the epoch in work, so that under exactly-once a dead letter appears
 * once and only if the epoch commits. Headers follow Kafka Streams' (KIP-1034); two of our own say which node of which task failed.
 *
 * What fails outside of any input record (a timer, results sent at a commit), and a record that had waited for another, has no bytes: its dead letter has neither key nor value, and a
 * header with the key as text.
 */
/** Where it failed, and on what. */
export interface FailedAt {
  readonly node: string;
  readonly key: unknown;
  /** It is not the record in work that failed: its bytes must not be taken for those that did. */
  readonly hasNoBytes?: boolean | undefined;
}

export class DeadLetters {
  constructor(
    private readonly topic: string | null,
    private readonly output: OutputCollector,
    private readonly taskId: string,
  ) {}

  async write(record: TaskRecord, error: Error, { node, key, hasNoBytes = false }: FailedAt): Promise<void> {
    const { topic } = this;
    if (topic === null)
      throw new MillraceError('MILL_CONFIG_INVALID', 'a handler answered "deadLetter" but no deadLetterTopic is set', { cause: error });
    const partitions = await this.output.partitionCount(topic);
    record.mustBeOpen();
    const source = hasNoBytes ? null : record.source;
    const hasKey = source !== null && source.keyStart >= 0;
    const partition = hasKey
      ? partitionForKey(source.buffer, source.keyStart, source.keyEnd, partitions)
      : Math.max(0, record.partition) % partitions;
    const append = (stackChars: number): void => {
      const headers = [
        ...(source?.headers() ?? []),
        ...errorHeaders(record, error, stackChars),
        ...this.placeHeaders(node, source === null ? key : undefined),
      ];
      this.output
        .builder(topic, partition)
        .appendRaw(
          Math.max(0, record.timestamp),
          hasKey ? source.buffer : null,
          source?.keyStart ?? 0,
          source?.keyEnd ?? 0,
          source !== null && source.valueStart >= 0 ? source.buffer : null,
          source?.valueStart ?? 0,
          source?.valueEnd ?? 0,
          headers,
        );
    };
    try {
      append(maxStackChars);
    } catch (tooLarge) {
      if (!isTooLarge(tooLarge)) throw tooLarge;
      this.appendWithoutStack(append, record);
    }
  }

  /** A record near the topic's limit has no room for a stack. */
  private appendWithoutStack(append: (stackChars: number) => void, { topic, partition, offset }: TaskRecord): void {
    try {
      append(0);
    } catch (cause) {
      throw new MillraceError(
        'MILL_RECORD_TOO_LARGE',
        `the record of ${topic}-${partition} at offset ${offset} does not fit into the dead-letter topic ${this.topic}: raise its max.message.bytes above that of ${topic}`,
        { cause, details: { topic, partition, offset, deadLetterTopic: this.topic } },
      );
    }
  }

  private placeHeaders(node: string, key: unknown): Header[] {
    const headers = [text('__millrace.errors.node', node), text('__millrace.errors.task', this.taskId)];
    if (key !== undefined && key !== null) headers.push(text('__millrace.errors.key', shown(key)));
    return headers;
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof MillraceError && error.code === 'MILL_RECORD_TOO_LARGE';
}

function errorHeaders(record: TaskRecord, error: Error, stackChars: number): Header[] {
  const cause = error.cause instanceof Error ? error.cause : error;
  return [
    text('__streams.errors.exception', cause.name),
    text('__streams.errors.stacktrace', (cause.stack ?? '').slice(0, stackChars)),
    text('__streams.errors.message', cause.message.slice(0, maxMessageChars)),
    text('__streams.errors.topic', record.topic ?? ''),
    text('__streams.errors.partition', String(record.partition)),
    text('__streams.errors.offset', String(record.offset)),
  ];
}

function text(key: string, value: string): Header {
  return { key, value: Buffer.from(value) };
}

function shown(key: unknown): string {
  try {
    return String(key).slice(0, maxMessageChars);
  } catch {
    return '(a key without a text)';
  }
}

/** Keep a dead letter near the size of the record it holds. */
const maxStackChars = 4096;
const maxMessageChars = 1024;
