/** Turns a fatal answer of the coordinator into an error that says what it means and what to do. */
import { MillraceError } from '../errors.js';
import { ErrorCodes, errorName, isAuthorizationError } from '../kafka/error-codes.js';
import type { GroupRequest } from './group-protocol.js';

export interface FailedMember {
  readonly groupId: string;
  readonly groupInstanceId: string | null;
  readonly sessionTimeoutMs: number;
}

/** MILL_AUTHORIZATION for missing ACLs, MILL_INSTANCE_FENCED for a second process with the same group instance id, MILL_GROUP_FATAL for the rest. */
export function groupFailure(member: FailedMember, request: GroupRequest, errorCode: number): MillraceError {
  const name = `${errorName(errorCode)} (${errorCode})`;
  const details = { groupId: member.groupId, request, brokerErrorCode: errorCode };
  if (isAuthorizationError(errorCode)) {
    return new MillraceError(
      'MILL_AUTHORIZATION',
      `${request} for group "${member.groupId}" was denied: ${name}. READ on the group is needed.`,
      { details },
    );
  }
  if (errorCode === ErrorCodes.FENCED_INSTANCE_ID) {
    return new MillraceError(
      'MILL_INSTANCE_FENCED',
      `Another process joined group "${member.groupId}" with the group instance id "${member.groupInstanceId ?? ''}" and has taken this one's place.`,
      { details: { ...details, groupInstanceId: member.groupInstanceId } },
    );
  }
  const meaning = meanings.get(errorCode)?.(member) ?? '';
  return new MillraceError('MILL_GROUP_FATAL', `${request} for group "${member.groupId}" failed: ${name}. ${meaning}`.trimEnd(), {
    details,
  });
}

const meanings: ReadonlyMap<number, (member: FailedMember) => string> = new Map<number, (member: FailedMember) => string>([
  [
    ErrorCodes.INCONSISTENT_GROUP_PROTOCOL,
    () =>
      'The group has members that are not Millrace, or another groupProtocol: use an applicationId of its own, or stop all instances before groupProtocol changes.',
  ],
  [26, ({ sessionTimeoutMs }) => `The session timeout of ${sessionTimeoutMs} ms is outside the broker's group.min/max.session.timeout.ms.`],
  [81, () => "The group has as many members as the broker's group.max.size allows."],
  [24, () => 'The applicationId does not make a valid group id.'],
]);
