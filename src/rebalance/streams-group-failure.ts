/** Turns what a streams group's coordinator refuses for good into an error that says what it means and what to do. */
import { MillraceError } from '../errors.js';
import { ErrorCodes, errorName } from '../kafka/error-codes.js';
import type { StreamsGroupStatus } from '../kafka/streams-groups.js';
import { StreamsStatus } from '../kafka/streams-groups.js';
import { groupFailure } from './group-failure.js';

const unreleasedInstanceId = 111;
const invalidRequest = 42;

interface RefusedMember {
  readonly groupId: string;
  readonly groupInstanceId: string | null;
}

export function streamsGroupFailure(member: RefusedMember, errorCode: number, brokerMessage: string | null): MillraceError {
  const { groupId, groupInstanceId } = member;
  const details = { groupId, request: 'StreamsGroupHeartbeat', brokerErrorCode: errorCode };
  const said = brokerMessage === null ? '' : ` The broker says: ${brokerMessage}`;
  const name = `${errorName(errorCode)} (${errorCode})`;
  if (errorCode === unreleasedInstanceId) {
    return new MillraceError(
      'MILL_INSTANCE_FENCED',
      `Another process is in group "${groupId}" with the group instance id "${groupInstanceId ?? ''}", and has not left its place.${said}`,
      { details: { ...details, groupInstanceId } },
    );
  }
  if (errorCode === ErrorCodes.GROUP_ID_NOT_FOUND) {
    return new MillraceError(
      'MILL_GROUP_FATAL',
      `Group "${groupId}" has members that do not speak the streams protocol: stop all instances before groupProtocol changes.${said}`,
      { details },
    );
  }
  if (errorCode === invalidRequest && brokerMessage?.includes('Topology') === true) {
    return new MillraceError(
      'MILL_TOPOLOGY_MISMATCH',
      `The topology is not the one that group "${groupId}" was begun with, and a broker does not take another one. Stop all instances, start one with groupProtocol 'classic', which makes the group a classic one, ` +
        `stop it and start them with 'streams' again: committed offsets stay.${said}`,
      { details },
    );
  }
  if (brokerMessage === null) return groupFailure({ ...member, sessionTimeoutMs: 0 }, 'StreamsGroupHeartbeat', errorCode);
  const { code } = groupFailure({ ...member, sessionTimeoutMs: 0 }, 'StreamsGroupHeartbeat', errorCode);
  return new MillraceError(code, `StreamsGroupHeartbeat for group "${groupId}" failed: ${name}.${said}`, { details });
}

/** The group lacks something that the broker can't mend. */
export function unworkableGroup(groupId: string, { code, detail }: StreamsGroupStatus): MillraceError {
  const details = { groupId, status: code };
  switch (code) {
    case StreamsStatus.MISSING_SOURCE_TOPICS:
    case StreamsStatus.MISSING_INTERNAL_TOPICS:
      return new MillraceError('MILL_TOPIC_MISSING', `Group "${groupId}" can't work: ${detail}`, { details });
    case StreamsStatus.INCORRECTLY_PARTITIONED_TOPICS:
      return new MillraceError('MILL_TOPOLOGY_NOT_COPARTITIONED', `Group "${groupId}" can't work: ${detail}`, { details });
    case StreamsStatus.STALE_TOPOLOGY:
      return new MillraceError('MILL_TOPOLOGY_MISMATCH', `Group "${groupId}" runs a newer topology: ${detail}`, { details });
    case StreamsStatus.SHUTDOWN_APPLICATION:
      return new MillraceError('MILL_APPLICATION_SHUTDOWN', `an instance has asked all instances of the application to stop: ${detail}`, {
        details,
      });
    default:
      return new MillraceError('MILL_GROUP_FATAL', `Group "${groupId}" can't work: ${detail}`, { details });
  }
}
