import { ByteWriter } from '../bytes/byte-writer.js';
import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { partitionForKey } from '../bytes/murmur2.js';
import { MillraceError } from '../errors.js';
import type { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import { CallCount } from '../processors/call-count.js';
import type { Operator, OperatorContext } from '../processors/operator.js';
import { RecordMetaView } from '../processors/record-meta.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { SinkNode } from '../topology/nodes.js';
import { nameFault } from '../topology/resource-name.js';
import type { TaskFailures } from './failures.js';
import { mayRetry } from './error-policy.js';
import { serdeOwner } from './serde-defaults.js';
import type { OutputCollector, TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/**
 * A sink node at work: picks the partition and encodes the record straight into that partition's batch builder of the epoch in work. Partition counts are kept
 * for an epoch and then asked for anew, since somebody may add partitions.
 */
export class SinkOperator implements Operator {
  private readonly keySerde: CompiledSerde<unknown>;
  private readonly valueSerde: CompiledSerde<unknown>;
  private readonly fixed: SinkTarget | null;
  private readonly targets = new Map<string, SinkTarget>();
  private readonly keyBytes = new ByteWriter(64);
  /** Of a record that goes to several partitions. */
  private readonly valueBytes = new ByteWriter(0);
  private context: OperatorContext | null = null;
  /** For the topic extractor. */
  private readonly meta: RecordMetaView;
  /** Null when nothing is ever tried again. */
  private readonly calls: CallCount | null;

  constructor(
    private readonly node: SinkNode,
    topicOf: (name: string, internal: boolean) => string,
    env: TaskEnvironment,
    private readonly record: TaskRecord,
    private readonly failures: TaskFailures,
  ) {
    this.calls = mayRetry(env.errors.production) ? new CallCount(record) : null;
    this.keySerde = env.serde(node.keySerde, serdeOwner(node), 'key');
    this.valueSerde = env.serde(node.valueSerde, serdeOwner(node), 'value');
    this.fixed = typeof node.topic === 'function' ? null : new SinkTarget(topicOf(node.topic.name, node.topic.internal), env.output);
    this.output = env.output;
    this.meta = new RecordMetaView(record);
  }

  private readonly output: OutputCollector;

  init(context: OperatorContext): void {
    this.context = context;
  }

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    const call = this.calls?.next() ?? 0;
    return this.fixed === null ? this.extract(key, value, timestamp, 1, call) : this.deliver(this.fixed, key, value, timestamp, call);
  }

  private extract(key: unknown, value: unknown, timestamp: number, attempt: number, call: number): MaybeAsync {
    let target: SinkTarget;
    try {
      target = this.extracted(key, value, timestamp);
    } catch (error) {
      return this.failed(error, '(no topic)', key, attempt, call, (next) => this.extract(key, value, timestamp, next, call));
    }
    return this.deliver(target, key, value, timestamp, call);
  }

  private deliver(target: SinkTarget, key: unknown, value: unknown, timestamp: number, call: number): MaybeAsync {
    if (target.partitions === 0) {
      const count = this.output.partitionCount(target.topic);
      if (typeof count !== 'number') {
        return count.then(
          (late) => {
            target.partitions = late;
            return this.write(target, key, value, timestamp, 1, call);
          },
          (error: unknown) => {
            throw this.failures.doom(error);
          },
        );
      }
      target.partitions = count;
    }
    return this.write(target, key, value, timestamp, 1, call);
  }

  flush(): void {
    if (this.fixed !== null) this.fixed.partitions = 0;
    for (const target of this.targets.values()) target.partitions = 0;
  }

  private write(target: SinkTarget, key: unknown, value: unknown, timestamp: number, attempt: number, call: number): MaybeAsync {
    const { record, keySerde } = this;
    record.mustBeOpen();
    try {
      let buffer: Buffer | null = null;
      let start = 0;
      let end = 0;
      if (key !== null && key !== undefined) {
        if (key === record.rawKey && record.rawKeySerde === keySerde.serde) {
          buffer = record.rawKeyBuffer;
          start = record.rawKeyStart;
          end = record.rawKeyEnd;
        } else {
          const { keyBytes } = this;
          keyBytes.reset();
          keySerde.encode(key, keyBytes);
          buffer = keyBytes.buffer;
          end = keyBytes.length;
        }
      }
      const partition = this.partitionOf(target, key, value, buffer, start, end);
      if (typeof partition !== 'number') {
        this.writeToAll(partition, target, value, timestamp, buffer, start, end);
        return;
      }
      const present = value !== null && value !== undefined;
      target.written(
        target
          .builder(partition)
          .append(timestamp, buffer, start, end, present ? this.valueSerde : null, present ? value : null, record.headers()),
      );
    } catch (error) {
      return this.failed(error, target.topic, key, attempt, call, (next) => this.write(target, key, value, timestamp, next, call));
    }
  }

  /** The value is encoded once and before anything is written: what fails has left nothing in some of the partitions. */
  private writeToAll(
    partitions: readonly number[],
    target: SinkTarget,
    value: unknown,
    timestamp: number,
    keyBuffer: Buffer | null,
    start: number,
    end: number,
  ): void {
    if (partitions.length === 0) {
      this.context?.dropped('no-partition');
      return;
    }
    const { record, valueBytes } = this;
    const present = value !== null && value !== undefined;
    valueBytes.reset();
    if (present) this.valueSerde.encode(value, valueBytes);
    const valueBuffer = present ? valueBytes.buffer : null;
    for (const partition of partitions)
      target.builder(partition).appendRaw(timestamp, keyBuffer, start, end, valueBuffer, 0, valueBytes.length, record.headers());
  }

  private failed(
    error: unknown,
    topic: string,
    key: unknown,
    attempt: number,
    call: number,
    again: (attempt: number) => MaybeAsync,
  ): MaybeAsync {
    const verdict = this.failures.production(error, this.node.name, topic, key, attempt, call);
    if (verdict === 'skip') return;
    return Promise.resolve(verdict).then((late) => (late === 'skip' ? undefined : again(attempt + 1)));
  }

  /** One partition, or all those that the partitioner names. */
  private partitionOf(
    target: SinkTarget,
    key: unknown,
    value: unknown,
    keyBuffer: Buffer | null,
    start: number,
    end: number,
  ): number | readonly number[] {
    const { partitions } = target;
    if (this.node.partitioner !== null) {
      const keyView = keyBuffer === null ? null : keyBuffer.subarray(start, end);
      const chosen = this.node.partitioner.partition(target.topic, key, value, partitions, keyView);
      if (Array.isArray(chosen)) return [...new Set(chosen.map((one: unknown) => this.checked(one, target)))];
      if (chosen !== null) return this.checked(chosen, target);
    }
    return keyBuffer === null ? target.stickyPartition() : partitionForKey(keyBuffer, start, end, partitions);
  }

  private checked(chosen: unknown, { topic, partitions }: SinkTarget): number {
    if (Number.isInteger(chosen) && (chosen as number) >= 0 && (chosen as number) < partitions) return chosen as number;
    throw new MillraceError(
      'MILL_PRODUCTION',
      `the partitioner of ${this.node.name} gave ${isPromiseLike(chosen) ? 'a promise' : String(chosen)} for ${topic}, which has ${partitions} partitions`,
    );
  }

  private extracted(key: unknown, value: unknown, timestamp: number): SinkTarget {
    const extractor = this.node.topic;
    this.meta.enter(timestamp);
    const topic = typeof extractor === 'function' ? extractor(key, value, this.meta) : extractor.name;
    if (typeof topic !== 'string' || topic === '' || isPromiseLike(topic)) {
      throw new MillraceError('MILL_PRODUCTION', `the topic extractor of ${this.node.name} gave ${String(topic)} instead of a topic name`);
    }
    let target = this.targets.get(topic);
    if (target === undefined) {
      // Once for each topic: no broker has one of another name, so it would be missing for ever.
      const fault = nameFault(topic);
      if (fault !== null) {
        throw new MillraceError('MILL_PRODUCTION', `the topic extractor of ${this.node.name} gave "${topic}", a name that ${fault}`);
      }
      target = new SinkTarget(topic, this.output);
      this.targets.set(topic, target);
    }
    return target;
  }
}

/** Bytes without a key that go to one partition before the next one takes its turn (Kafka's sticky partitioning). */
const stickyBytes = 16 * 1024;

class SinkTarget {
  /** 0: to be asked for. */
  partitions = 0;
  private readonly builders: (RecordBatchBuilder | undefined)[] = [];
  private sticky = 0;
  private stickyWritten = 0;

  constructor(
    readonly topic: string,
    private readonly output: OutputCollector,
  ) {}

  builder(partition: number): RecordBatchBuilder {
    const known = this.builders[partition];
    if (known !== undefined) return known;
    const fresh = this.output.builder(this.topic, partition);
    this.builders[partition] = fresh;
    return fresh;
  }

  stickyPartition(): number {
    if (this.stickyWritten >= stickyBytes) {
      this.stickyWritten = 0;
      this.sticky++;
    }
    return this.sticky % this.partitions;
  }

  written(bytes: number): void {
    this.stickyWritten += bytes;
  }
}
