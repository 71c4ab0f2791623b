/** The group coordinator: groups by id, their offsets, and who may commit them. */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type { GroupMemberIdentity, JoinGroupRequest, SyncGroupRequest } from '../../kafka/port.js';
import { ClassicGroup, type ClassicGroupOptions } from './classic-group.js';
import { refusedJoin, refusedSync, type JoinReply, type SyncReply } from './group-member-record.js';
import { GroupOffsets } from './group-offsets.js';

const INVALID_GROUP_ID = 24;
const INVALID_SESSION_TIMEOUT = 26;
const NON_EMPTY_GROUP = 68;

export interface GroupCoordinatorOptions extends ClassicGroupOptions {
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
}

export class GroupCoordinator {
  readonly offsets = new GroupOffsets();
  private readonly groups = new Map<string, ClassicGroup>();

  constructor(private readonly options: GroupCoordinatorOptions) {}

  get(groupId: string): ClassicGroup | undefined {
    return this.groups.get(groupId);
  }

  join(request: JoinGroupRequest, clientId: string, reply: JoinReply): void {
    const { groupId, memberId, sessionTimeoutMs } = request;
    if (groupId === '') reply(refusedJoin(INVALID_GROUP_ID, memberId));
    else if (sessionTimeoutMs < this.options.minSessionTimeoutMs || sessionTimeoutMs > this.options.maxSessionTimeoutMs)
      reply(refusedJoin(INVALID_SESSION_TIMEOUT, memberId));
    else {
      const known = this.groups.get(groupId);
      if (known === undefined && memberId !== '') reply(refusedJoin(E.UNKNOWN_MEMBER_ID, memberId));
      else (known ?? this.create(groupId)).join(request, clientId, reply);
    }
  }

  sync(request: SyncGroupRequest, reply: SyncReply): void {
    const group = this.groups.get(request.groupId);
    if (group === undefined) reply(refusedSync(E.UNKNOWN_MEMBER_ID));
    else group.sync(request, reply);
  }

  heartbeat(request: GroupMemberIdentity): number {
    return this.groups.get(request.groupId)?.heartbeat(request) ?? E.UNKNOWN_MEMBER_ID;
  }

  leave(groupId: string, memberId: string, groupInstanceId: string | null): number {
    return this.groups.get(groupId)?.leave(memberId, groupInstanceId) ?? E.UNKNOWN_MEMBER_ID;
  }

  /** Offsets without group management make a group that has no members. */
  checkCommit(identity: GroupMemberIdentity, isTransactional: boolean): number {
    const group = this.groups.get(identity.groupId);
    if (group !== undefined) return group.checkCommit(identity, isTransactional);
    if (identity.generation >= 0) return isTransactional ? E.ILLEGAL_GENERATION : E.GROUP_ID_NOT_FOUND;
    this.create(identity.groupId);
    return E.NONE;
  }

  delete(groupId: string): number {
    const group = this.groups.get(groupId);
    if (group === undefined) return E.GROUP_ID_NOT_FOUND;
    if (group.state !== 'Empty') return NON_EMPTY_GROUP;
    this.groups.delete(groupId);
    this.offsets.forget(groupId);
    return E.NONE;
  }

  /** The broker that coordinates these groups went down. */
  reload(isConcerned: (groupId: string) => boolean): void {
    for (const group of this.groups.values()) if (isConcerned(group.groupId)) group.reload();
  }

  private create(groupId: string): ClassicGroup {
    const group = new ClassicGroup(groupId, this.options);
    this.groups.set(groupId, group);
    return group;
  }
}
