/**
 * A topology as a module of its own. Functions can't be sent to another JavaScript thread, so each thread imports the module and builds the topology, and what else
 * of the app is made of functions, for itself.
 */
import { isAbsolute } from 'node:path';
import { pathToFileURL } from 'node:url';
import { MillraceError } from '../errors.js';
import type { Topology } from '../topology/nodes.js';
import type { StreamsConfig } from './config.js';

/** What a topology module is told when it builds the topology. */
export interface TopologyContext {
  /** The app's configuration: that of the caller and that of the module together. */
  readonly config: StreamsConfig;
  /** The stream thread that the topology is for; null where it is built to be looked at: checked, and asked for its stores. */
  readonly thread: number | null;
}

/** Builds the topology: the same one in every thread. */
export type TopologyFactory = (context: TopologyContext) => Topology | Promise<Topology>;

/** What `StreamsApp.fromModule` imports. */
export interface TopologyModule {
  readonly default: Topology | TopologyFactory;
  /** Options that can't be sent to a thread since they are functions or made of them (serdes, handlers, an assignor, a wrapper), and any others. */
  readonly config?: Partial<StreamsConfig>;
}

export interface LoadedTopology {
  readonly topology: Topology;
  /** The caller's and the module's together. */
  readonly config: StreamsConfig;
}

/** `new URL('./topology.js', import.meta.url)`, its text, or an absolute path. @throws MILL_CONFIG_INVALID */
export function moduleUrl(module: unknown): string {
  if (module instanceof URL) return module.href;
  if (typeof module === 'string' && /^(file|data):/.test(module)) return module;
  if (typeof module === 'string' && isAbsolute(module)) return pathToFileURL(module).href;
  throw new MillraceError(
    'MILL_CONFIG_INVALID',
    `The topology module must be named by a URL, as in new URL('./topology.js', import.meta.url), or an absolute path, not by ${shown(module)}.`,
  );
}

/** @throws MILL_CONFIG_INVALID when it can't be imported, exports something else, or gives options that the caller gives too; what its function throws */
export async function loadTopologyModule(url: string, given: StreamsConfig, thread: number | null): Promise<LoadedTopology> {
  const module = await imported(url);
  const { default: exported, config: own = {} } = module;
  if (typeof own !== 'object' || own === null) throw refusal(url, `its export \`config\` must be an object, not ${shown(own)}`);
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
  const twice = Object.keys(own).filter((option) => Object.hasOwn(set, option));
  if (twice.length > 0) throw refusal(url, `its export \`config\` and the app both give ${twice.join(', ')}: give each option once`);
  const config = { ...own, ...set } as StreamsConfig;
  if (typeof exported !== 'function') {
    if (typeof exported === 'object' && exported !== null) return { topology: exported as Topology, config };
    throw refusal(url, `its default export must be a topology, or a function that gives one, not ${shown(exported)}`);
  }
  return { topology: await (exported as TopologyFactory)({ config, thread }), config };
}

async function imported(url: string): Promise<{ readonly default?: unknown; readonly config?: unknown }> {
  try {
    return (await import(url)) as { readonly default?: unknown; readonly config?: unknown };
  } catch (cause) {
    throw new MillraceError('MILL_CONFIG_INVALID', `The topology module ${url} can’t be imported: ${String(cause)}`, { cause });
  }
}

function refusal(url: string, reason: string): MillraceError {
  return new MillraceError('MILL_CONFIG_INVALID', `The topology module ${url} is not one: ${reason}.`, { details: { module: url } });
}

function shown(value: unknown): string {
  return typeof value === 'string' ? `"${value}"` : value === null ? 'null' : typeof value;
}
