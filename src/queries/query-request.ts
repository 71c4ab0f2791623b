import { MillraceError } from '../errors.js';
import { anyObject, requireOptions, text, type ShapeOf } from '../errors/checked-options.js';
import { readShape } from './read-shape.js';
import type { StateQueryRequest } from './state-query.js';

const shape = { ...readShape, store: text, query: anyObject, bound: anyObject } satisfies ShapeOf<StateQueryRequest<unknown>>;

/** @throws MILL_QUERY_INVALID for an option that there is not, and without a query */
export function checkRequest(request: StateQueryRequest<unknown>): void {
  requireOptions('query', request, shape, 'MILL_QUERY_INVALID');
  if ((request.query as unknown) === undefined)
    throw new MillraceError('MILL_QUERY_INVALID', 'query: `query` is missing; make it with `queries`.');
}
