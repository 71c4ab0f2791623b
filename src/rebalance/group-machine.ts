/**
 * One member of a classic consumer group as a pure state machine: incremental cooperative rebalancing (KIP-429) of tasks.
 *
 * Events and the time go in, commands come out; `group-member.ts` carries them out. Invariants:
 * - what the member claims in a join is exactly what its application runs: a task enters the ownership with `assigned` and leaves it only after the application has given it up
 *   (`revocationDone`) or been told that it is gone (`lost`), which comes before any request that no longer claims it;
 * - at most one of findCoordinator, join, assign, sync and leave is under way, and no heartbeat is begun while a join or sync is: the broker parks those and keeps the member alive itself;
 * - the generation shown outside is the last one joined, also after a loss, so that the broker fences whatever still bears it.
 */
import type {
  EncodedAssignment,
  GroupCommand,
  GroupEvent,
  GroupMachineConfig,
  GroupPhase,
  GroupRequest,
  JoinAnswer,
} from './group-protocol.js';
import { GenerationBook, noGeneration } from './generation-book.js';
import { groupReaction } from './group-reactions.js';
import { GroupRequests } from './group-requests.js';
import { Handover } from './handover.js';
import type { MemberAssignment } from './member-assignment.js';
import { inGeneration, isOver, isWaiting } from './group-phases.js';
import { MemberSession } from './member-session.js';
import type { TaskId } from './task-id.js';
import { TaskOwnership } from './task-ownership.js';

export class GroupMachine {
  private phaseNow: GroupPhase = 'idle';
  private coordinator: number | null = null;
  private lookups = 0;
  private member: string;
  private readonly generations: GenerationBook;
  private protocolName = '';
  private settledNow = false;

  private readonly requests: GroupRequests;
  private readonly session: MemberSession;
  private readonly ownership = new TaskOwnership();
  private revocation = 0;
  /** What to take over once the revocation is done. */
  private awaiting: MemberAssignment | null = null;
  private rejoinWanted = false;
  private wish = 0;
  /** Whether the group is told when this member goes. */
  private saysGoodbye: boolean;
  private readonly handover = new Handover();

  private now = 0;
  private commands: GroupCommand[] = [];

  constructor(private readonly config: GroupMachineConfig) {
    this.member = config.groupInstanceId === null ? config.previousMemberId : '';
    this.saysGoodbye = config.groupInstanceId === null;
    this.generations = new GenerationBook(config.groupInstanceId !== null);
    this.requests = new GroupRequests(config.random);
    this.session = new MemberSession(config.sessionTimeoutMs, config.heartbeatIntervalMs, config.rebalanceTimeoutMs);
  }

  get phase(): GroupPhase {
    return this.phaseNow;
  }

  get memberId(): string {
    return this.member;
  }

  /** Of the last join; -1 before the first. */
  get generation(): number {
    return this.generations.now;
  }

  get commitGeneration(): number {
    return this.generations.forCommits(this.phaseNow === 'leaving');
  }

  get ownedTasks(): readonly TaskId[] {
    return this.ownership.tasks;
  }

  /** The assignment is in force and no follow-up rebalance is known to come. */
  get settled(): boolean {
    return this.phaseNow === 'stable' && this.settledNow && !this.rejoinWanted;
  }

  /** The broker may have dropped this member: its last proven sign of life is older than the session timeout. */
  sessionDoubtful(now: number): boolean {
    return this.session.doubtful(now);
  }

  handle(event: GroupEvent, now: number): readonly GroupCommand[] {
    this.now = now;
    this.commands = [];
    if (!isOver(this.phaseNow)) this.react(event);
    this.emit({ kind: 'schedule', at: this.nextTickAt() });
    return this.commands;
  }

  private react(event: GroupEvent): void {
    switch (event.kind) {
      case 'start':
        if (this.phaseNow === 'idle') this.find();
        return;
      case 'coordinatorFound':
        if (this.settle(event.attempt)) this.onCoordinator(event.broker);
        return;
      case 'joinAnswered':
        if (this.settle(event.attempt)) this.onJoin(event.answer);
        return;
      case 'assignmentsReady':
        if (this.settle(event.attempt)) this.sync(event.assignments);
        return;
      case 'syncAnswered':
        if (this.settle(event.attempt)) this.onSync(event.errorCode, event.assignment);
        return;
      case 'heartbeatAnswered':
        if (this.session.isUnderWay(event.attempt)) this.onHeartbeat(event.errorCode);
        return;
      case 'leaveAnswered':
        if (this.settle(event.attempt)) this.finish();
        return;
      case 'transportFailed':
        this.onTransportFailed(event.attempt);
        return;
      case 'tick':
        this.onTick();
        return;
      case 'revocationDone':
        if (event.revocation === this.revocation) this.onRevoked();
        return;
      case 'rejoinRequested':
        this.onRejoinRequested();
        return;
      case 'sessionChecked':
        if (this.session.doubtful(this.now)) this.onDropped();
        return;
      case 'memberForgotten':
        if (event.memberId === this.member) this.onDropped();
        return;
      case 'membershipDoubted':
        if (this.heartbeatWanted() && this.session.isIdle) this.sendHeartbeat();
        return;
      case 'leaveRequested':
        if (this.phaseNow !== 'leaving') this.onLeaveRequested(event.leaveGroup, event.handoverMs);
        return;
      case 'gaveUp':
        this.breakDown();
        this.sayGoodbye();
        return;
    }
  }

  // Coordinator

  private find(): void {
    if (!inGeneration(this.phaseNow)) this.enter('finding');
    this.coordinator = null;
    this.requests.retryAt = null;
    this.emit({ kind: 'findCoordinator', attempt: this.requests.begin('FindCoordinator'), refresh: this.lookups++ > 0 });
  }

  private onCoordinator(broker: number): void {
    this.coordinator = broker;
    if (this.phaseNow === 'finding') this.join();
    else if (this.phaseNow === 'leaving' && this.ownership.isEmpty) this.leave();
    else this.sendHeartbeat();
  }

  // Join and sync

  private join(): void {
    if (this.coordinator === null) {
      this.enter('finding');
      this.find();
      return;
    }
    this.enter('joining');
    this.requests.retryAt = null;
    this.rejoinWanted = false;
    if (this.ownership.isEmpty) this.session.restart(this.now);
    else this.session.forgetHeartbeat();
    const generation = this.ownership.isEmpty ? noGeneration : this.generations.now;
    const claim = { tasks: this.ownedTasks, generation, wish: this.wish, isLeaving: this.handover.isOn };
    this.emit({ kind: 'join', attempt: this.requests.begin('JoinGroup'), broker: this.coordinator, memberId: this.member, claim });
  }

  private onJoin(answer: JoinAnswer): void {
    const reaction = groupReaction(answer.errorCode);
    if (reaction === 'none') this.onJoined(answer);
    else if (reaction === 'takeMemberId') {
      this.rename(answer.memberId);
      this.joinOrLeave();
    } else this.onRefusal('JoinGroup', answer.errorCode);
  }

  private onJoined(answer: JoinAnswer): void {
    this.requests.succeeded();
    this.rename(answer.memberId);
    // What runs here may have been given to others, who have committed since.
    if (this.generations.joined(answer.generation) && !this.ownership.isEmpty) {
      this.lose();
      this.joinOrLeave();
      return;
    }
    this.protocolName = answer.protocolName ?? '';
    this.session.refresh(this.now);
    // A leaving member takes the generation over for its last commit and goes no further.
    if (this.phaseNow === 'leaving') return;
    if (answer.leader !== answer.memberId) {
      this.sync([]);
      return;
    }
    this.enter('assigning');
    this.emit({ kind: 'assign', attempt: this.requests.begin('assign'), generation: this.generations.now });
  }

  private sync(assignments: readonly EncodedAssignment[]): void {
    if (this.coordinator === null) {
      this.join();
      return;
    }
    this.enter('syncing');
    this.session.forgetHeartbeat();
    const { coordinator: broker, protocolName } = this;
    this.emit({ kind: 'sync', attempt: this.requests.begin('SyncGroup'), broker, protocolName, assignments });
  }

  private onSync(errorCode: number, assignment: MemberAssignment | null): void {
    if (groupReaction(errorCode) !== 'none') {
      this.onRefusal('SyncGroup', errorCode);
      return;
    }
    this.session.refresh(this.now);
    this.generations.assignmentCame();
    if (assignment !== null) this.onAssignment(assignment);
  }

  private onAssignment(assignment: MemberAssignment): void {
    this.settledNow = assignment.settled;
    this.handover.members = assignment.members.length;
    if (assignment.settled) this.session.awaitNothing();
    else this.session.awaitRebalance(this.now);
    const revoked = this.ownership.beginShrink(assignment.activeTasks);
    if (revoked.length > 0) {
      this.enter('revoking');
      this.awaiting = assignment;
      this.emit({ kind: 'revoke', revocation: ++this.revocation, tasks: revoked });
      return;
    }
    // Nothing was taken from it: the leader does not know of handovers, or can't assign.
    if (this.handover.isOn) {
      this.leaveNow();
      return;
    }
    this.takeOver(assignment);
    this.enter('stable');
    if (this.rejoinWanted) this.join();
  }

  private takeOver(assignment: MemberAssignment): void {
    const added = this.ownership.takeOver(assignment.activeTasks);
    this.emit({ kind: 'assigned', assignment, added, generation: this.generations.now });
  }

  // Giving up

  private onRevoked(): void {
    const { awaiting } = this;
    this.awaiting = null;
    if (this.phaseNow === 'leaving') {
      this.ownership.clear();
      this.leave();
    } else if (this.handover.isOn) {
      this.ownership.forgetGivenUp();
      this.leaveNow();
    } else if (this.phaseNow === 'revoking' && awaiting !== null) {
      this.takeOver(awaiting);
      this.wish++;
      this.join();
    }
  }

  private onRejoinRequested(): void {
    this.wish++;
    if (this.phaseNow === 'stable') this.join();
    else this.rejoinWanted = true;
  }

  /** Everything owned is gone; a revocation under way has become pointless, its end is not waited for. */
  private lose(): void {
    const tasks = this.ownership.clear();
    this.awaiting = null;
    this.revocation++;
    this.settledNow = false;
    this.wish++;
    if (tasks.length > 0) this.emit({ kind: 'lost', tasks });
  }

  private joinOrLeave(): void {
    if (this.handover.isOn && this.ownership.isEmpty) this.leaveNow();
    else if (this.phaseNow !== 'leaving') this.join();
    else if (this.ownership.isEmpty) this.leave();
  }

  private onDropped(): void {
    if (this.ownership.isEmpty) return;
    this.lose();
    if (inGeneration(this.phaseNow)) this.joinOrLeave();
  }

  // Heartbeats

  private sendHeartbeat(): void {
    if (this.coordinator === null) return;
    const attempt = this.requests.next();
    this.session.sent(attempt, this.now);
    this.emit({ kind: 'heartbeat', attempt, broker: this.coordinator });
  }

  private onHeartbeat(errorCode: number): void {
    const reaction = groupReaction(errorCode);
    // With a rebalance under way the member is known all the same.
    this.session.answered(reaction === 'none' || reaction === 'rejoin');
    if (reaction === 'none') this.requests.succeeded();
    else this.onRefusal('Heartbeat', errorCode);
  }

  // Leaving

  private onLeaveRequested(leaveGroup: boolean | null, ms?: number): void {
    if (leaveGroup !== null) this.saysGoodbye = leaveGroup;
    const runs = this.phaseNow === 'stable' && !this.ownership.isEmpty && !this.session.doubtful(this.now);
    if (runs && this.saysGoodbye && this.handover.begin(this.now, this.config.heartbeatIntervalMs, ms)) this.onRejoinRequested();
    else this.leaveNow();
  }

  private leaveNow(): void {
    const joined = this.phaseNow !== 'idle';
    this.handover.end();
    this.enter('leaving');
    this.requests.retryAt = null;
    this.awaiting = null;
    // A join on its way may move the generation, which the last commit must know; the rest of what is under way no longer matters.
    if (this.requests.pending !== 'JoinGroup') this.requests.forget();
    if (!joined) {
      this.finish();
    } else if (this.ownership.isEmpty) {
      this.leave();
    } else {
      const tasks = this.ownership.beginGiveUpAll();
      if (tasks.length > 0) this.emit({ kind: 'revoke', revocation: ++this.revocation, tasks });
      if (this.coordinator === null) this.find();
    }
  }

  private leave(): void {
    if (this.member === '' || !this.saysGoodbye) {
      this.finish();
      return;
    }
    if (this.coordinator === null) {
      this.find();
      return;
    }
    this.sayGoodbye();
  }

  /** After a breakdown it spares the others the end of the session; its answer is of no interest then. */
  private sayGoodbye(): void {
    if (this.coordinator === null || this.member === '' || !this.saysGoodbye) return;
    this.session.forgetHeartbeat();
    this.emit({ kind: 'leave', attempt: this.requests.begin('LeaveGroup'), broker: this.coordinator, memberId: this.member });
  }

  private finish(): void {
    this.enter('left');
    this.emit({ kind: 'left' });
  }

  // Failures and time

  private onRefusal(request: 'JoinGroup' | 'SyncGroup' | 'Heartbeat', errorCode: number): void {
    switch (groupReaction(errorCode)) {
      case 'none':
        return;
      case 'retry':
        if (request !== 'Heartbeat') this.retryLater(request, errorCode);
        return;
      case 'findCoordinator':
        this.loseCoordinator(request, errorCode);
        return;
      case 'rejoin':
        if (request === 'JoinGroup') this.retryLater(request, errorCode);
        else if (request === 'SyncGroup' || this.phaseNow === 'stable') this.join();
        return;
      case 'outdated':
        this.lose();
        if (request === 'JoinGroup') this.retryLater(request, errorCode);
        else this.joinOrLeave();
        return;
      case 'forgotten':
        this.rename('');
        this.lose();
        this.joinOrLeave();
        return;
      case 'takeMemberId':
      case 'fatal':
        this.breakDown();
        this.emit({ kind: 'fatal', request, errorCode });
        return;
    }
  }

  /** The generation stays valid meanwhile: once found, heartbeats (or the join) go on at the new coordinator. */
  private loseCoordinator(request: GroupRequest, errorCode: number | null): void {
    this.session.forgetHeartbeat();
    this.generations.coordinatorLost();
    this.coordinator = null;
    if (this.requests.pending === null) this.retryLater(request, errorCode);
  }

  private onTransportFailed(attempt: number): void {
    if (this.session.isUnderWay(attempt)) {
      this.loseCoordinator('Heartbeat', null);
      return;
    }
    const failed = this.requests.settle(attempt);
    if (failed === null) return;
    if (this.phaseNow === 'leaving' && this.ownership.isEmpty) {
      this.finish();
      return;
    }
    this.loseCoordinator(failed === 'assign' ? 'SyncGroup' : failed, null);
  }

  private onTick(): void {
    if (this.handover.isLate(this.now)) this.leaveNow();
    if (this.phaseNow === 'stable' && this.session.awaitsInVain(this.now)) this.onRejoinRequested();
    if (this.requests.retryDue(this.now)) {
      if (this.coordinator === null) this.find();
      else if (this.phaseNow === 'finding') this.join();
    }
    // A parked member is kept alive by the broker, unless this tick is so late that the process must have been stopped meanwhile.
    if (this.phaseNow === 'joining' || this.phaseNow === 'syncing') this.session.refresh(this.now);
    if (this.session.heartbeatHangs(this.now)) this.loseCoordinator('Heartbeat', null);
    if (this.heartbeatWanted() && this.session.heartbeatDue(this.now)) this.sendHeartbeat();
    const forMs = this.requests.waitedLong(this.now);
    if (forMs !== null) this.emit({ kind: 'waiting', phase: this.phaseNow, forMs });
  }

  private retryLater(request: GroupRequest, errorCode: number | null): void {
    const inMs = this.requests.retryLater(this.now);
    if (!inGeneration(this.phaseNow)) this.enter('finding');
    this.emit({ kind: 'retrying', request, errorCode, inMs });
  }

  private breakDown(): void {
    this.lose();
    this.enter('failed');
  }

  // Small steps

  private emit(command: GroupCommand): void {
    this.commands.push(command);
  }

  /** True when `attempt` is the request under way, which it then no longer is. */
  private settle(attempt: number): boolean {
    return this.requests.settle(attempt) !== null;
  }

  private rename(memberId: string): void {
    if (memberId === this.member) return;
    this.member = memberId;
    this.emit({ kind: 'memberIdChanged', memberId });
  }

  private enter(phase: GroupPhase): void {
    this.phaseNow = phase;
    this.requests.waits(isWaiting(this.phaseNow), this.now);
  }

  private heartbeatWanted(): boolean {
    if (this.coordinator === null || this.requests.pending === 'JoinGroup' || this.requests.pending === 'LeaveGroup') return false;
    return inGeneration(this.phaseNow) || this.phaseNow === 'assigning';
  }

  private nextTickAt(): number | null {
    if (this.phaseNow === 'idle' || isOver(this.phaseNow)) return null;
    let at = this.now + this.config.heartbeatIntervalMs;
    if (this.requests.retryAt !== null) at = Math.min(at, this.requests.retryAt);
    if (this.heartbeatWanted()) at = Math.min(at, this.session.nextAt());
    if (isWaiting(this.phaseNow)) at = Math.min(at, this.requests.nextWaitingLogAt);
    return Math.min(at, this.handover.endsAt ?? at);
  }
}
