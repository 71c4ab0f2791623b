/** The public Processor API (Kafka Streams' `Processor`, `FixedKeyProcessor`). */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import type { Headers } from '../bytes/headers.js';
import type { Cancellable, ScheduleOptions } from './operator.js';
import type { StateStore } from '../stores/store.js';

export interface Record<K, V> {
  readonly key: K;
  readonly value: V;
  /** Milliseconds since the epoch. */
  readonly timestamp: number;
  readonly headers: Headers;
}

/** Where a record was read. Absent (null) in punctuations. */
export interface RecordMetadata {
  readonly topic: string;
  readonly partition: number;
  readonly offset: number;
}

export interface ProcessorContext<KOut, VOut> {
  readonly applicationId: string;
  readonly taskId: string;
  readonly partition: number;
  /** Sends a record to all children, or to the child of that name. Missing fields are those of the record in work. */
  forward(
    record: { readonly key: KOut; readonly value: VOut; readonly timestamp?: number; readonly headers?: Headers },
    child?: string,
  ): MaybeAsync;
  /** The store of that name, as it was built. Errors: MILL_TOPOLOGY_STORE_NOT_CONNECTED, MILL_TOPOLOGY_UNKNOWN_STORE. */
  store<S extends StateStore = StateStore>(name: string): S;
  schedule(options: ScheduleOptions, callback: (timestamp: number) => MaybeAsync): Cancellable;
  recordMetadata(): RecordMetadata | null;
  streamTime(): number;
  wallClock(): number;
  /** Asks for a commit soon; it happens at the next barrier. */
  commit(): void;
}

export interface Processor<KIn, VIn, KOut = never, VOut = never> {
  init?(context: ProcessorContext<KOut, VOut>): void;
  process(record: Record<KIn, VIn>): MaybeAsync;
  close?(): MaybeAsync;
}
