/** Errors on their way from one JavaScript thread to another: what a copy of an `Error` loses (code, details, the class, further fields) is kept beside it. */
import { inspect } from 'node:util';
import { bareMessage } from '../../errors/bare-message.js';
import { errorTable, KafkaTransportError, MillraceError, type ErrorCode } from '../../errors.js';

/** Plain data. */
export interface SentError {
  readonly name: string;
  readonly message: string;
  readonly stack: string | undefined;
  /** Fields of its own: a MillraceError's code and details, a system error's code and path. */
  readonly fields: Readonly<Record<string, unknown>>;
  readonly cause: SentError | null;
}

/** So deep causes are sent, and no deeper: they might go round in a circle. */
const deepest = 8;
const ownFields: ReadonlySet<string> = new Set(['name', 'message', 'stack', 'cause', 'cure']);

export function sendError(error: unknown, depth = 0): SentError {
  if (!(error instanceof Error)) {
    return { name: 'Error', message: typeof error === 'string' ? error : inspect(error), stack: undefined, fields: {}, cause: null };
  }
  const fields: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(error)) if (!ownFields.has(name)) fields[name] = sendable(value);
  const { cause } = error;
  const hasCause = cause !== undefined && cause !== null && depth < deepest;
  return { name: error.name, message: error.message, stack: error.stack, fields, cause: hasCause ? sendError(cause, depth + 1) : null };
}

export function receiveError(sent: SentError): Error {
  const cause = sent.cause === null ? undefined : receiveError(sent.cause);
  const error = ofItsKind(sent, cause);
  if (sent.stack !== undefined) error.stack = sent.stack;
  return error;
}

/** The value, or what it looks like when it can't be copied. */
export function sendable(value: unknown): unknown {
  if (value instanceof Error) return `${value.name}: ${value.message}`;
  try {
    return structuredClone(value);
  } catch {
    return inspect(value, { depth: 2 });
  }
}

function ofItsKind({ name, message, fields }: SentError, cause: Error | undefined): Error {
  const { code, details } = fields;
  if (isErrorCode(code)) {
    const bare = bareMessage(code, message);
    const options = { cause, details: (details ?? {}) as Readonly<Record<string, unknown>> };
    const error = name === 'KafkaTransportError' ? new KafkaTransportError(bare, options) : new MillraceError(code, bare, options);
    error.name = name;
    return error;
  }
  const error = new Error(message, cause === undefined ? undefined : { cause });
  error.name = name;
  return Object.assign(error, fields);
}

function isErrorCode(code: unknown): code is ErrorCode {
  return typeof code === 'string' && Object.hasOwn(errorTable, code);
}
