/**
 * The local stack as tests, demo and benchmarks use it: a Kafka of one or three brokers and, if wanted, a schema registry, on free
 * ports of this machine, gone without a trace when the caller stops it or ends in any way.
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Cluster } from './cluster.js';
import type { StackCredentials } from './credentials.js';
import { stackCredentials } from './credentials.js';
import { installKafka, installRegistry } from './install.js';
import { findJavaTools } from './java.js';
import type { Keeper } from './keeper.js';
import { startKeeper } from './keeper.js';
import type { OnProgress } from './progress.js';
import type { Registry } from './registry.js';
import { startRegistry } from './registry.js';
import type { BrokerCount } from './settings.js';

export interface StackOptions {
  /** Default 1. Three brokers form a quorum and replicate every topic three times. */
  readonly brokers?: BrokerCount;
  /** Also start a schema registry. Default false. */
  readonly registry?: boolean;
  /** SASL/PLAIN and the standard authorizer, with the users of {@link Stack.credentials}. Default false. */
  readonly acl?: boolean;
  /** Start a stack of one's own even when `KAFKA_BROKERS` names one: for callers that restart or kill brokers. Default false. */
  readonly own?: boolean;
  readonly onProgress?: OnProgress;
}

export interface Stack {
  readonly bootstrapServers: string[];
  /** Base URL of the registry's Confluent-compatible API; null without a registry. */
  readonly registryUrl: string | null;
  /** The users to log in as; null when anybody may connect. */
  readonly credentials: StackCredentials | null;
  /** Broker processes, then the registry's; empty for a stack that somebody else runs. */
  readonly pids: number[];
  /** Where logs and data are until {@link stop}; null for a stack that somebody else runs. */
  readonly folder: string | null;
  /** Ends broker `id` (default 1, by SIGKILL) and starts it again on the same port and data; resolves when the cluster answers. */
  restartBroker(id?: number, signal?: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  /** Kills every process and removes the data. Does nothing to a stack that somebody else runs. */
  stop(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Starts a stack. With `KAFKA_BROKERS` in the environment (comma-separated) that cluster is used, unless the options ask for what it
 * cannot promise: three brokers, access control, or `own`. With `SCHEMA_REGISTRY_URL` that registry is used.
 *
 * @throws MissingToolsError without Java 17+ or Maven, when something has to be started
 */
export function startStack(options: StackOptions = {}): Promise<Stack> {
  return launchStack(options, startKeeper);
}

/** Starts a stack whose processes are watched by `makeKeeper`'s keeper. */
export async function launchStack(options: StackOptions, makeKeeper: () => Keeper): Promise<Stack> {
  const existingServers = sharedServers(options);
  const existingRegistry = process.env['SCHEMA_REGISTRY_URL'] || null;
  const parts: Parts = { folder: null, cluster: null, registry: null, keeper: null };
  if (existingServers === null || (options.registry === true && existingRegistry === null)) {
    await startParts(
      parts,
      options,
      { kafka: existingServers === null, registry: options.registry === true && existingRegistry === null },
      makeKeeper,
    );
  }
  const { cluster, registry } = parts;
  const stop = (): Promise<void> => stopParts(parts);
  return {
    bootstrapServers: cluster?.bootstrapServers ?? existingServers ?? [],
    registryUrl: registry?.url ?? (options.registry ? existingRegistry : null),
    credentials: cluster && options.acl ? stackCredentials : null,
    get pids() {
      return [...(cluster?.pids ?? []), ...(registry ? [registry.service.pid] : [])];
    },
    folder: parts.folder,
    async restartBroker(id = 1, signal = 'SIGKILL') {
      if (!cluster) throw new Error('This Kafka is run by somebody else (KAFKA_BROKERS); ask for a stack of your own to restart brokers');
      await cluster.restart(id, signal);
    },
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function sharedServers({ brokers, acl, own }: StackOptions): string[] | null {
  const servers = process.env['KAFKA_BROKERS'];
  return servers && brokers !== 3 && !acl && !own ? servers.split(',').map((server) => server.trim()) : null;
}

/** What was started so far, so that a failure half way ends it as well. */
interface Parts {
  folder: string | null;
  cluster: Cluster | null;
  registry: Registry | null;
  keeper: Keeper | null;
}

async function startParts(
  parts: Parts,
  options: StackOptions,
  wanted: { kafka: boolean; registry: boolean },
  makeKeeper: () => Keeper,
): Promise<void> {
  const { brokers = 1, acl = false, onProgress = () => undefined } = options;
  const tools = await findJavaTools();
  const jars = wanted.kafka ? await installKafka(tools, onProgress) : null;
  const installation = wanted.registry ? await installRegistry(tools, onProgress) : null;
  const folder = (parts.folder = await mkdtemp(join(tmpdir(), 'millrace-stack-')));
  const keeper = (parts.keeper = makeKeeper());
  keeper.addFolder(folder);
  const { java } = tools;
  const names = [jars !== null && (brokers === 3 ? 'Kafka (3 brokers)' : 'Kafka'), installation !== null && 'the schema registry'].filter(
    Boolean,
  );
  onProgress({ kind: 'step', text: `Starting ${names.join(' and ')}` });
  const started = await Promise.allSettled([
    jars !== null &&
      Cluster.start({ java, jars, folder, brokers, credentials: acl ? stackCredentials : null, keeper }).then(
        (cluster) => (parts.cluster = cluster),
      ),
    installation !== null && startRegistry({ java, installation, folder, keeper }).then((registry) => (parts.registry = registry)),
  ]);
  const failed = started.find((result) => result.status === 'rejected');
  if (!failed) return;
  await stopParts(parts);
  throw failed.reason;
}

async function stopParts({ folder, cluster, registry, keeper }: Parts): Promise<void> {
  await Promise.all([cluster?.stop(), registry?.service.stop('SIGKILL')]);
  if (folder !== null) await rm(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
  await keeper?.close();
}
