import { objectWith } from '../errors/checked-options.js';

/** The part of pino's logger that Millrace calls; pino, bunyan-like loggers and `consoleLogger()` fit it. */
export interface Logger {
  /** What a developer of the library would ask for. */
  debug(fields: object, message: string): void;
  /** What an operator wants to know: states, tasks, restores. */
  info(fields: object, message: string): void;
  /** What was mended, or dropped, and should not come often. */
  warn(fields: object, message: string): void;
  /** What stopped something. */
  error(fields: object, message: string): void;
  /** A logger that adds `bindings` to the fields of each message. */
  child(bindings: Record<string, unknown>): Logger;
}

/** The check of an option that is one. */
export const loggerOption = objectWith('a logger with debug, info, warn, error and child', 'debug', 'info', 'warn', 'error', 'child');

/** Drops everything. */
export const silentLogger: Logger = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  child: () => silentLogger,
};
