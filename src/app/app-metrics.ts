import type { EpochMetricsSnapshot } from '../observability/epoch-metrics.js';
import type { BuiltThread } from '../runtime/thread-factory.js';
import type { ProducerMetrics } from '../transactions/producer/epoch-producer.js';
import type { StreamsState } from './streams-app.js';

/** What `app.metrics()` gives: plain data, safe to serialise. */
export interface AppMetrics {
  readonly state: StreamsState;
  readonly tasks: Readonly<Record<string, TaskMetricsSnapshot>>;
  /** null before the app has started. */
  readonly epochs: EpochMetricsSnapshot | null;
  readonly producer: ProducerMetrics | null;
  /** Total of `dropped` over tasks and reasons. */
  readonly droppedRecords: number;
}

export interface TaskMetricsSnapshot {
  readonly recordsProcessed: number;
  /** Records that a rule drops (null keys, late records, …), by reason. */
  readonly dropped: Readonly<Record<string, number>>;
  readonly deserializationErrors: number;
  readonly processingErrors: number;
  readonly productionErrors: number;
  readonly deadLetters: number;
  readonly punctuations: number;
  /** True while the task runs on this instance. */
  readonly active: boolean;
  /** Records behind the end of the input, by `topic-partition`; absent when not known. */
  readonly lag: Readonly<Record<string, number>>;
}

export function snapshotMetrics(state: StreamsState, built: BuiltThread | null): AppMetrics {
  if (built === null) return { state, tasks: {}, epochs: null, producer: null, droppedRecords: 0 };
  const tasks: Record<string, TaskMetricsSnapshot> = {};
  let droppedRecords = 0;
  for (const [id, metrics] of built.taskMetrics) {
    droppedRecords += metrics.droppedTotal;
    const active = built.thread.tasks.get(id);
    const lag: Record<string, number> = {};
    for (const { topic, partition, offset } of active?.task.positions() ?? []) {
      const end = built.fetcher.highWatermark({ topic, partition });
      if (end >= 0) lag[`${topic}-${partition}`] = Math.max(0, end - offset);
    }
    tasks[id] = {
      recordsProcessed: metrics.recordsProcessed,
      dropped: Object.fromEntries(metrics.dropped),
      deserializationErrors: metrics.deserializationErrors,
      processingErrors: metrics.processingErrors,
      productionErrors: metrics.productionErrors,
      deadLetters: metrics.deadLetters,
      punctuations: metrics.punctuations,
      active: active !== undefined,
      lag,
    };
  }
  return { state, tasks, epochs: built.epochMetrics.snapshot(), producer: built.producer.metrics(), droppedRecords };
}
