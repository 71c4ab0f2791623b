/** Runs one operator by itself: records in, records out, with hand-held time and stores. */
import { noHeaders, type Headers } from '../../../src/bytes/headers.js';
import type { MaybeAsync } from '../../../src/bytes/maybe-async.js';
import { MillraceError } from '../../../src/errors.js';
import {
  Change,
  type Downstream,
  type DropReason,
  type Operator,
  type OperatorContext,
  type OperatorSupplier,
  type RecordContext,
  type ScheduleOptions,
} from '../../../src/processors/operator.js';
import { callTimers } from '../../../src/runtime/call-timers.js';
import { TaskMetrics } from '../../../src/runtime/task-metrics.js';
import { compileSerde } from '../../../src/serdes/compile-serde.js';
import type { Serde } from '../../../src/serdes/serde.js';
import { serdes } from '../../../src/serdes/serdes.js';
import type { StateStore } from '../../../src/stores/store.js';
import { PunctuationQueue } from '../../../src/time/punctuation-queue.js';
import { Windowed } from '../../../src/time/windowed.js';

export interface Sent {
  readonly key: unknown;
  readonly value: unknown;
  readonly timestamp: number;
  readonly headers: Headers;
}

export class FakeRecord implements RecordContext {
  topic: string | null = 'in';
  partition = 0;
  offset = -1;
  timestamp = -1;
  current: Headers = noHeaders;

  headers(): Headers {
    return this.current;
  }
}

export class Collector implements Downstream {
  readonly sent: Sent[] = [];
  /** When set, each record is answered with a promise that settles after a few turns of the event loop. */
  slow = false;
  private busy = false;

  constructor(private readonly record: FakeRecord) {}

  process(key: unknown, value: unknown, timestamp: number): MaybeAsync {
    if (this.busy) throw new Error(`record ${String(key)} came while the one before it was still in work`);
    this.sent.push({ key, value, timestamp, headers: this.record.headers() });
    if (!this.slow) return;
    this.busy = true;
    return (async () => {
      for (let turn = 0; turn < 3; turn++) await Promise.resolve();
      this.busy = false;
    })();
  }
}

export interface HarnessOptions {
  readonly stores?: readonly StateStore[];
  readonly defaultEmit?: 'onUpdate' | 'onCommit';
  readonly children?: readonly string[];
  readonly streamTime?: number;
}

export class OperatorHarness {
  readonly operator: Operator;
  readonly record = new FakeRecord();
  readonly output = new Collector(this.record);
  readonly children: Record<string, Collector> = {};
  readonly drops: DropReason[] = [];
  readonly streamTimers = new PunctuationQueue();
  readonly wallClockTimers = new PunctuationQueue();
  /** Of what the operator has opened beside itself. */
  readonly closings: (() => MaybeAsync)[] = [];
  now = 0;
  commitsAsked = 0;
  streamTime: number;

  constructor(supplier: OperatorSupplier, options: HarnessOptions = {}) {
    this.streamTime = options.streamTime ?? -1;
    for (const name of options.children ?? []) this.children[name] = new Collector(this.record);
    this.operator = supplier();
    this.operator.init(this.context(options));
  }

  /** What went to the children, as `[key, value, timestamp]`; changes as their new value, windowed keys as Kafka Streams prints them. */
  get out(): unknown[][] {
    return rows(this.output.sent);
  }

  /** The same of the child of that name. */
  outOf(child: string): unknown[][] {
    return rows(this.children[child]!.sent);
  }

  pipe(key: unknown, value: unknown, timestamp = 0, headers: Headers = noHeaders): MaybeAsync {
    this.record.topic = 'in';
    this.record.offset++;
    this.record.timestamp = timestamp;
    this.record.current = headers;
    if (timestamp > this.streamTime) this.streamTime = timestamp;
    return this.operator.process(key, value, timestamp);
  }

  async pipeAll(records: readonly (readonly [unknown, unknown, number?])[]): Promise<void> {
    for (const [key, value, timestamp] of records) await this.pipe(key, value, timestamp ?? 0);
  }

  async flush(): Promise<void> {
    this.record.topic = null;
    await this.operator.flush?.();
  }

  private context(options: HarnessOptions): OperatorContext {
    const { record } = this;
    return {
      applicationId: 'app',
      taskId: '0_0',
      partition: 0,
      nodeName: 'node',
      downstream: this.output,
      record,
      defaultEmit: options.defaultEmit ?? 'onUpdate',
      hasDeadLetterTopic: false,
      deadLetter: () => undefined,
      child: (name) => {
        const child = this.children[name];
        if (child === undefined) throw new MillraceError('MILL_TOPOLOGY_INVALID', `no child ${name}`);
        return child;
      },
      withHeaders: (headers, body) => {
        const previous = record.current;
        record.current = headers;
        const restore = (): void => {
          record.current = previous;
        };
        const result = body();
        if (result !== undefined) return result.finally(restore);
        restore();
      },
      forSeveralRecords: (body) => body(),
      store: (name) => {
        const store = options.stores?.find((candidate) => candidate.name === name);
        if (store === undefined) throw new MillraceError('MILL_TOPOLOGY_UNKNOWN_STORE', `no store ${name}`);
        return store;
      },
      watermark: () => -Infinity,
      hasWatermarks: false,
      isFlushing: false,
      serde: <T>(serde: Serde<T> | null) => compileSerde(serde ?? (serdes.string as unknown as Serde<T>)),
      streamTime: () => this.streamTime,
      wallClock: () => this.now,
      schedule: (schedule, callback) => this.schedule(schedule, callback),
      onClose: (close) => {
        this.closings.push(close);
      },
      requestCommit: () => {
        this.commitsAsked++;
      },
      takeRecord: () => ({
        topic: record.topic,
        partition: record.partition,
        offset: record.offset,
        timestamp: record.timestamp,
        headers: record.headers(),
        source: null,
        bytes: 0,
        streamTime: this.streamTime,
        watermark: -Infinity,
      }),
      enterRecord: ({ topic, offset, timestamp, headers }) => {
        Object.assign(record, { topic, offset, timestamp, current: headers });
      },
      calls: callTimers(new TaskMetrics(), () => undefined),
      dropped: (reason) => {
        this.drops.push(reason);
      },
    };
  }

  private schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): { cancel(): void } {
    const fire = (timestamp: number): MaybeAsync => {
      this.record.topic = null;
      this.record.current = noHeaders;
      return callback(timestamp);
    };
    if (options.time === 'stream') return this.streamTimers.schedule(options.startAt ?? 0, options.interval, fire);
    return this.wallClockTimers.schedule(options.startAt ?? this.now + options.interval, options.interval, fire);
  }
}

function rows(sent: readonly Sent[]): unknown[][] {
  return sent.map(({ key, value, timestamp }): unknown[] => [
    key instanceof Windowed ? key.toString() : key,
    value instanceof Change ? (value as Change<unknown>).newValue : value,
    timestamp,
  ]);
}
