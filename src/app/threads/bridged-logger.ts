import type { LogLevel } from '../../observability/console-logger.js';
import type { Logger } from '../../observability/logger.js';
import { receiveError, sendable, sendError, type SentError } from './sent-error.js';

export interface LogMessage {
  readonly level: LogLevel;
  readonly fields: Readonly<Record<string, unknown>>;
  readonly message: string;
}

/** In a thread: sends what is logged to the app. */
export function sendingLogger(send: (message: LogMessage) => void, bindings: Readonly<Record<string, unknown>> = {}): Logger {
  const at =
    (level: LogLevel) =>
    (fields: object, message: string): void => {
      const sent: Record<string, unknown> = {};
      for (const [name, value] of Object.entries({ ...bindings, ...fields }))
        sent[name] = value instanceof Error ? { [errorMark]: sendError(value) } : sendable(value);
      send({ level, fields: sent, message });
    };
  return {
    debug: at('debug'),
    info: at('info'),
    warn: at('warn'),
    error: at('error'),
    child: (more) => sendingLogger(send, { ...bindings, ...more }),
  };
}

/** In the app: logs what a thread sent. */
export function logReceived(logger: Logger, { level, fields, message }: LogMessage): void {
  const received: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) received[name] = isSentError(value) ? receiveError(value[errorMark]) : value;
  logger[level](received, message);
}

const errorMark = '$error';

function isSentError(value: unknown): value is { readonly [errorMark]: SentError } {
  return typeof value === 'object' && value !== null && errorMark in value;
}
