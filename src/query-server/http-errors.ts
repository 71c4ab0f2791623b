import { MillraceError } from '../errors.js';
import type { ErrorCode } from '../errors.js';

/** What a failed request is answered with. */
export interface HttpFailure {
  readonly status: number;
  readonly body: { readonly error: { readonly code: string; readonly message: string; readonly details?: unknown } };
}

const statusOf: Partial<Record<ErrorCode, number>> = {
  MILL_QUERY_INVALID: 400,
  MILL_SERDE: 400,
  MILL_STORE_WRONG_TYPE: 400,
  MILL_TOPOLOGY_UNKNOWN_STORE: 404,
  MILL_STORE_NOT_LOCAL: 503,
  MILL_STORE_NOT_AVAILABLE: 503,
  MILL_STORE_NOT_UP_TO_BOUND: 503,
  MILL_STORE_MIGRATED: 503,
  MILL_STORE_SNAPSHOT_LOST: 503,
  MILL_QUERY_FORWARD: 502,
};

/** 4xx: the request is wrong. 503: ask again. 502: the instance that has the data did not answer. Other errors are not told to the outside. */
export function httpFailure(error: unknown): HttpFailure {
  if (error instanceof MillraceError) {
    const status = statusOf[error.code];
    if (status !== undefined) return failure(status, error.code, error.message);
  }
  return failure(500, 'INTERNAL', 'The query failed; the log of the instance says why.');
}

export function failure(status: number, code: string, message: string): HttpFailure {
  return { status, body: { error: { code, message } } };
}
