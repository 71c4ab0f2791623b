/**
 * Holds the changes of a table back until stream time has moved on, so that only the last one of each row goes downstream (KTableSuppress).
 *
 * A row waits from its first change on; later changes replace it and keep its place. It leaves, in order of (time, key), when stream time has reached its
 * time plus `wait`: the time of its first change, or, for final results, the end of its window. Stream time is the highest timestamp that this operator
 * has seen. When the buffer is over its bounds, the oldest rows leave early, or the app stops, as configured; a buffer that spills has no bounds here,
 * since its store keeps it on disk.
 *
 * A commit brings changes in any order: that of a later window may come before the last one of a window that it closes. So final results wait until all of
 * them are here.
 *
 * The change that leaves is the last one as it came, with its old value, timestamp and headers. Downstream the table looks as if what waits had not
 * happened yet: `suppressedGetter` answers the row that was last let through.
 */
import { noHeaders } from '../bytes/headers.js';
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import type { TimeOrderedBuffer, ValueAndTimestamp } from '../stores/store.js';
import type { Windowed } from '../time/windowed.js';
import { timeOrderedBuffer } from './connected-store.js';
import { NodeOperator } from './node-operator.js';
import { Change, type OperatorContext, type OperatorSupplier } from './operator.js';
import { uncountedBytes, type SuppressedRow } from './suppressed-row.js';
import type { TableGetter, TableGetterSupplier } from './table-getter.js';
import type { Awaitable } from './user-functions.js';

export interface SuppressOptions {
  readonly storeName: string;
  /** How long a row waits, ms of stream time; Infinity: until the buffer is full. */
  readonly wait: number;
  /** Final results: keys are `Windowed`, rows wait from the end of their window on, and a deleted row leaves no trace. */
  readonly untilWindowCloses: boolean;
  /** Infinity: no bound. */
  readonly maxRecords: number;
  readonly maxBytes: number;
  readonly whenFull: 'emitEarly' | 'shutDown' | 'spill';
}

export function suppressOperator(options: SuppressOptions): OperatorSupplier {
  return () => new SuppressOperator(options);
}

/** The rows of a suppressed table. */
export function suppressedGetter<K, V>(parent: TableGetterSupplier<K, V>, storeName: string): TableGetterSupplier<K, V> {
  return {
    stores: [storeName, ...parent.stores],
    open: (context) => new SuppressedGetter<K, V>(timeOrderedBuffer(context, storeName), parent.open(context)),
  };
}

class SuppressOperator<K, V> extends NodeOperator<K, Change<V>> {
  declare private buffer: TimeOrderedBuffer<K, SuppressedRow<V>>;
  /** Highest timestamp seen, -1 before the first. */
  private streamTime = -1;
  private readonly bounded: boolean;

  constructor(private readonly options: SuppressOptions) {
    super();
    this.bounded = options.whenFull !== 'spill' && (options.maxRecords < Infinity || options.maxBytes < Infinity);
  }

  override init(context: OperatorContext): void {
    super.init(context);
    this.buffer = timeOrderedBuffer(context, this.options.storeName);
  }

  process(key: K, change: Change<V>, timestamp: number): MaybeAsync {
    if (timestamp > this.streamTime) this.streamTime = timestamp;
    this.hold(key, change, timestamp);
    if (this.options.untilWindowCloses && this.context.isFlushing) return;
    return this.release();
  }

  flush(): MaybeAsync {
    if (this.options.untilWindowCloses) return this.release();
  }

  onEndOfInput(): MaybeAsync {
    return this.buffer.drain(() => true, this.emit);
  }

  private release(): MaybeAsync {
    const draining = this.buffer.firstTime() <= this.expiry() ? this.buffer.drain(this.isDue, this.emit) : undefined;
    if (draining !== undefined) return this.enforceAfter(draining);
    if (this.bounded) return this.enforceBounds();
  }

  private hold(key: K, change: Change<V>, timestamp: number): void {
    const { record } = this.context;
    const waiting = this.buffer.find(key);
    const time = this.options.untilWindowCloses ? (key as unknown as Windowed<unknown>).window.end : timestamp;
    this.buffer.put(waiting === null ? time : waiting.time, 0, key, {
      newValue: change.newValue,
      oldValue: change.oldValue,
      priorValue: waiting === null ? change.oldValue : waiting.value.priorValue,
      timestamp,
      topic: record.topic ?? '',
      partition: record.partition,
      offset: record.offset,
      headers: record.headers(),
    });
  }

  private expiry(): number {
    return this.streamTime - this.options.wait;
  }

  private readonly isDue = (time: number): boolean => time <= this.expiry();

  private async enforceAfter(draining: Promise<void>): Promise<void> {
    await draining;
    if (this.bounded) await this.enforceBounds();
  }

  private enforceBounds(): MaybeAsync {
    if (!this.isOverCapacity()) return;
    if (this.options.whenFull === 'emitEarly') return this.buffer.drain(this.isOverCapacity, this.emit);
    const { storeName, maxRecords, maxBytes } = this.options;
    const { size } = this.buffer;
    throw new MillraceError(
      'MILL_BUFFER_FULL',
      `${this.context.nodeName} holds back ${size} rows and ${this.bytes()} bytes in ${storeName}; its bounds are ${maxRecords} rows and ${maxBytes} bytes.`,
      { details: { node: this.context.nodeName, store: storeName, size, bytes: this.bytes(), maxRecords, maxBytes } },
    );
  }

  private readonly isOverCapacity = (): boolean => this.buffer.size > this.options.maxRecords || this.bytes() > this.options.maxBytes;

  private bytes(): number {
    return this.buffer.byteSize - this.buffer.size * uncountedBytes;
  }

  private readonly emit = (_time: number, _rank: number, key: K, row: SuppressedRow<V>): MaybeAsync => {
    if (row.newValue === null && this.options.untilWindowCloses) return;
    const change = new Change(row.newValue, row.oldValue);
    if (row.headers === noHeaders && this.context.record.headers() === noHeaders) {
      return this.downstream.process(key, change, row.timestamp);
    }
    return this.context.withHeaders(row.headers, () => this.downstream.process(key, change, row.timestamp));
  };
}

class SuppressedGetter<K, V> implements TableGetter<K, V> {
  readonly versioned = false;

  constructor(
    private readonly buffer: TimeOrderedBuffer<K, SuppressedRow<V>>,
    private readonly parent: TableGetter<K, V>,
  ) {}

  getValue(key: K): Awaitable<V | null> {
    const waiting = this.buffer.find(key);
    return waiting === null ? this.parent.getValue(key) : waiting.value.priorValue;
  }

  get(key: K): Awaitable<ValueAndTimestamp<V> | null> {
    const waiting = this.buffer.find(key);
    if (waiting === null) return this.parent.get(key);
    const { priorValue } = waiting.value;
    // The time of the row that was let through is not known any more; it never decides the time of a result.
    return priorValue === null ? null : { value: priorValue, timestamp: -1 };
  }

  getAsOf(key: K): Awaitable<ValueAndTimestamp<V> | null> {
    return this.get(key);
  }
}
