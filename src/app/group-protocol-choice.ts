import { MillraceError } from '../errors.js';
import type { KafkaPort } from '../kafka/port.js';
import { sourceTopicsOf } from '../runtime/source-topics.js';
import type { Topology } from '../topology/nodes.js';
import type { ResolvedConfig } from './config.js';

interface ProtocolQuestion {
  readonly port: Pick<KafkaPort, 'streamsGroups' | 'admin'>;
  readonly topology: Topology;
  readonly config: Pick<ResolvedConfig, 'applicationId' | 'groupProtocol' | 'logger'>;
}

/**
 * The protocol that the app's group speaks. `auto` keeps what the group is; a group that is not there yet becomes a streams group where the cluster has those.
 *
 * @throws MILL_CONFIG_INVALID when `streams` is asked for and sources are chosen by pattern; MILL_BROKER_TOO_OLD when the cluster has no streams groups
 */
export async function chooseGroupProtocol(question: ProtocolQuestion): Promise<'classic' | 'streams'> {
  const { config } = question;
  if (config.groupProtocol === 'classic') return 'classic';
  const obstacle = await obstacleOf(question);
  if (obstacle === null) {
    config.logger.info({ groupProtocol: 'streams' }, 'the broker places the tasks of the group');
    return 'streams';
  }
  if (config.groupProtocol === 'streams') throw obstacle;
  config.logger.info({ groupProtocol: 'classic', reason: obstacle.message }, 'an instance places the tasks of the group');
  return 'classic';
}

async function obstacleOf({ port, topology, config }: ProtocolQuestion): Promise<MillraceError | null> {
  const { applicationId, groupProtocol } = config;
  if (sourceTopicsOf(topology).hasPatterns) {
    return new MillraceError(
      'MILL_CONFIG_INVALID',
      `groupProtocol streams: the broker does not take sources that are chosen by pattern; name the topics of application ${applicationId}, or use classic`,
    );
  }
  if (!port.streamsGroups) {
    return new MillraceError(
      'MILL_BROKER_TOO_OLD',
      'groupProtocol streams needs a cluster with streams groups: brokers from 4.2 on with the feature streams.version finalised (kafka-features upgrade --feature streams.version=1)',
    );
  }
  if (groupProtocol === 'auto' && (await isClassicGroup(port, applicationId))) {
    return new MillraceError(
      'MILL_GROUP_FATAL',
      `group ${applicationId} is a classic one; groupProtocol 'streams' converts it once all instances are stopped`,
    );
  }
  return null;
}

async function isClassicGroup(port: Pick<KafkaPort, 'admin'>, groupId: string): Promise<boolean> {
  if ((await port.admin.describeStreamsGroup(groupId)) !== null) return false;
  return (await port.admin.describeGroup(groupId)) !== null;
}
