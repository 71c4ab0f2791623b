import { types } from 'node:util';
import type { StreamsConfig } from '../config.js';

/** What is bridged, so that it need not be sent. */
const bridged: ReadonlySet<string> = new Set<keyof StreamsConfig>(['logger']);

export interface SendableConfig {
  /** The options that threads are told. */
  readonly config: StreamsConfig;
  /** What can't be sent, and what to do about it. */
  readonly faults: readonly string[];
}

/** The caller's options, as they can be sent to a thread. Functions, and what has some, must come from the topology module. */
export function sendableConfig(given: StreamsConfig): SendableConfig {
  const config: Record<string, unknown> = {};
  const faults: string[] = [];
  for (const [option, value] of Object.entries(given)) {
    if (bridged.has(option)) continue;
    if (isPlain(value, 0)) config[option] = value;
    else
      faults.push(
        `${option} can't be sent to threads, since it has functions or is no plain data: export it from the topology module, as in export const config = { ${option} }`,
      );
  }
  return { config: config as unknown as StreamsConfig, faults };
}

const deepest = 20;

/** What arrives as it was sent. */
function isPlain(value: unknown, depth: number): boolean {
  if (value === null || ['undefined', 'string', 'number', 'boolean', 'bigint'].includes(typeof value)) return true;
  if (typeof value !== 'object' || depth > deepest) return false;
  if (types.isUint8Array(value) || types.isDate(value)) return true;
  if (Array.isArray(value)) return value.every((item) => isPlain(item, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  const isObject = prototype === null || Object.getPrototypeOf(prototype) === null;
  return (
    isObject &&
    Reflect.ownKeys(value).length === Object.keys(value).length &&
    Object.values(value).every((item) => isPlain(item, depth + 1))
  );
}
