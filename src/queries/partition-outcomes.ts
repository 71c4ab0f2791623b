/** From what partitions answer to what a user gets. */
import type { Answer } from './answer-query.js';
import { decodeCursor } from './element-source.js';
import { mergePositions, type Position } from './position.js';
import type { PageOptions, QueryBody } from './query.js';
import { QueryIterator, type QueryIteratorOptions } from './query-iterator.js';
import { StateQueryResult, type PartitionFailure, type PartitionResult, type StateQueryRequest } from './state-query.js';

/** A partition answered. */
export interface PartitionAnswered {
  readonly ok: true;
  readonly partition: number;
  readonly answer: Answer;
  readonly position: Position;
}

/** What came of a query in one partition, its rows not yet behind an iterator. */
export type PartitionOutcome = PartitionAnswered | PartitionFailure;

export function resultsOf<R>({ store, query }: StateQueryRequest<R>, outcomes: ReadonlyMap<number, PartitionOutcome>): StateQueryResult<R> {
  const results = new Map<number, PartitionResult<R>>();
  const positions: Position[] = [];
  for (const [partition, outcome] of outcomes) {
    if (!outcome.ok) {
      results.set(partition, outcome);
      continue;
    }
    const { answer, position } = outcome;
    const result =
      answer.kind === 'value' ? answer.value : new QueryIterator({ sources: answer.sources, position }, iteratorOptions(store, query));
    results.set(partition, { ok: true, partition, result: result as R, position });
    positions.push(position);
  }
  return new StateQueryResult(results, mergePositions(positions));
}

export function iteratorOptions(store: string, query: QueryBody): QueryIteratorOptions {
  const { reverse = false, limit = Infinity, after }: PageOptions = 'options' in query ? query.options : {};
  return { store, reverse, limit, after: after === undefined ? null : decodeCursor(after) };
}
