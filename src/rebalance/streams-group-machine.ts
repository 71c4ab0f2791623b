/**
 * One member of a streams group (KIP-1071) as a pure state machine: the broker says what to run, the member does it and says when it is done.
 *
 * Events and the time go in, commands come out; `streams-group-member.ts` carries them out. Invariants:
 * - what a heartbeat reports as owned is what the application runs: a task enters with `assigned` and leaves only after the application has given it up
 *   (`revocationDone`) or been told that it is gone (`lost`), so the broker gives nobody a task that still runs here;
 * - `lost` comes before the request that joins anew;
 * - at most one heartbeat is under way. When its answer is not known, the broker may have moved this member on and does not say so again: the group's description is read before
 *   the next heartbeat;
 * - the epoch shown outside is the last one told, also after a loss, so that the broker fences what still bears it.
 */
import { StreamsStatus, type StreamsGroupStatus } from '../kafka/streams-groups.js';
import type { GroupPhase } from './group-protocol.js';
import { GroupLook } from './group-look.js';
import { isOver, isWaiting } from './group-phases.js';
import { GroupReadiness } from './group-readiness.js';
import { GroupRequests } from './group-requests.js';
import { HeartbeatClock } from './heartbeat-clock.js';
import { leaves, MemberPlace } from './member-place.js';
import type { OwnPlace, StreamsGroupCommand, StreamsGroupEvent, StreamsHeartbeatAnswer } from './streams-group-protocol.js';
import { noTasks } from './streams-group-protocol.js';
import { streamsReaction } from './streams-group-reactions.js';
import { StreamsTaskBook } from './streams-task-book.js';
import type { TaskId } from './task-id.js';

const noEpoch = -1;

export class StreamsGroupMachine {
  private phaseNow: GroupPhase = 'idle';
  private coordinator: number | null = null;
  private lookups = 0;
  private epochNow = noEpoch;

  private readonly requests: GroupRequests;
  private readonly beats = new HeartbeatClock();
  private readonly readiness = new GroupReadiness();
  private readonly tasks = new StreamsTaskBook();
  private revocation = 0;
  /** The application has been told of the newest assignment; until then it is owed one, however long the group holds it back. */
  private announced = false;
  /** The answer to a heartbeat is not known. */
  private inDoubt = false;
  private ownSettled = false;
  private readonly place: MemberPlace;
  private readonly look = new GroupLook();

  private now = 0;
  private commands: StreamsGroupCommand[] = [];

  /** `groupInstanceId`: a static member's. `random`, in [0, 1): jitter of the pauses between attempts. */
  constructor({ groupInstanceId, random }: { readonly groupInstanceId: string | null; readonly random: () => number }) {
    this.requests = new GroupRequests(random);
    this.place = new MemberPlace(groupInstanceId !== null);
  }

  get phase(): GroupPhase {
    return this.phaseNow;
  }

  /** The member epoch; -1 before the first join. */
  get epoch(): number {
    return this.epochNow;
  }

  get ownedTasks(): readonly TaskId[] {
    return this.tasks.running.tasks;
  }

  get settled(): boolean {
    return this.phaseNow === 'stable' && this.announced && this.ownSettled && !this.inDoubt;
  }

  /** The broker has not proved for long that it counts this member in. */
  sessionDoubtful(now: number): boolean {
    return this.epochNow !== noEpoch && this.beats.doubtful(now);
  }

  handle(event: StreamsGroupEvent, now: number): readonly StreamsGroupCommand[] {
    this.now = now;
    this.commands = [];
    if (!isOver(this.phaseNow)) this.react(event);
    this.emit({ kind: 'schedule', at: this.nextTickAt() });
    return this.commands;
  }

  private react(event: StreamsGroupEvent): void {
    switch (event.kind) {
      case 'start':
        if (this.phaseNow === 'idle') this.find();
        return;
      case 'coordinatorFound':
        if (this.requests.settle(event.attempt) !== null) this.onCoordinator(event.broker);
        return;
      case 'heartbeatAnswered':
        this.onAnswer(event.attempt, event.answer);
        return;
      case 'described':
        if (this.look.is(event.attempt)) this.onDescribed(event.own, event.groupSettled);
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
      case 'hurry':
        this.beats.hurry(this.now);
        this.onTick();
        return;
      case 'leaveRequested':
        if (this.phaseNow !== 'leaving') this.onLeaveRequested(event.leaveGroup);
        return;
      case 'gaveUp':
        this.breakDown();
        this.sayGoodbye();
        return;
    }
  }

  // Coordinator and join

  private find(): void {
    if (!this.inGroup()) this.enter('finding');
    this.coordinator = null;
    this.requests.retryAt = null;
    this.emit({ kind: 'findCoordinator', attempt: this.requests.begin('FindCoordinator'), refresh: this.lookups++ > 0 });
  }

  private onCoordinator(broker: number): void {
    this.coordinator = broker;
    if (this.phaseNow === 'finding' || this.phaseNow === 'joining') this.join();
    else if (this.phaseNow === 'leaving' && this.tasks.running.isEmpty) this.leave();
    else this.beat();
  }

  private join(): void {
    if (this.coordinator === null) {
      this.enter('finding');
      this.find();
      return;
    }
    this.enter('joining');
    this.requests.retryAt = null;
    // The process that had the place before is gone: this one has its state directory.
    if (!this.place.isFree) {
      this.emit({ kind: 'leave', attempt: this.requests.begin('LeaveGroup'), broker: this.coordinator, epoch: leaves.thePlace });
      return;
    }
    const attempt = this.requests.begin('JoinGroup');
    this.beats.sent(attempt, this.now);
    this.emit({ kind: 'join', attempt, broker: this.coordinator });
  }

  private onAnswer(attempt: number, answer: StreamsHeartbeatAnswer): void {
    const request = this.requests.settle(attempt);
    if (request === 'LeaveGroup') this.onLeft(answer.errorCode);
    else if (request === 'JoinGroup') this.onJoinAnswer(answer);
    else if (request === null && this.beats.isUnderWay(attempt)) this.onHeartbeat(answer);
  }

  private onJoinAnswer(answer: StreamsHeartbeatAnswer): void {
    const reaction = streamsReaction(answer.errorCode);
    this.beats.answered(reaction === 'none');
    if (this.phaseNow === 'leaving') {
      if (reaction === 'none') this.epochNow = answer.memberEpoch;
      this.leave();
    } else if (reaction === 'none') {
      this.requests.succeeded();
      this.place.taken();
      this.inDoubt = false;
      this.enter('stable');
      this.take({ ...answer, assignment: answer.assignment ?? noTasks });
    } else if (reaction === 'occupied') {
      this.waitForPlace(answer);
    } else if (reaction === 'fatal' || reaction === 'rejoin') {
      // A group that is not found when joining is one of another kind, with members.
      this.fail(answer.errorCode, answer.errorMessage);
    } else {
      // It may have been carried out all the same.
      this.place.lost();
      if (reaction === 'findCoordinator') this.coordinator = null;
      this.retryLater('StreamsGroupHeartbeat', answer.errorCode);
    }
  }

  private waitForPlace({ errorCode, errorMessage }: StreamsHeartbeatAnswer): void {
    if (this.place.occupied(this.now)) this.fail(errorCode, errorMessage);
    else this.retryLater('StreamsGroupHeartbeat', errorCode);
  }

  // Heartbeats

  /** Sends what is due: a look at the group when an answer was lost, else a heartbeat. */
  private beat(): void {
    if (this.coordinator === null || !this.beats.isIdle) return;
    if (this.inDoubt) {
      this.describe();
      return;
    }
    const attempt = this.requests.next();
    this.beats.sent(attempt, this.now);
    this.emit({ kind: 'heartbeat', attempt, broker: this.coordinator, epoch: this.epochNow, owned: this.tasks.report() });
  }

  private onHeartbeat(answer: StreamsHeartbeatAnswer): void {
    const reaction = streamsReaction(answer.errorCode);
    this.beats.answered(reaction === 'none');
    switch (reaction) {
      case 'none':
        this.requests.succeeded();
        this.take(answer);
        return;
      case 'retry':
      case 'findCoordinator':
        this.doubt();
        if (reaction === 'findCoordinator') this.loseCoordinator(answer.errorCode);
        return;
      case 'rejoin':
        this.lose();
        this.joinOrLeave();
        return;
      case 'occupied':
      case 'fatal':
        this.fail(answer.errorCode, answer.errorMessage);
        return;
    }
  }

  private take(answer: StreamsHeartbeatAnswer): void {
    this.beats.interval(answer.heartbeatIntervalMs);
    this.judge(answer.statuses);
    if (isOver(this.phaseNow)) return;
    if (this.readiness.isBlocked) this.beats.quickFrom(this.now);
    const moved = answer.memberEpoch !== this.epochNow;
    this.epochNow = answer.memberEpoch;
    if (answer.assignment !== null) this.tasks.told(answer.assignment);
    if (moved || answer.assignment !== null) {
      this.announced = this.ownSettled = false;
      this.look.at(this.now);
      this.beats.quickFrom(this.now);
    }
    this.tellNews();
  }

  private tellNews(): void {
    if (this.phaseNow === 'stable' && !this.announced && !this.readiness.isBlocked) this.reconcile();
  }

  /** What the group lacks. Topics may still turn up. */
  private judge(statuses: readonly StreamsGroupStatus[]): void {
    const { changed, verdict } = this.readiness.note(statuses, this.now);
    if (changed) this.emit({ kind: 'statusChanged', statuses });
    if (verdict === null) return;
    this.breakDown();
    // The broker keeps the order to stop as long as it has members, static ones too: those that start next must not find it.
    if (verdict.code === StreamsStatus.SHUTDOWN_APPLICATION) this.place.goodbye = leaves.forGood;
    this.sayGoodbye();
    this.emit({ kind: 'unworkable', status: verdict });
  }

  // Tasks

  /** From what runs to `target`: first what is too much goes, then what is new comes. */
  private reconcile(): void {
    const revoked = this.tasks.running.beginShrink(this.tasks.target.active);
    if (revoked.length > 0) {
      this.enter('revoking');
      this.emit({ kind: 'revoke', revocation: ++this.revocation, tasks: revoked });
      return;
    }
    const added = this.tasks.takeOver();
    this.announced = true;
    this.emit({ kind: 'assigned', assignment: this.tasks.target, added, epoch: this.epochNow });
    if (this.tasks.hasNews) {
      this.beats.hurry(this.now);
      this.beat();
    }
  }

  private onRevoked(): void {
    if (this.phaseNow === 'leaving') {
      this.tasks.running.clear();
      this.leave();
      return;
    }
    if (this.phaseNow !== 'revoking') return;
    this.tasks.running.forgetGivenUp();
    this.enter('stable');
    this.reconcile();
  }

  private lose(): void {
    const tasks = this.tasks.clear();
    this.announced = this.inDoubt = this.ownSettled = false;
    this.place.lost();
    this.look.again(this.now);
    this.revocation++;
    if (tasks.length > 0) this.emit({ kind: 'lost', tasks });
  }

  private joinOrLeave(): void {
    if (this.phaseNow !== 'leaving') this.join();
    else if (this.tasks.running.isEmpty) this.finish();
  }

  // The group's description

  private describe(): void {
    if (this.look.isUnderWay) return;
    const attempt = this.requests.next();
    this.look.begin(attempt, this.beats.count, this.now);
    this.emit({ kind: 'describe', attempt });
  }

  private onDescribed(own: OwnPlace | null, groupSettled: boolean): void {
    // What a heartbeat has changed since is newer than the description; one that is under way may change it.
    if (!this.look.end(this.beats.count, groupSettled, this.now) || !this.inGroup()) return;
    if (own === null || own.memberEpoch < this.epochNow) {
      this.lose();
      this.joinOrLeave();
      return;
    }
    const moved = own.memberEpoch !== this.epochNow || !this.tasks.isTarget(own.assignment);
    if (moved || own.isSettled !== this.ownSettled) this.announced = false;
    const wasInDoubt = this.inDoubt;
    this.inDoubt = false;
    this.epochNow = own.memberEpoch;
    this.tasks.target = own.assignment;
    this.ownSettled = own.isSettled;
    if (!own.isSettled) this.beats.quickFrom(this.now);
    this.tellNews();
    if (wasInDoubt) this.beat();
  }

  // Leaving

  private onLeaveRequested(leaveGroup: boolean | null): void {
    const joined = this.phaseNow !== 'idle';
    this.place.leavesAs(leaveGroup);
    this.enter('leaving');
    this.requests.retryAt = null;
    if (!joined) {
      this.finish();
      return;
    }
    // A join on its way would make a member that nobody knows of.
    if (this.requests.pending === 'JoinGroup') return;
    this.requests.forget();
    if (this.tasks.running.isEmpty) {
      this.leave();
      return;
    }
    const tasks = this.tasks.running.beginGiveUpAll();
    if (tasks.length > 0) this.emit({ kind: 'revoke', revocation: ++this.revocation, tasks });
    if (this.coordinator === null) this.find();
  }

  private leave(): void {
    if (this.epochNow === noEpoch || this.place.goodbye === null) {
      this.finish();
      return;
    }
    if (this.coordinator === null) {
      this.find();
      return;
    }
    this.sayGoodbye();
  }

  private sayGoodbye(): void {
    if (this.coordinator === null || this.epochNow === noEpoch || this.place.goodbye === null) return;
    this.emit({ kind: 'leave', attempt: this.requests.begin('LeaveGroup'), broker: this.coordinator, epoch: this.place.goodbye });
  }

  private onLeft(errorCode: number): void {
    if (this.phaseNow === 'leaving') {
      this.finish();
      return;
    }
    // The place was left for this process to take.
    const reaction = streamsReaction(errorCode);
    if (reaction === 'retry' || reaction === 'findCoordinator') {
      if (reaction === 'findCoordinator') this.coordinator = null;
      this.retryLater('StreamsGroupHeartbeat', errorCode);
      return;
    }
    this.place.isFree = true;
    this.join();
  }

  private finish(): void {
    this.enter('left');
    this.emit({ kind: 'left' });
  }

  // Failures and time

  private doubt(): void {
    this.inDoubt = true;
    this.tasks.forgetReport();
    this.look.again(this.now);
  }

  private loseCoordinator(errorCode: number | null): void {
    this.coordinator = null;
    if (this.requests.pending === null) this.retryLater('StreamsGroupHeartbeat', errorCode);
  }

  private onTransportFailed(attempt: number): void {
    if (this.look.is(attempt)) {
      this.look.again(this.now);
      return;
    }
    const request = this.requests.settle(attempt);
    const isHeartbeat = this.beats.isUnderWay(attempt);
    if (isHeartbeat) this.beats.answered(false);
    if (request === null && !isHeartbeat) return;
    if (request === 'JoinGroup') this.place.lost();
    if (this.phaseNow === 'leaving' && this.tasks.running.isEmpty) {
      this.finish();
      return;
    }
    if (request === null) this.doubt();
    this.loseCoordinator(null);
  }

  private onTick(): void {
    if (this.requests.retryDue(this.now)) {
      if (this.coordinator === null) this.find();
      else if (!this.inGroup()) this.join();
    }
    if (this.beats.hangs(this.now) && this.inGroup()) {
      this.beats.answered(false);
      this.doubt();
      this.loseCoordinator(null);
    }
    if (this.look.hangs(this.now)) this.look.again(this.now);
    if (this.beatsWanted() && this.beats.due(this.now) && !this.inDoubt) this.beat();
    if (this.describeWanted() && this.look.dueAt !== null && this.now >= this.look.dueAt) this.describe();
    const forMs = this.requests.waitedLong(this.now);
    if (forMs !== null) this.emit({ kind: 'waiting', phase: this.phaseNow, forMs });
  }

  private retryLater(request: 'StreamsGroupHeartbeat', errorCode: number | null): void {
    const inMs = this.requests.retryLater(this.now);
    if (!this.inGroup()) this.enter('finding');
    this.emit({ kind: 'retrying', request, errorCode, inMs });
  }

  private fail(errorCode: number, message: string | null): void {
    this.breakDown();
    this.emit({ kind: 'fatal', errorCode, message });
  }

  private breakDown(): void {
    this.lose();
    this.requests.forget();
    this.requests.retryAt = null;
    this.enter('failed');
  }

  private emit(command: StreamsGroupCommand): void {
    this.commands.push(command);
  }

  private enter(phase: GroupPhase): void {
    this.phaseNow = phase;
    this.requests.waits(isWaiting(this.phaseNow), this.now);
  }

  private inGroup(): boolean {
    return this.phaseNow === 'stable' || this.phaseNow === 'revoking' || (this.phaseNow === 'leaving' && this.epochNow !== noEpoch);
  }

  private beatsWanted(): boolean {
    return this.coordinator !== null && this.inGroup() && this.requests.pending === null;
  }

  private describeWanted(): boolean {
    const isWorth = this.inDoubt || this.phaseNow !== 'leaving';
    return (
      this.inGroup() && isWorth && !this.look.isUnderWay && this.beats.isIdle && this.requests.pending === null && this.coordinator !== null
    );
  }

  private nextTickAt(): number | null {
    if (this.phaseNow === 'idle' || isOver(this.phaseNow)) return null;
    let at = this.now + 5000;
    if (this.requests.retryAt !== null) at = Math.min(at, this.requests.retryAt);
    if (this.beatsWanted() && !(this.inDoubt && this.beats.isIdle)) at = Math.min(at, this.beats.nextAt());
    if (this.describeWanted() && this.look.dueAt !== null) at = Math.min(at, this.look.dueAt);
    if (isWaiting(this.phaseNow)) at = Math.min(at, this.requests.nextWaitingLogAt);
    return at;
  }
}
