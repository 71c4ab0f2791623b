import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { ProcessorWrapper } from '../processors/processor-wrapper.js';
import type { RecordBatchBuilder } from '../kafka/record-batch/record-batch-builder.js';
import type { Logger } from '../observability/logger.js';
import type { Randomness } from '../processors/randomness.js';
import type { CallPort } from '../processors/async/call-attempts.js';
import type { CompiledSerde, Serde } from '../serdes/serde.js';
import type { TimestampExtractor } from '../time/timestamp-extractor.js';
import type { ErrorPolicy } from './error-policy.js';
import type { RetryLedger } from './retry-ledger.js';
import type { TaskMetrics } from './task-metrics.js';

/** Where sinks, changelogs and dead letters write: output of the epoch now being filled. */
export interface OutputCollector {
  /** Partitions of a topic; a promise when it has to be looked up first. Rejects with MILL_TOPIC_MISSING. */
  partitionCount(topic: string): number | Promise<number>;
  /** The same object for as long as the collector lives, across barriers and aborts: callers may keep it. */
  builder(topic: string, partition: number): RecordBatchBuilder;
}

/** What a task needs from whoever runs it: the stream thread, or the test driver. */
export interface TaskEnvironment {
  readonly applicationId: string;
  readonly output: OutputCollector;
  readonly errors: ErrorPolicy;
  readonly logger: Logger;
  readonly metrics: TaskMetrics;
  readonly defaultEmit: 'onUpdate' | 'onCommit';
  /** Of sources that name none. Absent or null: the record's own time. */
  readonly defaultTimestampExtractor?: TimestampExtractor | null;
  readonly maxTaskIdleMs: number;
  readonly isolation: 'read_committed' | 'read_uncommitted';
  /** Absent or null: processors are called directly. */
  readonly processorWrapper?: ProcessorWrapper | null;
  /** Outlives the task, unlike its counts. Absent: the task has one of its own. */
  readonly retries?: RetryLedger;
  /** How a rest before another try is waited for, ms. Absent: by the clock. */
  readonly pause?: (ms: number) => Promise<void>;
  /** ms since the epoch, as users and their timers see it. It may be set forward or back. */
  wallClock(): number;
  /** Absent: the process's own. */
  readonly randomness?: Randomness;
  /** ms of a clock that is never set (`steady-clock.ts`), which idleness and waits go by. Absent: the wall clock. */
  readonly steadyClock?: () => number;
  requestCommit(): void;
  /** Time for calls that go on beside the task, and whom to tell that one has ended. */
  readonly calls: CallPort;
  /** A node's serde compiled, the app's default in its place when the node has none. */
  serde(serde: Serde<unknown> | null, node: string, part: 'key' | 'value'): CompiledSerde<unknown>;
}

export type { MaybeAsync };
