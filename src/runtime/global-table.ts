import { isPromiseLike } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { FetchedChunk } from '../kafka/fetcher/fetched-chunk.js';
import { RecordCursor } from '../kafka/record-batch/record-cursor.js';
import { CallCount } from '../processors/call-count.js';
import type { NodeGuard } from '../processors/node-guard.js';
import { Passing, RepeatingGuard } from '../processors/node-guard.js';
import type { Cancellable, Downstream, Operator } from '../processors/operator.js';
import { WrappedOperator } from '../processors/processor-wrapper.js';
import type { TakenRecord } from '../processors/taken-record.js';
import type { CompiledSerde } from '../serdes/serde.js';
import type { KeyValueStore, StateStore, TimestampedKeyValueStore } from '../stores/store.js';
import type { GlobalStoreNode } from '../topology/nodes.js';
import { TaskFailures } from './failures.js';
import { NodeContext, type TaskScope } from './node-context.js';
import type { TaskEnvironment } from './task-environment.js';
import { TaskRecord } from './task-record.js';

/** What stands in the place of a task's id for everything global. */
export const globalTaskId = 'global';

/**
 * One global table at work: applies the records of its topic to its store, one after the other, through the processor that it may have.
 *
 * There are no epochs here. A record that fails is tried again in place, and what its processor wrote before it failed stays; the topic is read anew at each start. A
 * processor has its store and nothing else: no children, no timers.
 */
export class GlobalTable implements TaskScope {
  readonly id = globalTaskId;
  readonly partition = -1;
  readonly record = new TaskRecord();
  readonly isFlushing = false;
  readonly hasWatermarks = false;

  private readonly keySerde: CompiledSerde<unknown>;
  private readonly valueSerde: CompiledSerde<unknown>;
  private readonly failures: TaskFailures;
  private readonly target: Downstream;
  private readonly operator: Operator | null;
  /** Without a processor: records without a key are no rows. */
  private readonly needsKeys: boolean;
  private readonly cursor = new RecordCursor();
  private highestTimestamp = -1;

  constructor(
    private readonly node: GlobalStoreNode,
    private readonly storeOf: (name: string) => StateStore | undefined,
    readonly env: TaskEnvironment,
  ) {
    this.keySerde = env.serde(node.source.keySerde, node.source.name, 'key');
    this.valueSerde = env.serde(node.source.valueSerde, node.source.name, 'value');
    this.failures = new TaskFailures(this.id, env, this.record);
    this.needsKeys = node.processor === null;
    this.operator = this.openProcessor();
    this.target = this.operator === null ? this.rowWriter() : this.guarded(this.operator);
  }

  get topic(): string {
    return this.node.topic;
  }

  /** Applies what a fetch brought; resolves when all of it is in the store. Returns the offset that follows. */
  async apply(chunk: FetchedChunk): Promise<number> {
    const { cursor, env, record } = this;
    const { topic, partition } = chunk;
    cursor.open(chunk.records, {
      fetchOffset: chunk.fetchOffset,
      isolation: env.isolation,
      abortedTransactions: chunk.abortedTransactions,
      topic,
      partition,
    });
    this.failures.newEpoch(() => true, true);
    while (cursor.next()) {
      record.enter(topic, partition, cursor.timestamp, cursor);
      if (cursor.timestamp > this.highestTimestamp) this.highestTimestamp = cursor.timestamp;
      if (this.needsKeys && cursor.keyStart < 0) {
        env.metrics.drop('null-key');
        continue;
      }
      const pending = this.applyRecord(1);
      if (pending !== undefined) await pending;
      env.metrics.recordsProcessed++;
    }
    return cursor.nextOffset;
  }

  /** Empties a store of rows; stores of other kinds keep what they have until it expires. */
  async clear(): Promise<void> {
    const store = this.storeOf(this.node.spec.name);
    if (store?.kind === 'timestampedKeyValue') {
      const table = store as TimestampedKeyValueStore<unknown, unknown>;
      const rows: (readonly [unknown, number])[] = [];
      for await (const [key, { timestamp }] of table.range()) rows.push([key, timestamp]);
      for (const [key, timestamp] of rows) table.put(key, null, timestamp);
    } else if (store?.kind === 'keyValue') {
      const table = store as KeyValueStore<unknown, unknown>;
      const keys: unknown[] = [];
      for await (const [key] of table.range()) keys.push(key);
      for (const key of keys) table.delete(key);
    }
  }

  async close(): Promise<void> {
    this.record.close();
    await this.operator?.close?.();
  }

  private applyRecord(attempt: number): Promise<void> | void {
    const { cursor } = this;
    let key: unknown;
    let value: unknown;
    try {
      key = cursor.keyStart < 0 ? null : this.keySerde.decode(cursor.buffer, cursor.keyStart, cursor.keyEnd);
      value = cursor.valueStart < 0 ? null : this.valueSerde.decode(cursor.buffer, cursor.valueStart, cursor.valueEnd);
    } catch (error) {
      return this.undecodable(error, attempt);
    }
    if (isPromiseLike(key) || isPromiseLike(value)) return this.applyLater(key, value, attempt);
    return this.target.process(key, value, cursor.timestamp);
  }

  private async applyLater(key: unknown, value: unknown, attempt: number): Promise<void> {
    let decoded: [unknown, unknown];
    try {
      decoded = await Promise.all([key, value]);
    } catch (error) {
      return this.undecodable(error, attempt);
    }
    await this.target.process(decoded[0], decoded[1], this.cursor.timestamp);
  }

  private async undecodable(error: unknown, attempt: number): Promise<void> {
    if ((await this.failures.undecodable(error, this.node.source.name, attempt)) === 'retry') await this.applyRecord(attempt + 1);
  }

  private rowWriter(): Downstream {
    const store = this.store(this.node.processorName, this.node.spec.name) as TimestampedKeyValueStore<unknown, unknown>;
    return {
      process: (key, value, timestamp) => {
        store.put(key, value, timestamp);
      },
    };
  }

  private openProcessor(): Operator | null {
    const { processor } = this.node;
    if (processor === null) return null;
    const { name, stores } = processor;
    const made = processor.supplier() as Operator;
    const around = this.env.processorWrapper?.({ name, taskId: this.id, partition: this.partition, stores }) ?? null;
    const operator = around === null ? made : new WrappedOperator(made, around);
    operator.init(new NodeContext(name, this, { process: () => undefined }, new Map(), false, around));
    return operator;
  }

  private guarded(operator: Operator): NodeGuard {
    // It has nobody to pass records on to, so it may always be called again.
    return new RepeatingGuard(
      this.node.processorName,
      operator,
      (failure) => this.failures.processing(failure),
      new CallCount(this.record),
      new Passing(),
    );
  }

  // --- what its processor may ask for ---

  streamTime(): number {
    return this.highestTimestamp;
  }

  watermark(): number {
    return -Infinity;
  }

  store(node: string, name: string): StateStore {
    const store = name === this.node.spec.name ? this.storeOf(name) : undefined;
    if (store !== undefined) return store;
    throw new MillraceError(
      'MILL_TOPOLOGY_STORE_NOT_CONNECTED',
      `${node} asks for store ${name}: the processor of a global store has that store, ${this.node.spec.name}, and no other`,
    );
  }

  /** Its processor writes to it. */
  isGlobalStore(): boolean {
    return false;
  }

  takeRecord(node: string): TakenRecord {
    throw new MillraceError(
      'MILL_STATE_INVALID',
      `${node} keeps a record for later: the processor of a global store works on one at a time`,
    );
  }

  enterRecord(): void {
    throw new MillraceError('MILL_STATE_INVALID', 'the processor of a global store works on one record at a time');
  }

  schedule(node: string): Cancellable {
    throw new MillraceError('MILL_STATE_INVALID', `${node} calls schedule: the processor of a global store has no timers`, {
      details: { node },
    });
  }

  onClose(node: string): void {
    throw new MillraceError(
      'MILL_INVARIANT',
      `${node} opens what it would have to close: the processor of a global store has its store and nothing else`,
    );
  }

  deadLetter(node: string, error: MillraceError, key: unknown): Promise<void> {
    return this.failures.deadLetter(node, error, key);
  }
}
