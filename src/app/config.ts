import { MillraceError } from '../errors.js';
import { nearest } from '../errors/checked-options.js';
import { compressionTypes, type CompressionType } from '../kafka/compression/compression-type.js';
import { silentLogger, type Logger } from '../observability/logger.js';
import type { ProcessorWrapper } from '../processors/processor-wrapper.js';
import { defaultAssignorSettings, type TaskAssignor } from '../rebalance/assignor.js';
import { defaultRetry, handlerFaults } from '../runtime/error-policy.js';
import { restartFaults, restartStrategy } from '../runtime/restart-options.js';
import type { RestartOptions, RestartStrategy } from '../runtime/restart-strategy.js';
import type { DeserializationHandler, ProcessingHandler, ProductionHandler, HandlerRetryOptions } from '../runtime/error-policy.js';
import { leastEngineBytes } from '../stores/engine-memory.js';
import { isSerde } from '../serdes/checked-serde.js';
import type { Serde } from '../serdes/serde.js';
import {
  defaultMemoryBytes,
  leastBufferedBytes,
  leastMemoryBytes,
  leastUncommittedBytes,
  memoryFault,
  memoryShares,
  type MemoryShares,
} from './memory-shares.js';
import { connectionFaults, serversOf } from './connection-options.js';
import { brokersOptions, decidedByTheBroker, resolvedProtocol } from './brokers-options.js';
import { heapOfThreads, threadLimitFaults, type ThreadResourceLimits } from './thread-limits.js';
import { nameFault } from '../topology/resource-name.js';
import { timestampExtractorOption, type TimestampExtractor } from '../time/timestamp-extractor.js';
import { offsetResetOption, type OffsetReset } from '../time/offset-reset.js';

/** Options of a `StreamsApp`. Names follow Kafka Streams' where it has one; times are milliseconds, sizes bytes. */
export interface StreamsConfig {
  /** Name of the app: its consumer group, and the prefix of its internal topics and transactional ids. Letters, digits, `.`, `_`, `-`. */
  readonly applicationId: string;
  /** `host:port`, one or several. */
  readonly bootstrapServers: string | readonly string[];
  /** Default `exactly_once`. */
  readonly processingGuarantee?: 'exactly_once' | 'at_least_once';
  /** Time between barriers, ms. Default 100 under exactly-once, 1000 otherwise. */
  readonly commitInterval?: number;
  /** When results of aggregations and tables go downstream, unless an operator says otherwise. Default `onCommit`: the last value of a key in each epoch. */
  readonly emit?: 'onCommit' | 'onUpdate';
  /**
   * How record batches of outputs, changelogs and repartition topics are compressed. Default `none`. `snappy` and `lz4` need a package, `zstd` on Node below 22.15: `start()` rejects with
   * MILL_CODEC_MISSING, which names it.
   */
  readonly compressionType?: CompressionType;
  /** Stream threads, 1 to 128. Default 1, in the caller's own JavaScript thread. More run in workers, and need the topology as a module: `StreamsApp.fromModule`. */
  readonly threads?: number;
  /** Limits of the JavaScript heap of each thread, of `threads` above 1; one huge allocation beyond them may end the process all the same. Default: Node's own. */
  readonly threadResourceLimits?: ThreadResourceLimits;
  /**
   * Directory of the local state, for this instance alone. Default: a folder of its own for each instance under `millrace` in the system's temporary
   * directory. Name a durable one in production.
   */
  readonly stateDir?: string;
  /** How long the local state of a task that has moved away is kept, ms: if it comes back before, only the tail is restored. Default 600 000, as Kafka Streams' `state.cleanup.delay.ms`. */
  readonly stateCleanupDelay?: number;
  /** Where stores keep their rows. Default `leveldb`. */
  readonly storeEngine?: 'leveldb' | 'memory';
  /**
   * Memory for data on its way, bytes: cached rows, uncommitted changes and output (of the epoch that fills and the one that commits), records fetched ahead, LevelDB's own buffers.
   * At least 1 MiB. Default a quarter of Node's heap limit, 256 MiB at most. The four options below are its parts; what is not given of them shares the rest.
   */
  readonly maxMemoryBytes?: number;
  /** Memory for clean cached rows of all stores, bytes. Default a fifth of `maxMemoryBytes`. */
  readonly statestoreCacheMaxBytes?: number;
  /** Dirty state and output held in memory before the epoch is committed early, bytes. Default a fifth of `maxMemoryBytes`; two epochs may be held. */
  readonly maxUncommittedBytes?: number;
  /** Input records held in memory, bytes. Default a fifth of `maxMemoryBytes`. */
  readonly maxBufferedBytes?: number;
  /**
   * Write buffers and block caches of the LevelDB databases of all tasks, bytes. At least 256 KiB; default a fifth of `maxMemoryBytes`. A database takes its share when it is opened;
   * none takes less than 256 KiB.
   */
  readonly storeEngineMaxBytes?: number;
  /** How long a task with an empty input waits before it goes on with the others, ms. 0 (default): while data is known to be on the broker. -1: never waits. */
  readonly maxTaskIdleMs?: number;
  /** Where to begin without a committed offset. Default `earliest`; `none` is an error; `{ duration: ms }`: so long before now. */
  readonly autoOffsetReset?: OffsetReset;
  /**
   * Who decides which instance runs what. `classic` (default): an instance, by the options `assignor` and its like. `streams`: the broker (KIP-1071, Kafka 4.2 and later), by the settings of the
   * group there; the options that have no meaning then are refused. `auto`: `streams` where the cluster has it, nothing needs `classic`, and the group is new or a streams group; else
   * `classic`. The same in all instances.
   */
  readonly groupProtocol?: 'classic' | 'streams' | 'auto';
  /** The group drops a member that is silent for so long, ms. Default 10 000. */
  readonly sessionTimeout?: number;
  /** How often the instance says that it lives, and so how soon it hears of others that come and go, ms. Default 1000; below a third of `sessionTimeout` is wise. */
  readonly heartbeatInterval?: number;
  /**
   * How long the group waits for members to give up partitions, ms. Default 300 000. A member whose user function or commit takes longer gives them up without
   * a commit: what it did since the last one is processed again.
   */
  readonly rebalanceTimeout?: number;
  /** The broker aborts a transaction that is open for so long, ms. Default 10 000. */
  readonly transactionTimeout?: number;
  /** `host:port` under which other instances reach this one for queries; every member of the group learns it. Default none. */
  readonly applicationServer?: string | null;
  /**
   * Copies of each task's state on other instances, kept current, so that one of them takes over with hardly anything to restore. Default 0; there are no more than other
   * instances.
   */
  readonly numStandbyReplicas?: number;
  /**
   * Who decides which instance runs what. `sticky` (default): balance, then where the state is, then few moves. `range`: contiguous ranges of partitions. Or one of your own
   * (`TaskAssignor`). The same in all instances.
   */
  readonly assignor?: 'sticky' | 'range' | TaskAssignor;
  /** A task moves to an instance whose state is at most so many records behind; to others it moves once a copy there has caught up. Default 10 000. */
  readonly acceptableRecoveryLag?: number;
  /** Copies that catch up at a time, over the whole group, for tasks that are to move. Default 2. */
  readonly maxWarmupReplicas?: number;
  /** How often tasks that wait for a copy are looked at again, if no copy says that it is ready, ms. Default 600 000; at least 60 000, as in Kafka Streams. */
  readonly probingRebalanceInterval?: number;
  /** Names of `clientTags`: copies go where these differ from the instance that runs the task, and from each other. Default none. */
  readonly rackAwareTags?: readonly string[];
  /**
   * Makes this instance a static member of the group: one that comes back under the same id within `sessionTimeout` has its tasks again without a rebalance, and until then nobody
   * else has them. Unique for each instance, the same over its restarts. Default none.
   */
  readonly groupInstanceId?: string | null;
  /** Where this instance runs, as `{ zone: 'eu-1a' }`: at most 5 tags, names up to 20 characters and values up to 30, as in Kafka Streams. Default none. */
  readonly clientTags?: Readonly<Record<string, string>>;
  /** Of internal topics; -1 (default) takes the broker's. */
  readonly replicationFactor?: number;
  /** Serdes of sources, sinks and stores that name none. */
  readonly defaultKeySerde?: Serde<unknown>;
  /** The same for values. */
  readonly defaultValueSerde?: Serde<unknown>;
  /**
   * Where the time of records comes from, of sources that name none. Default `failOnInvalidTimestamp`: the record's own. Internal topics and global tables always have the record's own, as
   * in Kafka Streams.
   */
  readonly defaultTimestampExtractor?: TimestampExtractor;
  /** Records that a serde can't read. Default `fail`. */
  readonly deserializationHandler?: DeserializationHandler;
  /** Records a user function fails on. Default `fail`. */
  readonly processingHandler?: ProcessingHandler;
  /** Output records that can't be encoded or are too large. Default `fail`. */
  readonly productionHandler?: ProductionHandler;
  /** How often, and after which pauses, records are tried again that a handler answers `retry` for. Default: 3 times, after 100, 200 and 400 ms; then `fail`. */
  readonly retry?: HandlerRetryOptions;
  /**
   * Whether the app goes on from the last commit after an uncaught error, how often and after which pauses: Flink's restart strategies. Default: none, the app stops; what an uncaught-error
   * handler answers `replaceThread` for is restarted as by `exponentialDelay`.
   */
  readonly restart?: RestartOptions;
  /** Runs around every processor, those of the DSL included: for tracing, measuring, testing. Default: nothing does. */
  readonly processorWrapper?: ProcessorWrapper;
  /** Topic of `deadLetter` records. */
  readonly deadLetterTopic?: string | null;
  /** Shown to brokers. Default: the application id. */
  readonly clientId?: string;
  /** TLS, as kafkajs and node:tls take it: `true`, or `{ ca, cert, key, … }` with the contents of the files. */
  readonly ssl?: boolean | object;
  /** SASL, as kafkajs takes it: `{ mechanism: 'plain', username, password }` and the others. Never logged. */
  readonly sasl?: object;
  /** How long a request, and making a connection, may take, ms. Default 30 000. */
  readonly requestTimeout?: number;
  /** Pino-shaped. Default: silent. */
  readonly logger?: Logger;
}

export type ResolvedConfig = Required<
  Omit<
    StreamsConfig,
    | 'bootstrapServers'
    | 'maxMemoryBytes'
    | 'defaultKeySerde'
    | 'defaultValueSerde'
    | 'defaultTimestampExtractor'
    | 'ssl'
    | 'sasl'
    | 'deadLetterTopic'
    | 'stateDir'
    | 'processorWrapper'
    | 'retry'
    | 'restart'
    | 'applicationServer'
    | 'groupInstanceId'
  >
> &
  Pick<StreamsConfig, 'ssl' | 'sasl'> & {
    readonly bootstrapServers: readonly string[];
    readonly defaultKeySerde: Serde<unknown> | null;
    readonly defaultValueSerde: Serde<unknown> | null;
    readonly defaultTimestampExtractor: TimestampExtractor | null;
    readonly deadLetterTopic: string | null;
    readonly stateDir: string | null;
    readonly applicationServer: string | null;
    readonly groupInstanceId: string | null;
    readonly processorWrapper: ProcessorWrapper | null;
    readonly retry: Required<HandlerRetryOptions>;
    readonly restart: RestartStrategy | null;
  };

/** Each is a worker with a heap of its own. */
const mostThreads = 128;

/** Fills in defaults. Throws MILL_CONFIG_INVALID that lists every fault at once. */
export function resolveConfig(config: StreamsConfig): ResolvedConfig {
  if (!isObject(config)) {
    throw new MillraceError('MILL_CONFIG_INVALID', 'The app needs a configuration: at least { applicationId, bootstrapServers }.');
  }
  const faults = findFaults(config);
  if (faults.length > 0) {
    throw new MillraceError('MILL_CONFIG_INVALID', `the configuration has ${faults.length} fault(s): ${faults.join('; ')}`, {
      details: { faults },
    });
  }
  const exactlyOnce = (config.processingGuarantee ?? 'exactly_once') === 'exactly_once';
  return {
    applicationId: config.applicationId,
    groupProtocol: resolvedProtocol(config),
    bootstrapServers: serversOf(config.bootstrapServers),
    processingGuarantee: exactlyOnce ? 'exactly_once' : 'at_least_once',
    commitInterval: config.commitInterval ?? (exactlyOnce ? 100 : 1000),
    emit: config.emit ?? 'onCommit',
    compressionType: config.compressionType ?? 'none',
    threads: config.threads ?? 1,
    threadResourceLimits: config.threadResourceLimits ?? {},
    stateDir: config.stateDir ?? null,
    stateCleanupDelay: config.stateCleanupDelay ?? 600_000,
    storeEngine: config.storeEngine ?? 'leveldb',
    ...sharesOf(config),
    maxTaskIdleMs: config.maxTaskIdleMs ?? 0,
    autoOffsetReset: config.autoOffsetReset ?? 'earliest',
    sessionTimeout: config.sessionTimeout ?? 10_000,
    heartbeatInterval: config.heartbeatInterval ?? 1000,
    rebalanceTimeout: config.rebalanceTimeout ?? 300_000,
    transactionTimeout: config.transactionTimeout ?? 10_000,
    applicationServer: config.applicationServer ?? null,
    clientTags: config.clientTags ?? {},
    groupInstanceId: config.groupInstanceId ?? null,
    numStandbyReplicas: config.numStandbyReplicas ?? 0,
    assignor: config.assignor ?? 'sticky',
    acceptableRecoveryLag: config.acceptableRecoveryLag ?? defaultAssignorSettings.acceptableRecoveryLag,
    maxWarmupReplicas: config.maxWarmupReplicas ?? defaultAssignorSettings.maxWarmupReplicas,
    probingRebalanceInterval: config.probingRebalanceInterval ?? 600_000,
    rackAwareTags: config.rackAwareTags ?? [],
    replicationFactor: config.replicationFactor ?? -1,
    defaultKeySerde: config.defaultKeySerde ?? null,
    defaultValueSerde: config.defaultValueSerde ?? null,
    defaultTimestampExtractor: config.defaultTimestampExtractor ?? null,
    deserializationHandler: config.deserializationHandler ?? 'fail',
    processingHandler: config.processingHandler ?? 'fail',
    productionHandler: config.productionHandler ?? 'fail',
    retry: { ...defaultRetry, ...config.retry },
    restart: config.restart === undefined ? null : restartStrategy(config.restart),
    processorWrapper: config.processorWrapper ?? null,
    deadLetterTopic: config.deadLetterTopic ?? null,
    clientId: config.clientId ?? config.applicationId,
    ssl: config.ssl,
    sasl: config.sasl,
    requestTimeout: config.requestTimeout ?? 30_000,
    logger: config.logger ?? silentLogger,
  };
}

/** A part that is given beside no total is not taken from the others. */
function sharesOf(config: StreamsConfig): MemoryShares {
  if (config.maxMemoryBytes !== undefined) return memoryShares(config.maxMemoryBytes, config);
  const heap = heapOfThreads(config.threadResourceLimits, config.threads ?? 1);
  const shares = memoryShares(heap === null ? defaultMemoryBytes() : defaultMemoryBytes(heap), {});
  return {
    statestoreCacheMaxBytes: config.statestoreCacheMaxBytes ?? shares.statestoreCacheMaxBytes,
    maxUncommittedBytes: config.maxUncommittedBytes ?? shares.maxUncommittedBytes,
    maxBufferedBytes: config.maxBufferedBytes ?? shares.maxBufferedBytes,
    storeEngineMaxBytes: config.storeEngineMaxBytes ?? shares.storeEngineMaxBytes,
  };
}

const known: ReadonlySet<string> = new Set<keyof StreamsConfig>([
  'applicationId',
  'bootstrapServers',
  'processingGuarantee',
  'commitInterval',
  'emit',
  'compressionType',
  'threads',
  'threadResourceLimits',
  'stateDir',
  'stateCleanupDelay',
  'storeEngine',
  'maxMemoryBytes',
  'statestoreCacheMaxBytes',
  'maxUncommittedBytes',
  'maxBufferedBytes',
  'storeEngineMaxBytes',
  'maxTaskIdleMs',
  'autoOffsetReset',
  'groupProtocol',
  'sessionTimeout',
  'heartbeatInterval',
  'rebalanceTimeout',
  'transactionTimeout',
  'applicationServer',
  'clientTags',
  'groupInstanceId',
  'numStandbyReplicas',
  'assignor',
  'acceptableRecoveryLag',
  'maxWarmupReplicas',
  'probingRebalanceInterval',
  'rackAwareTags',
  'replicationFactor',
  'defaultKeySerde',
  'defaultValueSerde',
  'defaultTimestampExtractor',
  'deserializationHandler',
  'processingHandler',
  'productionHandler',
  'retry',
  'restart',
  'processorWrapper',
  'deadLetterTopic',
  'clientId',
  'ssl',
  'sasl',
  'requestTimeout',
  'logger',
]);

function findFaults(config: StreamsConfig): string[] {
  const faults: string[] = [];
  for (const key of Object.keys(config)) if (!known.has(key)) faults.push(`${key} is not an option${meant(key)}`);
  if (typeof config.applicationId !== 'string' || !/^(?!\.{1,2}$)[\w.-]{1,200}$/.test(config.applicationId)) {
    faults.push('applicationId must be 1 to 200 letters, digits, ".", "_" or "-", and not "." or ".."');
  }
  faults.push(...connectionFaults(config));
  ofKind(faults, config, 'clientTags', 'at most 5 tags, names of 1 to 20 characters with values of 1 to 30', isTags);
  ofKind(
    faults,
    config,
    'groupInstanceId',
    '1 to 240 letters, digits, ".", "_" or "-", or null',
    (value) => value === null || (typeof value === 'string' && /^(?!\.{1,2}$)[\w.-]{1,240}$/.test(value)),
  );
  whole(faults, config, 'numStandbyReplicas', 0);
  whole(faults, config, 'acceptableRecoveryLag', 0);
  whole(faults, config, 'maxWarmupReplicas', 1);
  milliseconds(faults, config, 'probingRebalanceInterval', 60_000);
  ofKind(faults, config, 'assignor', '"sticky", "range" or an object with a name and assign()', isAssignor);
  ofKind(
    faults,
    config,
    'rackAwareTags',
    'names of clientTags',
    (value) => Array.isArray(value) && value.every((tag) => typeof tag === 'string'),
  );
  for (const tag of Array.isArray(config.rackAwareTags) ? (config.rackAwareTags as readonly string[]) : [])
    if (!Object.hasOwn(config.clientTags ?? {}, tag)) faults.push(`rackAwareTags names ${tag}, which clientTags has not`);
  for (const key of ['stateDir', 'clientId'] as const)
    ofKind(faults, config, key, 'a string', (value) => typeof value === 'string' && value !== '');
  ofKind(
    faults,
    config,
    'deadLetterTopic',
    'a topic name or null',
    (value) => value === null || (typeof value === 'string' && nameFault(value) === null),
  );
  ofKind(faults, config, 'processorWrapper', 'a function', (value) => typeof value === 'function');
  ofKind(faults, config, 'logger', 'a logger with debug, info, warn, error and child', isLogger);
  for (const key of ['defaultKeySerde', 'defaultValueSerde'] as const) ofKind(faults, config, key, 'a serde', isSerde);
  oneOf(faults, config, 'processingGuarantee', ['exactly_once', 'at_least_once']);
  oneOf(faults, config, 'groupProtocol', ['classic', 'streams', 'auto']);
  if (config.groupProtocol === 'streams') faults.push(...brokersOptions(config).map(decidedByTheBroker));
  oneOf(faults, config, 'emit', ['onCommit', 'onUpdate']);
  oneOf(faults, config, 'compressionType', compressionTypes);
  oneOf(faults, config, 'storeEngine', ['leveldb', 'memory']);
  const wrongReset = config.autoOffsetReset === undefined ? null : offsetResetOption(config.autoOffsetReset);
  if (wrongReset !== null) faults.push(`autoOffsetReset must be ${wrongReset}`);
  const { defaultTimestampExtractor } = config;
  const wrongExtractor = defaultTimestampExtractor === undefined ? null : timestampExtractorOption(defaultTimestampExtractor);
  if (wrongExtractor !== null) faults.push(`defaultTimestampExtractor must be ${wrongExtractor}`);
  whole(faults, config, 'threads', 1);
  if (typeof config.threads === 'number' && config.threads > mostThreads) faults.push(`threads must be at most ${mostThreads}`);
  faults.push(...threadLimitFaults(config.threadResourceLimits, config.threads));
  milliseconds(faults, config, 'commitInterval', 0);
  atLeast(faults, config, 'statestoreCacheMaxBytes', 0);
  atLeast(faults, config, 'maxUncommittedBytes', leastUncommittedBytes);
  atLeast(faults, config, 'maxBufferedBytes', leastBufferedBytes);
  atLeast(faults, config, 'storeEngineMaxBytes', leastEngineBytes);
  const memoryFaults = faults.length;
  atLeast(faults, config, 'maxMemoryBytes', leastMemoryBytes);
  if (config.maxMemoryBytes !== undefined && faults.length === memoryFaults) {
    const fault = memoryFault(config.maxMemoryBytes, config);
    if (fault !== null) faults.push(fault);
  }
  milliseconds(faults, config, 'maxTaskIdleMs', -1);
  milliseconds(faults, config, 'sessionTimeout', 1);
  milliseconds(faults, config, 'heartbeatInterval', 1);
  milliseconds(faults, config, 'rebalanceTimeout', 1);
  milliseconds(faults, config, 'transactionTimeout', 1);
  milliseconds(faults, config, 'requestTimeout', 1);
  milliseconds(faults, config, 'stateCleanupDelay', 0);
  if (config.processingGuarantee !== 'at_least_once' && (config.commitInterval ?? 100) >= (config.transactionTimeout ?? 10_000))
    faults.push('commitInterval must be below transactionTimeout');
  if ((config.heartbeatInterval ?? 1000) >= (config.sessionTimeout ?? 10_000))
    faults.push('heartbeatInterval must be below sessionTimeout');
  // A member hears of a rebalance with a heartbeat: with less it would be too late for each.
  if ((config.heartbeatInterval ?? 1000) >= (config.rebalanceTimeout ?? 300_000))
    faults.push('heartbeatInterval must be below rebalanceTimeout');
  if (
    config.replicationFactor !== undefined &&
    config.replicationFactor !== -1 &&
    !(Number.isInteger(config.replicationFactor) && config.replicationFactor > 0)
  ) {
    faults.push('replicationFactor must be -1 or a positive integer');
  }
  faults.push(...handlerFaults(config), ...restartFaults(config.restart));
  return faults;
}

function meant(key: string): string {
  const near = nearest(key, [...known]);
  return near === null ? '' : `; did you mean ${near}?`;
}

function oneOf<K extends keyof StreamsConfig>(faults: string[], config: StreamsConfig, key: K, allowed: readonly unknown[]): void {
  const value: unknown = config[key];
  if (value !== undefined && !allowed.includes(value)) faults.push(`${key} must be one of ${allowed.join(', ')}`);
}

function atLeast(faults: string[], config: StreamsConfig, key: keyof StreamsConfig, least: number): void {
  const value: unknown = config[key];
  if (value === undefined) return;
  if (typeof value !== 'number' || !Number.isFinite(value) || value < least) faults.push(`${key} must be a number of at least ${least}`);
}

function whole(faults: string[], config: StreamsConfig, key: keyof StreamsConfig, least: number): void {
  const value: unknown = config[key];
  if (value !== undefined && !(Number.isSafeInteger(value) && (value as number) >= least))
    faults.push(`${key} must be a whole number of at least ${least}`);
}

/** What the wire and timers can carry: a signed 32-bit number of milliseconds. */
const longestMs = 2_147_483_647;

function milliseconds(faults: string[], config: StreamsConfig, key: keyof StreamsConfig, least: number): void {
  const value: unknown = config[key];
  if (value === undefined) return;
  if (!Number.isInteger(value) || (value as number) < least || (value as number) > longestMs) {
    faults.push(`${key} must be a whole number of milliseconds from ${least} to ${longestMs}`);
  }
}

function ofKind(faults: string[], config: StreamsConfig, key: keyof StreamsConfig, what: string, fits: (value: unknown) => boolean): void {
  const value: unknown = config[key];
  if (value !== undefined && !fits(value)) faults.push(`${key} must be ${what}`);
}

function isAssignor(value: unknown): boolean {
  if (value === 'sticky' || value === 'range') return true;
  return isObject(value) && typeof (value as TaskAssignor).name === 'string' && typeof (value as TaskAssignor).assign === 'function';
}

function isTags(value: unknown): boolean {
  if (!isObject(value) || Array.isArray(value)) return false;
  const tags = Object.entries(value as object);
  const fits = (text: unknown, longest: number): boolean => typeof text === 'string' && text.length > 0 && text.length <= longest;
  return tags.length <= 5 && tags.every(([name, tag]) => fits(name, 20) && fits(tag, 30));
}

function isObject(value: unknown): boolean {
  return typeof value === 'object' && value !== null;
}

function isLogger(value: unknown): boolean {
  return (
    isObject(value) &&
    (['debug', 'info', 'warn', 'error', 'child'] as const).every((method) => typeof (value as Logger)[method] === 'function')
  );
}
