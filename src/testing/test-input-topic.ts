import { headersFault, noHeaders, type Headers } from '../bytes/headers.js';
import { isBytes } from '../bytes/is-bytes.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import { anything, list, requireArgument, requireOptions, type ShapeOf } from '../errors/checked-options.js';
import type { Serde } from '../serdes/serde.js';
import type { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import { serialized } from '../serdes/serialized.js';

/** What a record has besides key and value. */
export interface PipeOptions {
  /** Milliseconds since the epoch. Default: the driver's wall clock. */
  readonly timestamp?: number;
  /** Default: none. */
  readonly headers?: Headers;
  /** Default: by the key, as Kafka's default partitioner does; 0 without a key. */
  readonly partition?: number;
}

/** What an input topic asks of the driver, or the cluster. */
export interface InputPort {
  partitions(topic: string): number;
  builder(topic: string, partition: number): RecordBatchBuilder;
  wallClock(): number;
  /** Lets `append` write the record, then processes it. */
  process(append: () => void): Promise<void>;
}

/** Writes records into a topic that the topology reads. Made by `TopologyTestDriver.inputTopic` and `TestKafka.inputTopic`. */
export class TestInputTopic<K, V> {
  private prepared: Promise<unknown> | null = null;

  /** @internal */
  constructor(
    readonly name: string,
    private readonly keySerde: Serde<K>,
    private readonly valueSerde: Serde<V>,
    private readonly port: InputPort,
  ) {}

  /**
   * Writes one record. The test driver processes it to the end, async user functions and repartition topics included; apps on `inMemoryKafka` get to it soon.
   *
   * @throws what the error policy fails on: MILL_DESERIALIZATION, MILL_PROCESSING, MILL_PRODUCTION; MILL_INVALID_TIMESTAMP; MILL_SERDE when a serde gives no bytes; MILL_CONFIG_INVALID
   * for wrong options and headers
   */
  async pipe(key: K | null, value: V | null, options: PipeOptions = {}): Promise<void> {
    requireOptions('pipe', options, shape, 'MILL_CONFIG_INVALID');
    await this.pipeAll([{ ...options, key, value }]);
  }

  /**
   * Writes all the records first and then processes them, in one commit: calls of asynchronous operators run side by side as they would in an app.
   *
   * @throws as `pipe`
   */
  async pipeAll(records: readonly (PipeOptions & { readonly key: K | null; readonly value: V | null })[]): Promise<void> {
    for (const record of records) requireOptions('pipeAll', record, { ...shape, key: anything, value: anything }, 'MILL_CONFIG_INVALID');
    await this.prepare();
    const written = records.map(({ key, value, ...options }) => {
      const keyBytes = key === null ? null : toBuffer(serialized(this.keySerde, key));
      const valueBytes = value === null ? null : toBuffer(serialized(this.valueSerde, value));
      return this.appending(keyBytes, valueBytes, options);
    });
    await this.port.process(() => {
      for (const append of written) append();
    });
  }

  /** As `pipe`, with the bytes themselves: for records that no serde would write. */
  async pipeBytes(key: Buffer | null, value: Buffer | null, options: PipeOptions = {}): Promise<void> {
    requireOptions('pipeBytes', options, shape, 'MILL_CONFIG_INVALID');
    for (const bytes of [key, value]) requireArgument('pipeBytes: key and value', bytes, bytesOrNull, 'MILL_CONFIG_INVALID');
    await this.port.process(this.appending(key, value, options));
  }

  private appending(key: Buffer | null, value: Buffer | null, options: PipeOptions): () => void {
    const { timestamp = this.port.wallClock(), headers = noHeaders } = options;
    const fault = headersFault(headers);
    if (fault !== null) throw new MillraceError('MILL_CONFIG_INVALID', `Topic ${this.name}: ${fault}.`, { details: { topic: this.name } });
    const partition = this.partitionOf(key, options.partition);
    return () => {
      const builder = this.port.builder(this.name, partition);
      builder.appendRaw(timestamp, key, 0, key?.length ?? 0, value, 0, value?.length ?? 0, headers);
    };
  }

  private prepare(): Promise<unknown> {
    this.prepared ??= Promise.all([
      this.keySerde.prepare?.({ topic: this.name, part: 'key' }),
      this.valueSerde.prepare?.({ topic: this.name, part: 'value' }),
    ]);
    return this.prepared;
  }

  private partitionOf(key: Buffer | null, chosen: number | undefined): number {
    const partitions = this.port.partitions(this.name);
    if (chosen === undefined) return key === null ? 0 : partitionForKey(key, 0, key.length, partitions);
    if (Number.isInteger(chosen) && chosen >= 0 && chosen < partitions) return chosen;
    throw new MillraceError('MILL_TOPIC_MISSING', `Topic ${this.name} has no partition ${chosen}; it has ${partitions} under this driver.`);
  }
}

function toBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

const bytesOrNull = (value: unknown): string | null => (value === null || isBytes(value) ? null : 'a Buffer or null');

/** Timestamps and partitions are checked where they are used. */
const shape = { timestamp: anything, headers: list, partition: anything } satisfies ShapeOf<PipeOptions>;
