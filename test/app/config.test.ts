import { describe, expect, it } from '@jest/globals';
import { resolveConfig, type StreamsConfig } from '../../src/app/config.js';
import { defaultMemoryBytes } from '../../src/app/memory-shares.js';
import type { MillraceError } from '../../src/errors.js';
import { silentLogger } from '../../src/observability/logger.js';

const least: StreamsConfig = { applicationId: 'app', bootstrapServers: 'localhost:9092' };

function faultsOf(config: object): readonly string[] {
  try {
    resolveConfig({ ...least, ...config });
  } catch (error) {
    expect(error).toMatchObject({ code: 'MILL_CONFIG_INVALID' });
    return (error as MillraceError).details['faults'] as readonly string[];
  }
  return [];
}

describe('defaults', () => {
  it('are those that the options’ comments say', () => {
    expect(resolveConfig(least)).toEqual({
      applicationId: 'app',
      bootstrapServers: ['localhost:9092'],
      processingGuarantee: 'exactly_once',
      commitInterval: 100,
      emit: 'onCommit',
      threads: 1,
      threadResourceLimits: {},
      stateDir: null,
      stateCleanupDelay: 600_000,
      compressionType: 'none',
      storeEngine: 'leveldb',
      statestoreCacheMaxBytes: 53_687_091,
      maxUncommittedBytes: 53_687_091,
      maxBufferedBytes: 53_687_091,
      storeEngineMaxBytes: 53_687_091,
      maxTaskIdleMs: 0,
      groupProtocol: 'classic',
      autoOffsetReset: 'earliest',
      sessionTimeout: 10_000,
      heartbeatInterval: 1000,
      rebalanceTimeout: 300_000,
      transactionTimeout: 10_000,
      applicationServer: null,
      clientTags: {},
      groupInstanceId: null,
      numStandbyReplicas: 0,
      assignor: 'sticky',
      acceptableRecoveryLag: 10_000,
      maxWarmupReplicas: 2,
      probingRebalanceInterval: 600_000,
      rackAwareTags: [],
      replicationFactor: -1,
      defaultKeySerde: null,
      defaultValueSerde: null,
      defaultTimestampExtractor: null,
      deserializationHandler: 'fail',
      processingHandler: 'fail',
      productionHandler: 'fail',
      deadLetterTopic: null,
      processorWrapper: null,
      retry: { attempts: 3, backoff: 100, maxBackoff: 1000, afterwards: 'fail' },
      restart: null,
      clientId: 'app',
      ssl: undefined,
      sasl: undefined,
      requestTimeout: 30_000,
      logger: silentLogger,
    });
  });

  it('commit every second without transactions', () => {
    expect(resolveConfig({ ...least, processingGuarantee: 'at_least_once' }).commitInterval).toBe(1000);
  });

  it('leave every option that is given as it is', () => {
    const given: StreamsConfig = {
      ...least,
      processingGuarantee: 'at_least_once',
      commitInterval: 5,
      emit: 'onUpdate',
      threads: 4,
      threadResourceLimits: { maxOldGenerationSizeMb: 512, stackSizeMb: 8 },
      stateDir: '/var/app',
      stateCleanupDelay: 1000,
      compressionType: 'gzip',
      storeEngine: 'memory',
      statestoreCacheMaxBytes: 0,
      maxUncommittedBytes: 65_536,
      maxBufferedBytes: 65_536,
      storeEngineMaxBytes: 300_000,
      maxTaskIdleMs: -1,
      autoOffsetReset: 'none',
      groupProtocol: 'classic',
      sessionTimeout: 6000,
      heartbeatInterval: 2000,
      rebalanceTimeout: 60_000,
      transactionTimeout: 60_000,
      applicationServer: 'me:80',
      clientTags: { zone: 'a' },
      groupInstanceId: 'app-1',
      numStandbyReplicas: 2,
      assignor: 'range',
      acceptableRecoveryLag: 0,
      maxWarmupReplicas: 1,
      probingRebalanceInterval: 60_000,
      rackAwareTags: ['zone'],
      replicationFactor: 3,
      deserializationHandler: 'deadLetter',
      processingHandler: () => 'continue',
      productionHandler: 'continue',
      processorWrapper: () => null,
      retry: { attempts: 5, backoff: 0, maxBackoff: 50, afterwards: 'deadLetter' },
      restart: { strategy: 'fixedDelay', attempts: 2, delay: 5 },
      deadLetterTopic: 'dlq',
      clientId: 'me',
      ssl: true,
      sasl: { mechanism: 'plain', username: 'me', password: 'secret' },
      requestTimeout: 5000,
      logger: silentLogger,
    };
    expect(resolveConfig(given)).toEqual({
      ...given,
      bootstrapServers: ['localhost:9092'],
      defaultKeySerde: null,
      defaultValueSerde: null,
      defaultTimestampExtractor: null,
    });
  });
});

describe('threadResourceLimits', () => {
  it('bring the memory for data down to a quarter of the heap that all threads have', () => {
    const config = resolveConfig({ ...least, threads: 2, threadResourceLimits: { maxOldGenerationSizeMb: 64 } });
    const { statestoreCacheMaxBytes, maxUncommittedBytes, maxBufferedBytes, storeEngineMaxBytes } = config;
    const parts = statestoreCacheMaxBytes + 2 * maxUncommittedBytes + maxBufferedBytes + storeEngineMaxBytes;
    expect(Math.ceil(parts / 5)).toBe(Math.floor((2 * 64 * 1024 * 1024) / 4 / 5));
  });
});

describe('maxMemoryBytes', () => {
  const partsOf = (config: Partial<StreamsConfig>) => {
    const {
      statestoreCacheMaxBytes: cache,
      maxUncommittedBytes: epoch,
      maxBufferedBytes: buffers,
      storeEngineMaxBytes: engine,
    } = resolveConfig({ ...least, ...config });
    return { cache, epoch, buffers, engine };
  };

  it('is divided among cache, two epochs, buffers and LevelDB', () => {
    const part = 10_000_000;
    expect(partsOf({ maxMemoryBytes: 5 * part })).toEqual({ cache: part, epoch: part, buffers: part, engine: part });
  });

  it('gives the parts that are not named what those that are leave of it', () => {
    expect(partsOf({ maxMemoryBytes: 40_000_000, statestoreCacheMaxBytes: 0 })).toEqual({
      cache: 0,
      epoch: 10_000_000,
      buffers: 10_000_000,
      engine: 10_000_000,
    });
    expect(partsOf({ maxMemoryBytes: 40_000_000, maxUncommittedBytes: 14_000_000 })).toEqual({
      cache: 4_000_000,
      epoch: 14_000_000,
      buffers: 4_000_000,
      engine: 4_000_000,
    });
  });

  it('is a quarter of the heap limit by default, and 256 MiB at most', () => {
    expect([100, 400, 4000].map((mebibytes) => defaultMemoryBytes(mebibytes * 2 ** 20) / 2 ** 20)).toEqual([25, 100, 256]);
  });

  it('does not hold for a part that is given alone, nor for the others then', () => {
    const untouched = partsOf({});
    expect(partsOf({ maxBufferedBytes: 2 ** 30 })).toEqual({ ...untouched, buffers: 2 ** 30 });
  });

  // The parts are what is kept to, so their sum is what counts.
  it.each([{}, { maxBufferedBytes: 70_000 }, { statestoreCacheMaxBytes: 200_000, maxUncommittedBytes: 80_000 }])(
    'is never exceeded by its parts (given: %j)',
    (given) => {
      for (const mebibytes of [1, 3, 10, 1000]) {
        const maxMemoryBytes = mebibytes * 2 ** 20;
        const { cache, epoch, buffers, engine } = partsOf({ maxMemoryBytes, ...given });
        expect(cache + 2 * epoch + buffers + engine).toBeLessThanOrEqual(maxMemoryBytes);
      }
    },
  );
});

describe('faults', () => {
  it('are all listed at once', () => {
    const faults = faultsOf({
      applicationId: 'with space',
      bootstrapServers: [],
      emit: 'sometimes',
      commitIntervall: 3,
      maxBufferedBytes: 1,
    });
    expect(faults).toEqual([
      'commitIntervall is not an option; did you mean commitInterval?',
      'applicationId must be 1 to 200 letters, digits, ".", "_" or "-", and not "." or ".."',
      'bootstrapServers must name at least one host:port',
      'emit must be one of onCommit, onUpdate',
      'maxBufferedBytes must be a number of at least 65536',
    ]);
  });

  const rows: readonly (readonly [object, string])[] = [
    [{ applicationId: undefined }, 'applicationId must be'],
    [{ applicationId: '..' }, 'applicationId must be'],
    [{ applicationId: 'x'.repeat(201) }, 'applicationId must be'],
    [{ bootstrapServers: 'localhost' }, 'bootstrapServers must name'],
    [{ bootstrapServers: ['a:1', 'b'] }, 'bootstrapServers must name'],
    [{ bootstrapServers: undefined }, 'bootstrapServers must name'],
    [{ bootstrapServers: 'a:99999' }, 'bootstrapServers must name host:port, with a port from 1 to 65535, which "a:99999" is not'],
    [{ bootstrapServers: 'a:0' }, 'bootstrapServers must name host:port, with a port from 1 to 65535, which "a:0" is not'],
    [
      { bootstrapServers: 'http://a:9092' },
      'bootstrapServers must name host:port, with a port from 1 to 65535, which "http://a:9092" is not',
    ],
    [{ bootstrapServers: ['a:1', 'a b:2'] }, 'bootstrapServers must name host:port, with a port from 1 to 65535, which "a b:2" is not'],
    [{ applicationServer: 'http://a:80' }, 'applicationServer must be host:port'],
    [{ processingGuarantee: 'at_most_once' }, 'processingGuarantee must be one of exactly_once, at_least_once'],
    [{ compressionType: 'deflate' }, 'compressionType must be one of none, gzip, snappy, lz4, zstd'],
    [{ storeEngine: 'rocksdb' }, 'storeEngine must be one of'],
    [{ autoOffsetReset: 'first' }, 'autoOffsetReset must be "earliest", "latest", "none" or { duration: whole milliseconds, 0 or more }'],
    [{ autoOffsetReset: 'by_duration:PT1H' }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: null }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: { duration: -1 } }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: { duration: 0.5 } }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: { duration: Infinity } }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: { duration: '1h' } }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: { durationMs: 5 } }, 'autoOffsetReset must be'],
    [{ autoOffsetReset: { duration: 5, from: 'now' } }, 'autoOffsetReset must be'],
    [{ threads: 0 }, 'threads must be a whole number of at least 1'],
    [{ threads: '4' }, 'threads must be a whole number of at least 1'],
    [{ threads: 129 }, 'threads must be at most 128'],
    [
      { threadResourceLimits: { maxOldGenerationSizeMb: 256 } },
      'threadResourceLimits needs `threads` above 1: one thread is the caller’s own, whose heap node --max-old-space-size limits',
    ],
    [
      { threads: 2, threadResourceLimits: 256 },
      'threadResourceLimits must be an object with some of maxOldGenerationSizeMb, maxYoungGenerationSizeMb, codeRangeSizeMb, stackSizeMb',
    ],
    [
      { threads: 2, threadResourceLimits: { maxOldGenerationSizeMB: 256 } },
      'threadResourceLimits.maxOldGenerationSizeMB is not an option; did you mean maxOldGenerationSizeMb?',
    ],
    [
      { threads: 2, threadResourceLimits: { maxOldGenerationSizeMb: 8 } },
      'threadResourceLimits.maxOldGenerationSizeMb must be a number of megabytes of at least 32',
    ],
    [
      { threads: 2, threadResourceLimits: { stackSizeMb: '4' } },
      'threadResourceLimits.stackSizeMb must be a number of megabytes of at least 1',
    ],
    [{ commitInterval: -1 }, 'commitInterval must be a whole number of milliseconds from 0 to 2147483647'],
    [{ commitInterval: Number.NaN }, 'commitInterval must be a whole number'],
    [{ commitInterval: '5' }, 'commitInterval must be a whole number'],
    [{ commitInterval: 10_000 }, 'commitInterval must be below transactionTimeout'],
    [{ statestoreCacheMaxBytes: -1 }, 'statestoreCacheMaxBytes must be'],
    [{ maxUncommittedBytes: 1000 }, 'maxUncommittedBytes must be'],
    [{ maxMemoryBytes: 1000 }, 'maxMemoryBytes must be a number of at least 1048576'],
    [{ storeEngineMaxBytes: 1000 }, 'storeEngineMaxBytes must be a number of at least 262144'],
    [{ maxMemoryBytes: '1g' }, 'maxMemoryBytes must be a number of at least 1048576'],
    [
      { maxMemoryBytes: 2 ** 20, maxUncommittedBytes: 2 ** 19, maxBufferedBytes: 2 ** 16 },
      'maxMemoryBytes (1048576) is too small for maxUncommittedBytes and maxBufferedBytes: they need 1376256, maxUncommittedBytes counting twice',
    ],
    [{ maxTaskIdleMs: -2 }, 'maxTaskIdleMs must be'],
    [{ sessionTimeout: 0 }, 'sessionTimeout must be'],
    [{ heartbeatInterval: 0 }, 'heartbeatInterval must be'],
    [{ heartbeatInterval: 10_000 }, 'heartbeatInterval must be below sessionTimeout'],
    [{ rebalanceTimeout: 1 }, 'heartbeatInterval must be below rebalanceTimeout'],
    [{ rebalanceTimeout: Infinity }, 'rebalanceTimeout must be'],
    [{ transactionTimeout: 0 }, 'transactionTimeout must be'],
    [{ stateCleanupDelay: -1 }, 'stateCleanupDelay must be a whole number of milliseconds from 0'],
    [{ requestTimeout: 0 }, 'requestTimeout must be'],
    [{ rebalanceTimeout: 3e10 }, 'rebalanceTimeout must be a whole number of milliseconds from 1 to 2147483647'],
    [{ transactionTimeout: 1.5 }, 'transactionTimeout must be'],
    [{ applicationServer: 'me' }, 'applicationServer must be host:port'],
    [{ clientTags: { zone: 3 } }, 'clientTags must be'],
    [{ clientTags: { zone: 'x'.repeat(31) } }, 'clientTags must be'],
    [{ clientTags: ['zone'] }, 'clientTags must be'],
    [{ groupInstanceId: 'a b' }, 'groupInstanceId must be 1 to 240'],
    [{ groupInstanceId: 7 }, 'groupInstanceId must be'],
    [{ numStandbyReplicas: -1 }, 'numStandbyReplicas must be a whole number of at least 0'],
    [{ numStandbyReplicas: 1.5 }, 'numStandbyReplicas must be'],
    [{ maxWarmupReplicas: 0 }, 'maxWarmupReplicas must be a whole number of at least 1'],
    [{ acceptableRecoveryLag: -1 }, 'acceptableRecoveryLag must be'],
    [{ probingRebalanceInterval: 1000 }, 'probingRebalanceInterval must be'],
    [{ assignor: 'round' }, 'assignor must be "sticky", "range" or'],
    [{ assignor: { name: 'own' } }, 'assignor must be'],
    [{ rackAwareTags: 'zone' }, 'rackAwareTags must be'],
    [{ rackAwareTags: ['zone'] }, 'rackAwareTags names zone, which clientTags has not'],
    [{ stateDir: 9 }, 'stateDir must be a string'],
    [{ clientId: 7 }, 'clientId must be a string'],
    [{ deadLetterTopic: 5 }, 'deadLetterTopic must be a topic name'],
    [{ deadLetterTopic: 'größe' }, 'deadLetterTopic must be a topic name'],
    [{ processorWrapper: {} }, 'processorWrapper must be a function'],
    [{ processingHandler: 'retries' }, 'processingHandler must be "fail", "continue", "retry", "deadLetter" or a function'],
    [{ retry: 3 }, 'retry must be an object'],
    [{ retry: { attempt: 3 } }, 'retry.attempt is not an option'],
    [{ retry: { attempts: 0 } }, 'retry.attempts must be a whole number from 1 to 1000'],
    [{ retry: { backoff: -1 } }, 'retry.backoff must be'],
    [{ retry: { maxBackoff: 'long' } }, 'retry.maxBackoff must be'],
    [{ retry: { afterwards: 'retry' } }, 'retry.afterwards must be'],
    [{ retry: { afterwards: 'deadLetter' } }, 'retry.afterwards is "deadLetter" but deadLetterTopic is not set'],
    [{ restart: { strategy: 'fixedDelay', attempt: 2 } }, 'restart.attempt is not an option of "fixedDelay"; did you mean attempts?'],
    [{ ssl: 3 }, 'ssl must be'],
    [{ sasl: 'x' }, 'sasl must be an object'],
    [{ sasl: {} }, 'sasl.mechanism must be one of plain, scram-sha-256, scram-sha-512, aws, oauthbearer'],
    [
      { sasl: { mechanism: 'foo' } },
      'sasl.mechanism must be one of plain, scram-sha-256, scram-sha-512, aws, oauthbearer, unless there is an authenticationProvider',
    ],
    [{ sasl: { mechanism: 'plain', username: 'a' } }, 'sasl.password must be a text that is not empty, for the mechanism plain'],
    [{ sasl: { mechanism: 'SCRAM-SHA-512', password: 'a' } }, 'sasl.username must be a text'],
    [{ sasl: { mechanism: 'oauthbearer' } }, 'sasl.oauthBearerProvider must be a function'],
    [{ sasl: { mechanism: 'aws', accessKeyId: 'a', authorizationIdentity: 'b' } }, 'sasl.secretAccessKey must be a text'],
    [{ ssl: { ca: '/etc/ca.pem' } }, 'ssl.ca must be the content of a PEM file'],
    [{ ssl: { key: ['/etc/key.pem'] } }, 'ssl.key must be the content of a PEM file'],
    [{ logger: {} }, 'logger must be a logger'],
    [{ defaultKeySerde: {} }, 'defaultKeySerde must be a serde'],
    [{ replicationFactor: 0 }, 'replicationFactor must be'],
    [{ replicationFactor: 1.5 }, 'replicationFactor must be'],
    [{ deserializationHandler: 'ignore' }, 'deserializationHandler must be'],
    [{ processingHandler: 'deadLetter' }, 'processingHandler is "deadLetter" but deadLetterTopic is not set'],
    [{ productionHandler: 'deadLetter', deadLetterTopic: '' }, 'productionHandler is "deadLetter" but deadLetterTopic is not set'],
  ];
  it.each(rows)('%j: %s', (config, fault) => {
    expect(faultsOf(config).some((text) => text.startsWith(fault))).toBe(true);
  });

  it('do not include a long commit interval without transactions', () => {
    expect(faultsOf({ processingGuarantee: 'at_least_once', commitInterval: 60_000 })).toEqual([]);
  });
});

describe('ssl and sasl', () => {
  it('are taken as kafkajs and node:tls take them', () => {
    const pem = '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----';
    const taken: object[] = [
      { sasl: { mechanism: 'PLAIN', username: 'me', password: 'secret' } },
      { sasl: { mechanism: 'oauthbearer', oauthBearerProvider: () => Promise.resolve({ value: 'token' }) } },
      { sasl: { mechanism: 'mine', authenticationProvider: () => ({ authenticate: () => undefined }) } },
      { sasl: { mechanism: 'aws', authorizationIdentity: 'a', accessKeyId: 'b', secretAccessKey: 'c' } },
      { ssl: { ca: [pem], cert: Buffer.from('any'), key: [{ pem, passphrase: 'x' }], servername: 'a' } },
      { ssl: {} },
    ];
    for (const options of taken) expect(() => resolveConfig({ ...least, ...options })).not.toThrow();
  });

  it('are never shown', () => {
    const sasl = { mechanism: 'plain', username: 'me', pasword: 'secret' };
    expect(() => resolveConfig({ ...least, sasl, ssl: { key: 'secret' } })).toThrow(/^((?!secret).)*$/s);
  });
});

describe('bootstrapServers', () => {
  it('may be a text with commas, with or without blanks', () => {
    expect(resolveConfig({ ...least, bootstrapServers: 'a:1, b:2,' }).bootstrapServers).toEqual(['a:1', 'b:2']);
    expect(resolveConfig({ ...least, bootstrapServers: ['[::1]:9092'] }).bootstrapServers).toEqual(['[::1]:9092']);
  });
});

describe('groupProtocol', () => {
  it('streams refuses what the broker decides, and says where it is set', () => {
    expect(faultsOf({ groupProtocol: 'streams', numStandbyReplicas: 1, assignor: 'range' })).toEqual([
      'assignor has no meaning with groupProtocol streams, where the broker decides: leave it out',
      'numStandbyReplicas has no meaning with groupProtocol streams, where the broker decides: leave it out, and set streams.num.standby.replicas of the group',
    ]);
    expect(faultsOf({ groupProtocol: 'streams', groupInstanceId: 'seat', clientTags: { zone: 'eu' } })).toEqual([]);
  });

  it('is one of three', () => {
    expect(faultsOf({ groupProtocol: 'consumer' })).toEqual(['groupProtocol must be one of classic, streams, auto']);
  });

  it('auto is classic when an option has no meaning otherwise', () => {
    expect(resolveConfig({ ...least, groupProtocol: 'auto', sessionTimeout: 20_000 }).groupProtocol).toBe('classic');
    expect(resolveConfig({ ...least, groupProtocol: 'auto' }).groupProtocol).toBe('auto');
  });
});
