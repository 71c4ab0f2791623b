/** Queries by partition, as Kafka Streams' IQv2 (KIP-796): request, and what came of it in each partition. */
import { MillraceError } from '../errors.js';
import type { Isolation } from './query-host.js';
import type { Position } from './position.js';
import type { Query } from './query.js';

/** How to read. */
export interface ReadOptions {
  /**
   * `committed` (default): what the last committed epoch made visible; an epoch that aborts was never there. `uncommitted`: what the tasks hold now. Global stores and
   * copies that catch up hold committed data only.
   */
  readonly isolation?: Isolation;
  /** `use`: reads standbys, and stores that are still being restored, too, which are behind. Default `avoid`. */
  readonly standbys?: 'avoid' | 'use';
  /** How long to wait for a commit that the committed view needs, and, in the store views, for a position to be reached, ms. Default 10 000. */
  readonly timeout?: number;
}

export interface StateQueryRequest<R> extends ReadOptions {
  /** Name of the store. */
  readonly store: string;
  readonly query: Query<R>;
  /** Default: all that are here. Not for global stores. */
  readonly partitions?: readonly number[];
  /** Partitions that have not got so far answer `notUpToBound`. Default: any position will do. */
  readonly bound?: Position;
}

/**
 * Why a partition did not answer:
 *
 * - `notPresent`: another instance has it;
 * - `notActive`: it is here, but being restored, or a standby, and `standbys` is `avoid`;
 * - `notUpToBound`: it has not processed the records up to `bound`;
 * - `doesNotExist`: the store has no such partition;
 * - `unknownQueryType`: the store is of another kind;
 * - `storeException`: reading it failed, see `error`.
 */
export type QueryFailureReason = 'notPresent' | 'notActive' | 'notUpToBound' | 'doesNotExist' | 'unknownQueryType' | 'storeException';

/** What came of a query in one partition. */
export type PartitionResult<R> = PartitionSuccess<R> | PartitionFailure;

/** The partition answered. */
export interface PartitionSuccess<R> {
  readonly ok: true;
  readonly partition: number;
  readonly result: R;
  /** The input records that the result reflects. */
  readonly position: Position;
}

/** The partition did not answer. */
export interface PartitionFailure {
  readonly ok: false;
  readonly partition: number;
  readonly reason: QueryFailureReason;
  readonly message: string;
  /** How far the partition has got, where that is known. */
  readonly position?: Position;
  readonly error?: unknown;
}

/** The answers of a `StateQueryRequest`. Close the iterators among them that you don't read to the end. */
export class StateQueryResult<R> {
  constructor(
    /** By partition; global stores have the one partition 0. */
    readonly partitions: ReadonlyMap<number, PartitionResult<R>>,
    /** Of all partitions that answered. */
    readonly position: Position,
  ) {}

  /**
   * The answer, when one partition was asked or one alone has anything to say (Kafka Streams' `getOnlyPartitionResult`); undefined when none has.
   *
   * @throws MILL_QUERY_INVALID when several have; the partition's error, or MILL_STORE_NOT_AVAILABLE, MILL_STORE_NOT_UP_TO_BOUND, when none answered
   */
  get only(): R | undefined {
    const found = this.successes.filter(({ result }) => result !== null);
    if (found.length > 1) {
      throw new MillraceError('MILL_QUERY_INVALID', `${found.length} partitions have an answer: read \`partitions\`, not \`only\`.`);
    }
    if (this.successes.length === 0) this.throwFailure();
    return (found[0] ?? this.successes[0])?.result;
  }

  /** Of the partitions that answered. */
  get successes(): readonly PartitionSuccess<R>[] {
    return [...this.partitions.values()].filter((result) => result.ok);
  }

  /** Of the partitions that did not. */
  get failures(): readonly PartitionFailure[] {
    return [...this.partitions.values()].filter((result) => !result.ok);
  }

  private throwFailure(): void {
    const [failure] = this.failures;
    if (failure !== undefined) throw failureError(failure);
  }
}

export function failureError(failure: PartitionFailure): unknown {
  const details = { partition: failure.partition, reason: failure.reason, position: failure.position };
  switch (failure.reason) {
    case 'storeException':
      return failure.error;
    case 'doesNotExist':
      return new MillraceError('MILL_QUERY_INVALID', failure.message, { details });
    case 'notPresent':
      return new MillraceError('MILL_STORE_NOT_LOCAL', failure.message, { details });
    case 'notActive':
      return new MillraceError('MILL_STORE_NOT_AVAILABLE', failure.message, { details });
    case 'notUpToBound':
      return new MillraceError('MILL_STORE_NOT_UP_TO_BOUND', failure.message, { details });
    case 'unknownQueryType':
      return new MillraceError('MILL_STORE_WRONG_TYPE', failure.message, { details });
  }
}
