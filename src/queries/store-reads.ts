/** What views need of whoever can read the stores of an instance: one thread's own `StoreQueries`, or all threads together. */
import type { Answer } from './answer-query.js';
import type { KnownStore, LocalPartitions } from './known-store.js';
import type { Position } from './position.js';
import type { QueryBody } from './query.js';
import type { QueryInstance } from './query-host.js';
import type { ReadOptions, StateQueryRequest, StateQueryResult } from './state-query.js';

/** What to read, for a view. */
export interface ViewRead extends ReadOptions {
  readonly store: string;
  /** Default: all that are here. */
  readonly partitions?: readonly number[];
  /** Waits until each has got so far. */
  readonly atLeast?: Position;
}

/** A query, or the number of rows, which a view alone asks for. */
export type Question = QueryBody | { readonly kind: 'approximateCount' };

/** What one partition answers. */
export interface PartitionAnswer {
  readonly partition: number;
  readonly answer: Answer;
  readonly position: Position;
}

/** Throws when the partitions that were found are not those that the reader needs. */
export type ReadCheck = (found: readonly number[], here: LocalPartitions) => void;

export interface StoreReads {
  readonly host: QueryInstance;
  /** @throws MILL_TOPOLOGY_UNKNOWN_STORE */
  known(store: string): KnownStore;
  /** The request's options are checked already. */
  query<R>(request: StateQueryRequest<R>): Promise<StateQueryResult<R>>;
  /**
   * What the partitions answer that may be read, those of one thread as of one moment. Whoever gets sources closes them; when it throws there are none to close.
   *
   * @throws what `check` throws; MILL_STORE_NOT_AVAILABLE, MILL_STORE_NOT_UP_TO_BOUND; what reading throws
   */
  read(read: ViewRead, question: Question, check: ReadCheck): Promise<readonly PartitionAnswer[]>;
}
