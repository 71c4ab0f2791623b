/**
 * One classic consumer group: generations, join and sync barriers, sessions, static members, as Kafka's coordinator runs them.
 *
 * Invariants: a generation begins when every member has joined or the rebalance timeout has passed; a member parked in a join or sync does not expire; a
 * follower that joins a stable group with the metadata it had gets the current generation instead of a new one. A restart of the broker forgets what
 * came after the last assignment: who joined since, and the generation that has none yet.
 */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type { CommittedOffset, GroupMemberIdentity, JoinGroupRequest, SyncGroupRequest } from '../../kafka/port.js';
import { MemberRecord, refusedJoin, refusedSync, type JoinReply, type SyncReply } from './group-member-record.js';
import type { SimulationClock } from './simulation-clock.js';

export type GroupState = 'Empty' | 'PreparingRebalance' | 'CompletingRebalance' | 'Stable';

/** As it stands in the log of offsets: written with each assignment, when a static member comes back, and when nobody is left. */
interface WrittenGroup {
  readonly generation: number;
  readonly leader: string;
  readonly protocolType: string | null;
  readonly protocolName: string | null;
  readonly members: readonly MemberRecord[];
}

export interface ClassicGroupOptions {
  readonly clock: SimulationClock;
  /** How long a group that was empty waits for more members, ms. */
  readonly initialRebalanceDelayMs: number;
  readonly newMemberId: (clientId: string) => string;
}

export class ClassicGroup {
  readonly kind = 'classic';
  state: GroupState = 'Empty';
  generation = 0;
  private readonly members = new Map<string, MemberRecord>();
  /** Ids that were given out and not used yet, with what cancels their expiry. */
  private readonly promised = new Map<string, () => void>();
  private leader = '';
  private protocolType: string | null = null;
  private protocolName: string | null = null;
  private cancelBarrier: () => void = () => undefined;
  private delayed = false;
  private written: WrittenGroup = { generation: 0, leader: '', protocolType: null, protocolName: null, members: [] };

  constructor(
    readonly groupId: string,
    private readonly options: ClassicGroupOptions,
  ) {}

  get memberIds(): readonly string[] {
    return [...this.members.keys()];
  }

  join(request: JoinGroupRequest, clientId: string, reply: JoinReply): void {
    const { memberId, groupInstanceId } = request;
    if (!this.acceptsProtocols(request)) reply(refusedJoin(E.INCONSISTENT_GROUP_PROTOCOL, memberId));
    else if (memberId === '') this.joinNew(request, clientId, reply);
    else if (this.promised.has(memberId) && groupInstanceId === null) {
      this.promised.get(memberId)?.();
      this.promised.delete(memberId);
      this.add(new MemberRecord(memberId, null), request, reply);
    } else {
      const member = this.memberOf(memberId, groupInstanceId);
      if (typeof member === 'number') reply(refusedJoin(member, memberId));
      else this.rejoin(member, request, reply);
    }
  }

  sync(request: SyncGroupRequest, reply: SyncReply): void {
    const member = this.memberOf(request.memberId, request.groupInstanceId);
    if (typeof member === 'number') reply(refusedSync(member));
    else if (request.generation !== this.generation) reply(refusedSync(E.ILLEGAL_GENERATION));
    else if (request.protocolType !== this.protocolType || request.protocolName !== this.protocolName)
      reply(refusedSync(E.INCONSISTENT_GROUP_PROTOCOL));
    else if (this.state === 'PreparingRebalance') reply(refusedSync(E.REBALANCE_IN_PROGRESS));
    else {
      member.syncing = reply;
      this.touch(member);
      if (this.state === 'Stable') member.answerSync(E.NONE);
      else if (request.memberId === this.leader) this.assign(request.assignments);
    }
  }

  heartbeat({ memberId, groupInstanceId, generation }: GroupMemberIdentity): number {
    const member = this.memberOf(memberId, groupInstanceId);
    if (typeof member === 'number') return member;
    if (generation !== this.generation) return E.ILLEGAL_GENERATION;
    this.touch(member);
    return this.state === 'PreparingRebalance' ? E.REBALANCE_IN_PROGRESS : E.NONE;
  }

  leave(memberId: string, groupInstanceId: string | null): number {
    const cancel = this.promised.get(memberId);
    if (cancel !== undefined && groupInstanceId === null) {
      cancel();
      this.promised.delete(memberId);
      this.completeIfAllJoined();
      return E.NONE;
    }
    const known = memberId === '' && groupInstanceId !== null ? this.static(groupInstanceId) : undefined;
    const member = known ?? this.memberOf(memberId, groupInstanceId);
    if (typeof member === 'number') return member;
    this.remove(member);
    return E.NONE;
  }

  /** Whether offsets may be committed with this identity: 0 or why not. */
  checkCommit(
    { memberId, groupInstanceId, generation }: GroupMemberIdentity,
    _offsets: readonly CommittedOffset[],
    isTransactional: boolean,
  ): number {
    if (generation < 0 && this.state === 'Empty') return E.NONE;
    if (generation >= 0 || memberId !== '' || groupInstanceId !== null) {
      const member = this.memberOf(memberId, groupInstanceId);
      if (typeof member === 'number') return member;
      if (generation !== this.generation) return E.ILLEGAL_GENERATION;
      if (!isTransactional) this.touch(member);
    } else if (!isTransactional) return E.UNKNOWN_MEMBER_ID;
    return !isTransactional && this.state === 'CompletingRebalance' ? E.REBALANCE_IN_PROGRESS : E.NONE;
  }

  describe(): { readonly state: string; readonly members: { memberId: string; metadata: Buffer; assignment: Buffer }[] } {
    const isStable = this.state === 'Stable';
    const members = [...this.members.values()].map((member) => ({
      memberId: member.memberId,
      metadata: isStable ? member.metadataOf(this.protocolName) : Buffer.alloc(0),
      assignment: isStable ? member.assignment : Buffer.alloc(0),
    }));
    return { state: this.state, members };
  }

  /** The group is gone, or becomes one of another kind. */
  end(): void {
    for (const cancel of this.promised.values()) cancel();
    this.cancelBarrier();
  }

  /** The broker restarted: it is as it was written, whoever waited for an answer gets none, sessions begin anew. */
  reload(): void {
    this.end();
    this.promised.clear();
    this.delayed = false;
    for (const member of this.members.values()) member.cancelSession();
    this.members.clear();
    const { members } = this.written;
    this.generation = this.written.generation;
    this.leader = this.written.leader;
    this.protocolType = this.written.protocolType;
    this.protocolName = this.written.protocolName;
    this.state = members.length === 0 ? 'Empty' : 'Stable';
    for (const written of members) {
      const member = written.copy();
      this.members.set(member.memberId, member);
      this.touch(member);
    }
  }

  private write(): void {
    const { generation, leader, protocolType, protocolName } = this;
    this.written = { generation, leader, protocolType, protocolName, members: [...this.members.values()].map((member) => member.copy()) };
  }

  // Joining

  private joinNew(request: JoinGroupRequest, clientId: string, reply: JoinReply): void {
    const memberId = this.options.newMemberId(request.groupInstanceId ?? clientId);
    if (request.groupInstanceId === null) {
      this.promise(memberId, request.sessionTimeoutMs);
      reply(refusedJoin(E.MEMBER_ID_REQUIRED, memberId));
      return;
    }
    const before = this.static(request.groupInstanceId);
    if (before === undefined) this.add(new MemberRecord(memberId, request.groupInstanceId), request, reply);
    else this.replace(before, memberId, request, reply);
  }

  private promise(memberId: string, sessionTimeoutMs: number): void {
    const cancel = this.options.clock.setTimer(() => {
      this.promised.delete(memberId);
      this.completeIfAllJoined();
    }, sessionTimeoutMs);
    this.promised.set(memberId, cancel);
  }

  private add(member: MemberRecord, request: JoinGroupRequest, reply: JoinReply): void {
    if (this.members.size === 0) this.protocolType = request.protocolType;
    this.members.set(member.memberId, member);
    this.waitForBarrier(member, request, reply);
  }

  private rejoin(member: MemberRecord, request: JoinGroupRequest, reply: JoinReply): void {
    const isUnchanged = member.matches(request.protocols);
    const keepsGeneration =
      isUnchanged && (this.state === 'CompletingRebalance' || (this.state === 'Stable' && member.memberId !== this.leader));
    if (!keepsGeneration) {
      this.waitForBarrier(member, request, reply);
      return;
    }
    this.touch(member);
    reply(this.joined(member));
  }

  /** A static member came back under a new id: the old one is fenced, and unless the group's protocol changes by it nobody else notices. */
  private replace(old: MemberRecord, memberId: string, request: JoinGroupRequest, reply: JoinReply): void {
    const wasLeader = old.memberId === this.leader;
    const oldId = old.memberId;
    old.cancelSession();
    old.answerJoin(refusedJoin(E.FENCED_INSTANCE_ID, oldId));
    old.answerSync(E.FENCED_INSTANCE_ID);
    const member = new MemberRecord(memberId, old.groupInstanceId);
    member.assignment = old.assignment;
    // In its place, so that the order of members stays.
    const entries = [...this.members].map(([id, one]): [string, MemberRecord] => (id === oldId ? [memberId, member] : [id, one]));
    this.members.clear();
    for (const [id, one] of entries) this.members.set(id, one);
    if (wasLeader) this.leader = memberId;
    member.take(request);
    if (this.state === 'Stable' && this.vote() === this.protocolName) {
      this.touch(member);
      this.write();
      // Under its former id as leader, it does not take itself for one and leaves the assignment as it is.
      reply({ ...this.joined(member), leader: wasLeader ? oldId : this.leader, members: [] });
    } else this.waitForBarrier(member, request, reply);
  }

  private waitForBarrier(member: MemberRecord, request: JoinGroupRequest, reply: JoinReply): void {
    member.take(request);
    member.answerJoin(refusedJoin(E.UNKNOWN_MEMBER_ID, member.memberId));
    member.joining = reply;
    this.touch(member);
    this.prepare();
  }

  private acceptsProtocols({ protocolType, protocols }: JoinGroupRequest): boolean {
    if (protocolType === '' || protocols.length === 0) return false;
    if (this.members.size === 0) return true;
    if (protocolType !== this.protocolType) return false;
    return protocols.some(({ name }) => [...this.members.values()].every((member) => member.protocols.some((one) => one.name === name)));
  }

  // Generations

  private prepare(): void {
    if (this.state !== 'PreparingRebalance') {
      const wasEmpty = this.state === 'Empty';
      if (this.state === 'CompletingRebalance') this.answerSyncs(E.REBALANCE_IN_PROGRESS);
      this.state = 'PreparingRebalance';
      this.cancelBarrier();
      this.delayed = wasEmpty && this.options.initialRebalanceDelayMs > 0;
      const wait = this.delayed ? this.options.initialRebalanceDelayMs : this.longestRebalanceMs();
      this.cancelBarrier = this.options.clock.setTimer(() => {
        this.delayed = false;
        this.complete();
      }, wait);
    }
    this.completeIfAllJoined();
  }

  private longestRebalanceMs(): number {
    return Math.max(0, ...[...this.members.values()].map(({ rebalanceTimeoutMs }) => rebalanceTimeoutMs));
  }

  private completeIfAllJoined(): void {
    if (this.state !== 'PreparingRebalance' || this.delayed || this.promised.size > 0) return;
    if ([...this.members.values()].every(({ joining }) => joining !== null)) this.complete();
  }

  private complete(): void {
    this.cancelBarrier();
    for (const member of [...this.members.values()]) {
      if (member.joining === null && member.groupInstanceId === null) this.forget(member);
    }
    this.generation++;
    const members = [...this.members.values()];
    if (members.length === 0) {
      this.state = 'Empty';
      this.protocolName = null;
      this.write();
      return;
    }
    this.state = 'CompletingRebalance';
    this.protocolName = this.vote();
    const leads = this.members.get(this.leader);
    if (leads === undefined || leads.joining === null)
      this.leader = (members.find(({ joining }) => joining !== null) ?? members[0])?.memberId ?? '';
    const { generation } = this;
    this.cancelBarrier = this.options.clock.setTimer(() => {
      if (this.state === 'CompletingRebalance' && this.generation === generation) this.dropUnsynced();
    }, this.longestRebalanceMs());
    for (const member of members) {
      this.touch(member);
      member.assignment = Buffer.alloc(0);
      member.answerJoin(this.joined(member));
    }
  }

  private dropUnsynced(): void {
    for (const member of [...this.members.values()]) if (member.syncing === null) this.forget(member);
    this.prepare();
  }

  private assign(assignments: SyncGroupRequest['assignments']): void {
    for (const member of this.members.values()) {
      member.assignment = Buffer.from(assignments.find(({ memberId }) => memberId === member.memberId)?.assignment ?? []);
    }
    this.cancelBarrier();
    this.state = 'Stable';
    this.write();
    this.answerSyncs(E.NONE);
  }

  private answerSyncs(errorCode: number): void {
    for (const member of this.members.values()) {
      if (member.syncing !== null) this.touch(member);
      member.answerSync(errorCode);
    }
  }

  /** The protocol that most members prefer among those that all have. */
  private vote(): string | null {
    const members = [...this.members.values()];
    const votes = new Map<string, number>();
    for (const { protocols } of members) {
      const choice = protocols.find(({ name }) => members.every((other) => other.protocols.some((one) => one.name === name)));
      if (choice !== undefined) votes.set(choice.name, (votes.get(choice.name) ?? 0) + 1);
    }
    return [...votes].sort(([, a], [, b]) => b - a)[0]?.[0] ?? null;
  }

  private joined(member: MemberRecord) {
    const isLeader = member.memberId === this.leader;
    const members = isLeader
      ? [...this.members.values()].map((one) => ({
          memberId: one.memberId,
          groupInstanceId: one.groupInstanceId,
          metadata: one.metadataOf(this.protocolName),
        }))
      : [];
    const { generation, protocolName, leader } = this;
    return { errorCode: E.NONE, generation, protocolName, leader, memberId: member.memberId, members };
  }

  // Members

  private static(groupInstanceId: string): MemberRecord | undefined {
    return [...this.members.values()].find((member) => member.groupInstanceId === groupInstanceId);
  }

  private memberOf(memberId: string, groupInstanceId: string | null): MemberRecord | number {
    if (groupInstanceId !== null) {
      const member = this.static(groupInstanceId);
      if (member === undefined) return E.UNKNOWN_MEMBER_ID;
      return member.memberId === memberId ? member : E.FENCED_INSTANCE_ID;
    }
    return this.members.get(memberId) ?? E.UNKNOWN_MEMBER_ID;
  }

  /** A sign of life: the session begins anew. */
  private touch(member: MemberRecord): void {
    member.cancelSession();
    member.cancelSession = this.options.clock.setTimer(() => {
      if (this.members.get(member.memberId) !== member) return;
      if (member.isParked) this.touch(member);
      else this.remove(member);
    }, member.sessionTimeoutMs);
  }

  private forget(member: MemberRecord): void {
    member.cancelSession();
    this.members.delete(member.memberId);
    member.answerJoin(refusedJoin(E.UNKNOWN_MEMBER_ID, member.memberId));
    member.answerSync(E.UNKNOWN_MEMBER_ID);
  }

  private remove(member: MemberRecord): void {
    this.forget(member);
    if (this.state === 'PreparingRebalance') this.completeIfAllJoined();
    else if (this.state !== 'Empty') this.prepare();
  }
}
