/**
 * One streams group (KIP-1071) as the coordinator of Kafka 4.4 runs it: it knows the topology, makes the internal topics, and moves each member from what it has to what it is to have.
 *
 * Invariants: the group's epoch rises with every change of members or topics; a target is made for the newest epoch; a member reaches the target's epoch once it has given up
 * what is no longer its own; an active task is given to nobody while another member has it, or has yet to say that it gave it up.
 */
import { ErrorCodes as E } from '../../kafka/error-codes.js';
import type { CommittedOffset, GroupMemberIdentity } from '../../kafka/port.js';
import {
  StreamsStatus,
  type StreamsGroupDescription,
  type StreamsGroupHeartbeatRequest,
  type StreamsGroupHeartbeatResponse,
  type StreamsGroupJoin,
  type StreamsGroupStatus,
  type StreamsGroupTopology,
  type StreamsInternalTopic,
} from '../../kafka/streams-groups.js';
import type { SimulationClock } from './simulation-clock.js';
import { assignStreamsTasks, targetOf } from './streams-assignor.js';
import type { StreamsGroupSettings } from './streams-group-settings.js';
import { StreamsMemberRecord } from './streams-member-record.js';
import { assignmentOf, isSame, taskOf, taskSetsOf, type TaskSets } from './streams-tasks.js';
import { configureTopology, topicNames, type ConfiguredTopology } from './streams-topology.js';

export interface StreamsGroupOptions {
  readonly clock: SimulationClock;
  readonly settings: () => StreamsGroupSettings;
  /** 0 for a topic that is not there. */
  readonly partitionsOf: (topic: string) => number;
  readonly createTopics: (topics: readonly StreamsInternalTopic[]) => void;
}

const INVALID_REQUEST = 42;
const FENCED_MEMBER_EPOCH = 110;
const UNRELEASED_INSTANCE_ID = 111;
const STALE_MEMBER_EPOCH = 113;
const vacated = -2;
const goodbye = { forGood: -1, thePlace: vacated } as const;

export class StreamsGroup {
  readonly kind = 'streams';
  private readonly members = new Map<string, StreamsMemberRecord>();
  private topology: StreamsGroupTopology | null = null;
  private topics: readonly string[] = [];
  private configured: ConfiguredTopology | null = null;
  private groupEpoch = 1;
  /** The group's epoch that `targets` are for. */
  private targetEpoch = 1;
  private targets: ReadonlyMap<string, TaskSets> = new Map();
  private targetAt = -Infinity;
  private endpointEpoch = 0;
  private shutdownBy: string | null = null;
  private cancelDelay: (() => void) | null = null;

  constructor(
    readonly groupId: string,
    private readonly options: StreamsGroupOptions,
  ) {}

  get state(): string {
    if (this.members.size === 0) return 'Empty';
    if (this.configured?.status !== null) return 'NotReady';
    if (this.groupEpoch > this.targetEpoch) return 'Assigning';
    const isReconciled = [...this.members.values()].every(({ state, epoch }) => state === 'stable' && epoch === this.targetEpoch);
    return isReconciled ? 'Stable' : 'Reconciling';
  }

  get generation(): number {
    return this.groupEpoch;
  }

  get memberIds(): readonly string[] {
    return [...this.members.keys()];
  }

  heartbeat(request: StreamsGroupHeartbeatRequest): StreamsGroupHeartbeatResponse {
    const { memberEpoch, joining } = request;
    if (request.shutdown) this.shutdownBy ??= request.memberId;
    if (memberEpoch === goodbye.forGood || memberEpoch === goodbye.thePlace) return this.leave(request);
    const owned = request.owned === null ? null : taskSetsOf(request.owned);
    const member = memberEpoch === 0 ? this.join(request, joining) : this.known(request, owned);
    if (!(member instanceof StreamsMemberRecord)) return member;
    this.configure();
    const before = member.assigned;
    const delay = this.retarget();
    this.reconcile(member, owned);
    this.touch(member);
    const isNews = memberEpoch === 0 || !isSame(before, member.assigned);
    return {
      errorCode: E.NONE,
      errorMessage: null,
      memberEpoch: member.epoch,
      heartbeatIntervalMs: this.options.settings()['streams.heartbeat.interval.ms'],
      endpointEpoch: this.endpointEpoch,
      statuses: [...delay, ...this.statuses()],
      assignment: isNews ? assignmentOf(member.assigned) : null,
    };
  }

  /** Whether offsets may be committed with this identity: 0 or why not. A task that was kept may be committed under any epoch since it was given (KIP-1251). */
  checkCommit(identity: GroupMemberIdentity, offsets: readonly CommittedOffset[], isTransactional: boolean): number {
    const { memberId, groupInstanceId, generation } = identity;
    if (generation < 0 && this.members.size === 0) return E.NONE;
    if (isTransactional && generation < 0 && memberId === '' && groupInstanceId === null) return E.NONE;
    const member = this.members.get(memberId);
    if (member === undefined) return E.UNKNOWN_MEMBER_ID;
    if (generation === member.epoch) return E.NONE;
    const isOwn = ({ topic, partition }: CommittedOffset): boolean =>
      this.tasksReading(topic, partition).some((task) => (member.givenIn.get(task) ?? Infinity) <= generation);
    if (generation < member.epoch && offsets.every(isOwn)) return E.NONE;
    return isTransactional ? E.ILLEGAL_GENERATION : STALE_MEMBER_EPOCH;
  }

  describe(): StreamsGroupDescription {
    const members = [...this.members.values()].map((member) => ({
      memberId: member.memberId,
      memberEpoch: member.epoch,
      groupInstanceId: member.groupInstanceId,
      processId: member.processId,
      endpoint: member.joined.endpoint,
      tags: member.joined.tags,
      assignment: assignmentOf(member.assigned),
      target: assignmentOf(targetOf(this.targets, member.memberId)),
    }));
    return { state: this.state, groupEpoch: this.groupEpoch, members };
  }

  /** The broker restarted: what it had written is as it was, sessions begin anew, and nothing is delayed any more. */
  reload(): void {
    this.cancelDelay?.();
    this.cancelDelay = null;
    for (const member of this.members.values()) {
      this.touch(member);
      this.limitRevocation(member);
    }
  }

  /** The group is gone, or becomes one of another kind. */
  end(): void {
    this.cancelDelay?.();
    for (const member of this.members.values()) member.cancelSession();
  }

  // Members

  private join(
    request: StreamsGroupHeartbeatRequest,
    joining: StreamsGroupJoin | null,
  ): StreamsMemberRecord | StreamsGroupHeartbeatResponse {
    const { memberId, groupInstanceId } = request;
    if (joining === null) return refused(INVALID_REQUEST, 'Topology must be non-null when (re-)joining.');
    if (this.topology !== null && !isSameTopology(this.topology, joining.topology))
      return refused(INVALID_REQUEST, 'Topology updates are not supported yet.');
    const inPlace = groupInstanceId === null ? undefined : this.static(groupInstanceId);
    if (inPlace !== undefined && inPlace.epoch !== vacated) {
      const said = `Static member ${memberId} with instance id ${groupInstanceId} cannot join the group because the instance id is owned by a member.`;
      return refused(UNRELEASED_INSTANCE_ID, said);
    }
    if (this.members.size === 0) this.delayFirst();
    if (this.topology === null) {
      this.topology = joining.topology;
      this.topics = topicNames(joining.topology);
    }
    const known = this.members.get(memberId);
    if (inPlace !== undefined) return this.replace(inPlace, memberId, joining);
    if (known !== undefined) {
      if (JSON.stringify(factsOf(known.joined)) !== JSON.stringify(factsOf(joining))) this.groupEpoch++;
      known.joined = joining;
      return known;
    }
    const member = new StreamsMemberRecord(memberId, groupInstanceId, joining);
    this.members.set(memberId, member);
    this.membersChanged();
    return member;
  }

  private replace(old: StreamsMemberRecord, memberId: string, joining: StreamsGroupJoin): StreamsMemberRecord {
    this.forget(old);
    const member = old.successor(memberId, joining);
    this.members.set(memberId, member);
    const targets = new Map(this.targets);
    targets.delete(old.memberId);
    this.targets = targets.set(memberId, targetOf(this.targets, old.memberId));
    this.membersChanged();
    return member;
  }

  private known(request: StreamsGroupHeartbeatRequest, owned: TaskSets | null): StreamsMemberRecord | StreamsGroupHeartbeatResponse {
    const member = this.memberOf(request);
    if (!(member instanceof StreamsMemberRecord)) return member;
    const { memberEpoch } = request;
    if (member.accepts({ memberEpoch, owned })) return member;
    const said = `The streams group member has a ${memberEpoch > member.epoch ? 'greater' : 'smaller'} member epoch (${memberEpoch}) than the one known by the group coordinator (${member.epoch}).`;
    return refused(FENCED_MEMBER_EPOCH, `${said} The member must abandon all its partitions and rejoin.`);
  }

  private memberOf({ memberId, groupInstanceId }: StreamsGroupHeartbeatRequest): StreamsMemberRecord | StreamsGroupHeartbeatResponse {
    if (groupInstanceId === null) {
      return this.members.get(memberId) ?? refused(E.UNKNOWN_MEMBER_ID, `Member ${memberId} is not a member of group ${this.groupId}.`);
    }
    const member = this.static(groupInstanceId);
    if (member === undefined) return refused(E.UNKNOWN_MEMBER_ID, `Instance id ${groupInstanceId} is unknown.`);
    if (member.memberId === memberId) return member;
    const said = `Static member ${memberId} with instance id ${groupInstanceId} was fenced by member ${member.memberId}.`;
    return refused(E.FENCED_INSTANCE_ID, said);
  }

  private static(groupInstanceId: string): StreamsMemberRecord | undefined {
    return [...this.members.values()].find((member) => member.groupInstanceId === groupInstanceId);
  }

  private leave(request: StreamsGroupHeartbeatRequest): StreamsGroupHeartbeatResponse {
    const { memberEpoch, groupInstanceId } = request;
    if (memberEpoch === goodbye.thePlace && groupInstanceId === null) return refused(INVALID_REQUEST, "InstanceId can't be null.");
    const member = this.memberOf(request);
    if (!(member instanceof StreamsMemberRecord)) return member;
    if (memberEpoch === goodbye.thePlace) member.vacate();
    else this.remove(member);
    return { ...refused(E.NONE, null), memberEpoch };
  }

  private remove(member: StreamsMemberRecord): void {
    this.forget(member);
    this.membersChanged();
    if (this.members.size > 0) return;
    this.targetEpoch = this.groupEpoch;
    this.targets = new Map();
    this.shutdownBy = null;
    this.cancelDelay?.();
    this.cancelDelay = null;
  }

  private forget(member: StreamsMemberRecord): void {
    member.cancelSession();
    member.cancelRevocation();
    this.members.delete(member.memberId);
    if (member.joined.endpoint !== null) this.endpointEpoch++;
  }

  private membersChanged(): void {
    this.groupEpoch++;
  }

  /** A sign of life: the session begins anew. */
  private touch(member: StreamsMemberRecord): void {
    member.cancelSession();
    member.cancelSession = this.options.clock.setTimer(() => {
      if (this.members.get(member.memberId) === member) this.remove(member);
    }, this.options.settings()['streams.session.timeout.ms']);
  }

  // Topology and targets

  private configure(): void {
    if (this.topology === null) return;
    const found = configureTopology(this.topology, this.topics, this.options.partitionsOf, this.configured);
    const isFirst = this.configured === null;
    if (!isFirst && found.signature !== this.configured?.signature) this.groupEpoch++;
    this.configured = found;
    // As the controller does it: a moment later.
    if (found.toCreate.length > 0) this.options.clock.setTimer(() => this.options.createTopics(found.toCreate), 0);
  }

  private delayFirst(): void {
    const delayMs = this.options.settings()['streams.initial.rebalance.delay.ms'];
    if (delayMs === 0 || this.cancelDelay !== null) return;
    this.cancelDelay = this.options.clock.setTimer(() => {
      this.cancelDelay = null;
      this.retarget();
    }, delayMs);
  }

  /** A target for the newest epoch, unless it has to wait. */
  private retarget(): readonly StreamsGroupStatus[] {
    if (this.groupEpoch === this.targetEpoch) return [];
    const delayed = (what: string): StreamsGroupStatus[] => [
      { code: StreamsStatus.ASSIGNMENT_DELAYED, detail: `Assignment delayed due to the configured ${what}.` },
    ];
    if (this.cancelDelay !== null) return delayed('initial rebalance delay');
    const { clock, settings } = this.options;
    const now = clock.now();
    if (now - this.targetAt < settings()['streams.assignment.interval.ms']) return delayed('assignment interval');
    const members = [...this.members.values()].map(({ memberId, processId }) => ({
      memberId,
      processId,
      before: targetOf(this.targets, memberId),
    }));
    const { tasks = [], stateful = new Set<string>() } = this.configured ?? {};
    const copiesOf = (task: string): number => (stateful.has(task) ? settings()['streams.num.standby.replicas'] : 0);
    this.targets = assignStreamsTasks(tasks, members, copiesOf);
    this.targetEpoch = this.groupEpoch;
    this.targetAt = now;
    return [];
  }

  private reconcile(member: StreamsMemberRecord, owned: TaskSets | null): void {
    const wasRevoking = member.state === 'unrevoked';
    member.reconcile(targetOf(this.targets, member.memberId), this.targetEpoch, owned, this);
    if (member.state !== 'unrevoked') member.cancelRevocation();
    else if (!wasRevoking) this.limitRevocation(member);
  }

  /** It goes when it does not give up its tasks in time. */
  private limitRevocation(member: StreamsMemberRecord): void {
    member.cancelRevocation();
    if (member.state !== 'unrevoked') return;
    member.cancelRevocation = this.options.clock.setTimer(() => {
      if (this.members.get(member.memberId) === member) this.remove(member);
    }, member.joined.rebalanceTimeoutMs);
  }

  activeIn(task: string): string | undefined {
    const holds = ({ assigned, pendingRevocation }: StreamsMemberRecord): boolean =>
      assigned.active.has(task) || pendingRevocation.active.has(task);
    return [...this.members.values()].find(holds)?.processId;
  }

  isCopiedIn(task: string, processId: string): boolean {
    return [...this.members.values()].some(
      (member) => member.processId === processId && (member.assigned.standby.has(task) || member.pendingRevocation.standby.has(task)),
    );
  }

  private statuses(): StreamsGroupStatus[] {
    const found = this.configured?.status ?? null;
    const statuses = found === null ? [] : [found];
    if (this.shutdownBy === null) return statuses;
    const detail = `Streams group member ${this.shutdownBy} encountered a fatal error and requested a shutdown for the entire application.`;
    return [...statuses, { code: StreamsStatus.SHUTDOWN_APPLICATION, detail }];
  }

  private tasksReading(topic: string, partition: number): string[] {
    return (this.topology?.subTopologies ?? [])
      .filter((sub) => sub.sourceTopics.includes(topic) || sub.repartitionSourceTopics.some(({ name }) => name === topic))
      .map(({ id }) => taskOf(id, partition));
  }
}

/** What a change of makes a new target necessary. */
function factsOf({ processId, endpoint, tags, rackId }: StreamsGroupJoin): unknown {
  return [processId, endpoint, tags, rackId];
}

function isSameTopology(a: StreamsGroupTopology, b: StreamsGroupTopology): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

export function refused(errorCode: number, errorMessage: string | null): StreamsGroupHeartbeatResponse {
  return { errorCode, errorMessage, memberEpoch: 0, heartbeatIntervalMs: 0, endpointEpoch: 0, statuses: [], assignment: null };
}
