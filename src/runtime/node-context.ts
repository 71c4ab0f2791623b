import { isPromiseLike, type MaybeAsync } from '../bytes/maybe-async.js';
import { noHeaders, type Headers } from '../bytes/headers.js';
import { MillraceError } from '../errors.js';
import type { Cancellable, Downstream, DropReason, OperatorContext, RecordContext, ScheduleOptions } from '../processors/operator.js';
import { systemRandomness, type Randomness } from '../processors/randomness.js';
import type { CallPort } from '../processors/async/call-attempts.js';
import type { TakenRecord } from '../processors/taken-record.js';
import type { ProcessorAround } from '../processors/processor-wrapper.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import type { StateStore } from '../stores/store.js';
import type { TaskEnvironment } from './task-environment.js';
import type { TaskRecord } from './task-record.js';

/** What a node context asks of its task. */
export interface TaskScope {
  readonly id: string;
  readonly partition: number;
  readonly env: TaskEnvironment;
  readonly record: TaskRecord;
  streamTime(node: string): number;
  watermark(node: string): number;
  takeRecord(node: string): TakenRecord;
  enterRecord(record: TakenRecord): void;
  readonly hasWatermarks: boolean;
  readonly isFlushing: boolean;
  store(node: string, name: string): StateStore;
  /** Whether that store is not the task's own. */
  isGlobalStore(name: string): boolean;
  schedule(node: string, options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable;
  onClose(node: string, close: () => MaybeAsync): void;
  deadLetter(node: string, error: MillraceError, key: unknown): MaybeAsync;
}

/** One operator's view of its task. */
export class NodeContext implements OperatorContext {
  readonly applicationId: string;
  readonly taskId: string;
  readonly partition: number;
  readonly record: RecordContext;
  readonly defaultEmit: 'onUpdate' | 'onCommit';

  constructor(
    readonly nodeName: string,
    private readonly scope: TaskScope,
    readonly downstream: Downstream,
    private readonly children: ReadonlyMap<string, Downstream>,
    readonly emitsAtOnce = false,
    private readonly around: ProcessorAround | null = null,
  ) {
    this.applicationId = scope.env.applicationId;
    this.taskId = scope.id;
    this.partition = scope.partition;
    this.record = scope.record;
    this.defaultEmit = scope.env.defaultEmit;
  }

  child(name: string): Downstream {
    const found = this.children.get(name);
    if (found === undefined) {
      const known = [...this.children.keys()].join(', ') || 'none';
      throw new MillraceError('MILL_TOPOLOGY_INVALID', `${this.nodeName} has no child named ${name} (it has: ${known})`);
    }
    return found;
  }

  withHeaders(headers: Headers, body: () => MaybeAsync): MaybeAsync {
    const { record } = this.scope;
    const previous = record.overrideHeaders(headers);
    return thenDo(body, () => {
      record.restoreHeaders(previous);
    });
  }

  forSeveralRecords(body: () => MaybeAsync): MaybeAsync {
    const { record } = this.scope;
    record.isOfSeveral = true;
    return thenDo(
      () => this.withHeaders(noHeaders, body),
      () => {
        record.isOfSeveral = false;
      },
    );
  }

  store(name: string): StateStore {
    return this.scope.store(this.nodeName, name);
  }

  isGlobalStore(name: string): boolean {
    return this.scope.isGlobalStore(name);
  }

  serde<T>(serde: Serde<T> | null, part: 'key' | 'value'): CompiledSerde<T> {
    return this.scope.env.serde(serde, this.nodeName, part) as CompiledSerde<T>;
  }

  streamTime(): number {
    return this.scope.streamTime(this.nodeName);
  }

  watermark(): number {
    return this.scope.watermark(this.nodeName);
  }

  get hasWatermarks(): boolean {
    return this.scope.hasWatermarks;
  }

  get isFlushing(): boolean {
    return this.scope.isFlushing;
  }

  wallClock(): number {
    return this.scope.env.wallClock();
  }

  get randomness(): Randomness {
    return this.scope.env.randomness ?? systemRandomness;
  }

  schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable {
    const { around } = this;
    if (around?.punctuate === undefined) return this.scope.schedule(this.nodeName, options, callback);
    return this.scope.schedule(this.nodeName, options, (timestamp) => around.punctuate?.(timestamp, callback));
  }

  onClose(close: () => MaybeAsync): void {
    this.scope.onClose(this.nodeName, close);
  }

  get hasDeadLetterTopic(): boolean {
    return this.scope.env.errors.deadLetterTopic !== null;
  }

  deadLetter(error: MillraceError, key: unknown): MaybeAsync {
    return this.scope.deadLetter(this.nodeName, error, key);
  }

  requestCommit(): void {
    this.scope.env.requestCommit();
  }

  takeRecord(): TakenRecord {
    return this.scope.takeRecord(this.nodeName);
  }

  enterRecord(record: TakenRecord): void {
    this.scope.enterRecord(record);
  }

  get calls(): CallPort {
    return this.scope.env.calls;
  }

  dropped(reason: DropReason, records = 1): void {
    const { env, record, id } = this.scope;
    if (env.metrics.drop(reason, records) > records) return;
    const { topic, partition, offset, timestamp } = record;
    env.logger.warn(
      { node: this.nodeName, taskId: id, reason, topic, partition, offset, timestamp },
      `dropped a record (${reason}); further ones are only counted`,
    );
  }
}

/** Calls `after` when `body` has ended, however it ends. */
function thenDo(body: () => MaybeAsync, after: () => void): MaybeAsync {
  let result: MaybeAsync;
  try {
    result = body();
  } catch (error) {
    after();
    throw error;
  }
  if (!isPromiseLike(result)) {
    after();
    return;
  }
  return result.finally(after);
}
