import { builtInAssignor } from '../rebalance/built-in-assignors.js';
import { errorPolicy } from '../runtime/error-policy.js';
import type { ThreadSettings } from '../runtime/thread-settings.js';
import type { ResolvedConfig } from './config.js';

/** What a thread needs that the configuration does not say. */
export type ThreadSurroundings = Pick<
  ThreadSettings,
  | 'topology'
  | 'index'
  | 'serdes'
  | 'stateDirectory'
  | 'localState'
  | 'clusterId'
  | 'restoreListener'
  | 'standbyListener'
  | 'globalStore'
  | 'endOf'
  | 'groupProtocol'
>;

/** The configuration of an app, as one of its stream threads takes it. */
export function threadSettings(config: ResolvedConfig, surroundings: ThreadSurroundings): ThreadSettings {
  return {
    ...surroundings,
    applicationId: config.applicationId,
    exactlyOnce: config.processingGuarantee === 'exactly_once',
    commitInterval: config.commitInterval,
    memory: config,
    maxTaskIdleMs: config.maxTaskIdleMs,
    defaultEmit: config.emit,
    defaultTimestampExtractor: config.defaultTimestampExtractor,
    compressionType: config.compressionType,
    autoOffsetReset: config.autoOffsetReset,
    storeEngine: config.storeEngine,
    sessionTimeout: config.sessionTimeout,
    heartbeatInterval: config.heartbeatInterval,
    rebalanceTimeout: config.rebalanceTimeout,
    replicationFactor: config.replicationFactor,
    transactionTimeout: config.transactionTimeout,
    // Half of what a transaction may last is left for the commit.
    errors: errorPolicy(config, config.transactionTimeout / 2),
    processorWrapper: config.processorWrapper,
    logger: config.logger,
    applicationServer: config.applicationServer,
    clientTags: config.clientTags,
    groupInstanceId: config.groupInstanceId,
    assignor: typeof config.assignor === 'string' ? builtInAssignor(config.assignor) : config.assignor,
    assignment: {
      numStandbyReplicas: config.numStandbyReplicas,
      acceptableRecoveryLag: config.acceptableRecoveryLag,
      maxWarmupReplicas: config.maxWarmupReplicas,
      rackAwareTags: config.rackAwareTags,
    },
    probingRebalanceInterval: config.probingRebalanceInterval,
    stateCleanupDelay: config.stateCleanupDelay,
  };
}
