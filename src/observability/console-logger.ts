import { oneOf, requireArgument } from '../errors/checked-options.js';
import type { Logger } from './logger.js';

/** From the most talkative to the most silent. */
export type LogLevel = 'debug' | 'info' | 'warn' | 'error';
const levels: readonly LogLevel[] = ['debug', 'info', 'warn', 'error'];

/** Writes one JSON line a message to the console: enough for examples and small services. `level` (default `info`) is the lowest that is written. @throws MILL_CONFIG_INVALID for another level */
export function consoleLogger(level: LogLevel = 'info', bindings: Readonly<Record<string, unknown>> = {}): Logger {
  requireArgument('consoleLogger: the level', level, oneOf(...levels), 'MILL_CONFIG_INVALID');
  const write =
    (of: LogLevel) =>
    (fields: object, message: string): void => {
      if (levels.indexOf(of) < levels.indexOf(level)) return;
      console[of](JSON.stringify({ time: new Date().toISOString(), level: of, message, ...bindings, ...fields }, plain));
    };
  return {
    debug: write('debug'),
    info: write('info'),
    warn: write('warn'),
    error: write('error'),
    child: (more) => consoleLogger(level, { ...bindings, ...more }),
  };
}

/** What JSON can't hold by itself. */
function plain(_key: string, value: unknown): unknown {
  if (typeof value === 'bigint') return value.toString();
  return value instanceof Error ? { name: value.name, message: value.message, stack: value.stack } : value;
}
