import type { StreamsConfig } from './config.js';

/** Options of the classic protocol, with the setting of the group (`kafka-configs --entity-type groups`) that takes their place under `streams`. */
const classicOptions: ReadonlyMap<keyof StreamsConfig, string | null> = new Map<keyof StreamsConfig, string | null>([
  ['sessionTimeout', 'streams.session.timeout.ms'],
  ['heartbeatInterval', 'streams.heartbeat.interval.ms'],
  ['assignor', null],
  ['numStandbyReplicas', 'streams.num.standby.replicas'],
  ['acceptableRecoveryLag', 'streams.acceptable.recovery.lag'],
  ['maxWarmupReplicas', 'streams.num.warmup.replicas'],
  ['probingRebalanceInterval', null],
  ['rackAwareTags', 'streams.rack.aware.assignment.tags'],
]);

/** Those that are given and have no meaning where the broker places tasks. */
export function brokersOptions(config: StreamsConfig): (keyof StreamsConfig)[] {
  return [...classicOptions.keys()].filter((key) => config[key] !== undefined);
}

/** The fault of one of them. */
export function decidedByTheBroker(key: keyof StreamsConfig): string {
  const setting = classicOptions.get(key) ?? null;
  const instead = setting === null ? 'leave it out' : `leave it out, and set ${setting} of the group`;
  return `${key} has no meaning with groupProtocol streams, where the broker decides: ${instead}`;
}

/** What only `classic` can do decides for it. */
export function resolvedProtocol(config: StreamsConfig): 'classic' | 'streams' | 'auto' {
  const protocol = config.groupProtocol ?? 'classic';
  return protocol === 'auto' && brokersOptions(config).length > 0 ? 'classic' : protocol;
}
