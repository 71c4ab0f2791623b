/**
 * Versions and settings of the local stack: the one source for the script that starts it from Maven artifacts and for
 * docker-compose.yml, which `npm run check` compares with this module.
 */

export const kafkaVersion = '4.4.0';
export const registryVersion = '2.6.13.Final';

/** Where Apicurio serves the Confluent-compatible API. */
export const registryApiPath = '/apis/ccompat/v7';

/** JVM arguments of one broker. */
export const brokerJvmArguments = ['-Xms256m', '-Xmx1g', '-XX:+UseG1GC'];

/** JVM arguments of the schema registry. */
export const registryJvmArguments = ['-Xmx512m'];

export type BrokerCount = 1 | 3;

/** Broker properties that decide how the cluster behaves; addresses, ids and folders are added by whoever starts it. */
export function brokerSettings(brokers: BrokerCount): Readonly<Record<string, string>> {
  const replicas = String(brokers);
  const inSync = brokers === 3 ? '2' : '1';
  return {
    'auto.create.topics.enable': 'false',
    'default.replication.factor': replicas,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': '5',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': '5',
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
    'group.initial.rebalance.delay.ms': '0',
    // Lets a test wait seconds, not half a minute, for a dead member to be noticed; clients keep their own defaults.
    'group.min.session.timeout.ms': '1000',
    'group.streams.min.session.timeout.ms': '1000',
    'group.streams.min.heartbeat.interval.ms': '500',
    // Example data carries its own, old event time: a broker that counts retention by it deletes the topic after 30 s.
    'log.retention.ms': '-1',
  };
}
