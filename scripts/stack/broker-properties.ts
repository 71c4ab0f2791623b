import type { StackCredentials } from './credentials.js';
import type { BrokerCount } from './settings.js';
import { brokerSettings } from './settings.js';

/** Where the nodes of a cluster live. Every node is broker and controller. */
export interface BrokerAddress {
  readonly id: number;
  readonly port: number;
  readonly controllerPort: number;
  readonly folder: string;
}

/** The whole server.properties of one node. */
export function brokerProperties(node: BrokerAddress, cluster: readonly BrokerAddress[], credentials: StackCredentials | null): string {
  const protocol = credentials ? 'SASL_PLAINTEXT' : 'PLAINTEXT';
  const properties: Record<string, string> = {
    'process.roles': 'broker,controller',
    'node.id': String(node.id),
    'controller.quorum.voters': cluster.map(({ id, controllerPort }) => `${id}@127.0.0.1:${controllerPort}`).join(','),
    listeners: `CLIENT://127.0.0.1:${node.port},CONTROLLER://127.0.0.1:${node.controllerPort}`,
    'advertised.listeners': `CLIENT://127.0.0.1:${node.port}`,
    'listener.security.protocol.map': `CLIENT:${protocol},CONTROLLER:${protocol}`,
    'inter.broker.listener.name': 'CLIENT',
    'controller.listener.names': 'CONTROLLER',
    'log.dirs': `${node.folder}/data`,
    ...brokerSettings(cluster.length as BrokerCount),
    ...(credentials && accessControl(credentials)),
  };
  return Object.entries(properties)
    .map(([name, value]) => `${name}=${value}\n`)
    .join('');
}

function accessControl({ superUser, user }: StackCredentials): Record<string, string> {
  const jaas =
    `org.apache.kafka.common.security.plain.PlainLoginModule required ` +
    `username="${superUser.username}" password="${superUser.password}" ` +
    [superUser, user].map(({ username, password }) => `user_${username}="${password}"`).join(' ') +
    ';';
  return {
    'authorizer.class.name': 'org.apache.kafka.metadata.authorizer.StandardAuthorizer',
    'super.users': `User:${superUser.username}`,
    'sasl.enabled.mechanisms': 'PLAIN',
    'sasl.mechanism.inter.broker.protocol': 'PLAIN',
    'sasl.mechanism.controller.protocol': 'PLAIN',
    'listener.name.client.plain.sasl.jaas.config': jaas,
    'listener.name.controller.plain.sasl.jaas.config': jaas,
  };
}
