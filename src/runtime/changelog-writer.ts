import { MillraceError } from '../errors.js';
import type { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import type { ChangelogSink } from '../stores/store-environment.js';
import type { OutputCollector } from './task-environment.js';

/** Of a key's bytes, as they are shown. */
const shownKeyBytes = 100;

/** Writes changelog records into the task's own partition of each changelog topic, whatever the key (windowed keys too). */
export class ChangelogWriter implements ChangelogSink {
  private readonly builders = new Map<string, RecordBatchBuilder>();

  /** @param topics changelog by store; what is not in it is not logged */
  constructor(
    private readonly topics: ReadonlyMap<string, string>,
    private readonly partition: number,
    private readonly output: Pick<OutputCollector, 'builder'>,
  ) {}

  /** @throws MILL_RECORD_TOO_LARGE that names store, topic and key */
  append(
    store: string,
    timestamp: number,
    key: Buffer,
    keyStart: number,
    keyEnd: number,
    value: Buffer | null,
    valueStart: number,
    valueEnd: number,
  ): void {
    try {
      this.builder(store)?.appendRaw(Math.max(0, timestamp), key, keyStart, keyEnd, value, valueStart, valueEnd, null);
    } catch (error) {
      throw this.named(error, store, key.toString('latin1', keyStart, Math.min(keyEnd, keyStart + shownKeyBytes)));
    }
  }

  private builder(store: string): RecordBatchBuilder | undefined {
    const known = this.builders.get(store);
    if (known !== undefined) return known;
    const topic = this.topics.get(store);
    if (topic === undefined) return undefined;
    const fresh = this.output.builder(topic, this.partition);
    this.builders.set(store, fresh);
    return fresh;
  }

  private named(error: unknown, store: string, key: string): unknown {
    if (!(error instanceof MillraceError) || error.code !== 'MILL_RECORD_TOO_LARGE') return error;
    const topic = this.topics.get(store) ?? '';
    const { recordBytes, maxBatchBytes } = error.details as { readonly recordBytes?: number; readonly maxBatchBytes?: number };
    return new MillraceError(
      'MILL_RECORD_TOO_LARGE',
      `A row of store ${store} has ${recordBytes} bytes, and its changelog ${topic} takes batches of ${maxBatchBytes}: keep less in one value, or give the topic a higher max.message.bytes. Its key begins with ${JSON.stringify(key)}.`,
      { cause: error, details: { ...error.details, store, topic, key } },
    );
  }
}
