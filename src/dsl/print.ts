/** The lines of `print`, as Kafka Streams' `Printed` writes them: `[label]: key, value`. */
import { inspect } from 'node:util';
import type { RecordAction } from '../processors/user-functions.js';
import type { PrintOptions } from './options.js';

/** @param name of the stream, for a label */
export function printing<K, V>(name: string, options: PrintOptions): RecordAction<K, V> {
  const { label = name, write = console.log } = options;
  return (value, key) => write(`[${label}]: ${shown(key)}, ${shown(value)}`);
}

function shown(part: unknown): string {
  return typeof part === 'string' ? part : inspect(part, { breakLength: Infinity });
}
