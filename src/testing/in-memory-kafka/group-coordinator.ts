/** The group coordinator: groups by id, classic ones and streams groups, their offsets, and who may commit them. */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type { CommittedOffset, GroupMemberIdentity, JoinGroupRequest, KafkaAdmin, SyncGroupRequest } from '../../kafka/port.js';
import type { StreamsGroupDescription, StreamsGroupHeartbeatRequest, StreamsGroupHeartbeatResponse } from '../../kafka/streams-groups.js';
import { ClassicGroup, type ClassicGroupOptions } from './classic-group.js';
import { refusedJoin, refusedSync, type JoinReply, type SyncReply } from './group-member-record.js';
import { GroupOffsets } from './group-offsets.js';
import { refused, StreamsGroup, type StreamsGroupOptions } from './streams-group.js';
import { defaultSettings, settingsWith, type StreamsGroupSettings } from './streams-group-settings.js';

const INVALID_GROUP_ID = 24;
const INVALID_SESSION_TIMEOUT = 26;
const INVALID_REQUEST = 42;
const NON_EMPTY_GROUP = 68;

export interface GroupCoordinatorOptions extends ClassicGroupOptions, Pick<StreamsGroupOptions, 'partitionsOf' | 'createTopics'> {
  readonly minSessionTimeoutMs: number;
  readonly maxSessionTimeoutMs: number;
  /** Of streams groups that have none of their own. */
  readonly groupSettings: Readonly<Record<string, string>>;
}

export class GroupCoordinator {
  readonly offsets = new GroupOffsets();
  private readonly groups = new Map<string, ClassicGroup | StreamsGroup>();
  private readonly settings = new Map<string, StreamsGroupSettings>();
  private readonly defaultSettings: StreamsGroupSettings;

  constructor(private readonly options: GroupCoordinatorOptions) {
    this.defaultSettings = settingsWith(defaultSettings(options.initialRebalanceDelayMs), options.groupSettings);
  }

  // Classic groups

  join(request: JoinGroupRequest, clientId: string, reply: JoinReply): void {
    const refusal = this.refusalOf(request);
    if (refusal !== E.NONE) reply(refusedJoin(refusal, request.memberId));
    else (this.classic(request.groupId) ?? this.begin(new ClassicGroup(request.groupId, this.options))).join(request, clientId, reply);
  }

  private refusalOf({ groupId, memberId, sessionTimeoutMs }: JoinGroupRequest): number {
    if (groupId === '') return INVALID_GROUP_ID;
    if (sessionTimeoutMs < this.options.minSessionTimeoutMs || sessionTimeoutMs > this.options.maxSessionTimeoutMs)
      return INVALID_SESSION_TIMEOUT;
    const known = this.groups.get(groupId);
    if (known?.kind === 'streams' && known.state !== 'Empty') return E.INCONSISTENT_GROUP_PROTOCOL;
    return known?.kind !== 'classic' && memberId !== '' ? E.UNKNOWN_MEMBER_ID : E.NONE;
  }

  sync(request: SyncGroupRequest, reply: SyncReply): void {
    const group = this.classic(request.groupId);
    if (group === undefined) reply(refusedSync(E.UNKNOWN_MEMBER_ID));
    else group.sync(request, reply);
  }

  heartbeat(request: GroupMemberIdentity): number {
    return this.classic(request.groupId)?.heartbeat(request) ?? E.UNKNOWN_MEMBER_ID;
  }

  leave(groupId: string, memberId: string, groupInstanceId: string | null): number {
    return this.classic(groupId)?.leave(memberId, groupInstanceId) ?? E.UNKNOWN_MEMBER_ID;
  }

  describe(groupId: string): Awaited<ReturnType<KafkaAdmin['describeGroup']>> {
    return this.classic(groupId)?.describe() ?? null;
  }

  // Streams groups

  streamsHeartbeat(request: StreamsGroupHeartbeatRequest): StreamsGroupHeartbeatResponse {
    const { groupId, memberId, memberEpoch } = request;
    if (groupId === '') return refused(INVALID_REQUEST, "GroupId can't be empty.");
    if (memberId === '') return refused(INVALID_REQUEST, "MemberId can't be empty.");
    const known = this.groups.get(groupId);
    if (known?.kind === 'streams') return known.heartbeat(request);
    const isFree = known === undefined || known.state === 'Empty';
    if (memberEpoch === 0 && isFree) return this.begin(this.newStreamsGroup(groupId)).heartbeat(request);
    return refused(
      E.GROUP_ID_NOT_FOUND,
      known === undefined ? `Streams group ${groupId} not found.` : `Group ${groupId} is not a streams group.`,
    );
  }

  describeStreams(groupId: string): StreamsGroupDescription | null {
    const group = this.groups.get(groupId);
    return group?.kind === 'streams' ? group.describe() : null;
  }

  /** @throws TypeError for what is no setting of a group */
  alter(groupId: string, changes: Readonly<Record<string, string>>): void {
    this.settings.set(groupId, settingsWith(this.settingsOf(groupId), changes));
  }

  // Both

  summary(groupId: string): { readonly state: string; readonly generation: number; readonly members: readonly string[] } | null {
    const group = this.groups.get(groupId);
    return group === undefined ? null : { state: group.state, generation: group.generation, members: group.memberIds };
  }

  /** Offsets without group management make a group that has no members. */
  checkCommit(identity: GroupMemberIdentity, offsets: readonly CommittedOffset[], isTransactional: boolean): number {
    const group = this.groups.get(identity.groupId);
    if (group !== undefined) return group.checkCommit(identity, offsets, isTransactional);
    if (identity.generation >= 0) return isTransactional ? E.ILLEGAL_GENERATION : E.GROUP_ID_NOT_FOUND;
    this.begin(new ClassicGroup(identity.groupId, this.options));
    return E.NONE;
  }

  delete(groupId: string): number {
    const group = this.groups.get(groupId);
    if (group === undefined) return E.GROUP_ID_NOT_FOUND;
    if (group.state !== 'Empty') return NON_EMPTY_GROUP;
    group.end();
    this.groups.delete(groupId);
    this.offsets.forget(groupId);
    return E.NONE;
  }

  /** The broker that coordinates these groups went down. */
  reload(isConcerned: (groupId: string) => boolean): void {
    for (const group of this.groups.values()) if (isConcerned(group.groupId)) group.reload();
  }

  private classic(groupId: string): ClassicGroup | undefined {
    const group = this.groups.get(groupId);
    return group?.kind === 'classic' ? group : undefined;
  }

  private newStreamsGroup(groupId: string): StreamsGroup {
    const { clock, partitionsOf, createTopics } = this.options;
    return new StreamsGroup(groupId, { clock, partitionsOf, createTopics, settings: () => this.settingsOf(groupId) });
  }

  private settingsOf(groupId: string): StreamsGroupSettings {
    return this.settings.get(groupId) ?? this.defaultSettings;
  }

  /** In the place of an empty group of another kind, whose offsets stay. */
  private begin<G extends ClassicGroup | StreamsGroup>(group: G): G {
    this.groups.get(group.groupId)?.end();
    this.groups.set(group.groupId, group);
    return group;
  }
}
