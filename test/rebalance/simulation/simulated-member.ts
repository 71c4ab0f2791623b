/** One process: a `GroupMachine`, a network that may lose messages, and an application that takes its time to give up tasks. */
import { planAssignment, type TaskSpec } from '../../../src/rebalance/assignment-plan.js';
import { GroupMachine } from '../../../src/rebalance/group-machine.js';
import type { EncodedAssignment, GroupCommand, GroupEvent, OwnershipClaim } from '../../../src/rebalance/group-protocol.js';
import { decodeMemberAssignment, encodeMemberAssignment } from '../../../src/rebalance/member-assignment.js';
import { decodeMemberSubscription, encodeMemberSubscription } from '../../../src/rebalance/member-subscription.js';
import { stickyAssignor } from '../../../src/rebalance/built-in-assignors.js';
import { formatTaskId } from '../../../src/rebalance/task-id.js';
import type { JoinReply, SimulatedCoordinator } from './simulated-coordinator.js';
import type { VirtualTime } from './virtual-time.js';

export interface World {
  readonly time: VirtualTime;
  readonly coordinator: SimulatedCoordinator;
  readonly tasks: readonly TaskSpec[];
  readonly sessionTimeoutMs: number;
  readonly heartbeatIntervalMs: number;
  /** Share of requests or answers that get lost. */
  lossRate: number;
  /** Broker that coordinates at present; another one answers NOT_COORDINATOR. */
  coordinatorNode: number;
}

export class SimulatedMember {
  readonly machine: GroupMachine;
  /** What the application runs, by task id. */
  readonly running = new Set<string>();
  /** Tasks that were ever revoked, for tests of stickiness. */
  readonly revoked: string[] = [];
  readonly state = new Set<string>();
  alive = true;
  private pausedUntil = 0;
  private tickTicket = 0;
  private callbacksFreeAt = 0;
  private losses = 0;
  private members: JoinReply['members'] = [];

  constructor(
    readonly name: string,
    private readonly world: World,
    previous: SimulatedMember | null = null,
  ) {
    for (const task of previous?.state ?? []) this.state.add(task);
    this.machine = new GroupMachine({
      sessionTimeoutMs: world.sessionTimeoutMs,
      heartbeatIntervalMs: world.heartbeatIntervalMs,
      rebalanceTimeoutMs: 60_000,
      groupInstanceId: null,
      previousMemberId: previous?.machine.memberId ?? '',
      random: world.time.random,
    });
  }

  start(): void {
    this.tell({ kind: 'start' });
  }

  leave(): void {
    this.tell({ kind: 'leaveRequested', leaveGroup: null });
  }

  requestRejoin(): void {
    this.tell({ kind: 'rejoinRequested' });
  }

  crash(): void {
    this.alive = false;
    this.running.clear();
  }

  /** The process stands still, as under SIGSTOP; what arrives waits. */
  pause(forMs: number): void {
    this.pausedUntil = this.world.time.now + forMs;
  }

  get paused(): boolean {
    return this.world.time.now < this.pausedUntil;
  }

  /** Whether a commit sent now would be taken. */
  canCommit(): boolean {
    return this.world.coordinator.accepts(this.machine.memberId, this.machine.generation);
  }

  private tell(event: GroupEvent): void {
    if (!this.alive) return;
    if (this.paused) {
      this.world.time.after(this.pausedUntil - this.world.time.now, () => this.tell(event));
      return;
    }
    for (const command of this.machine.handle(event, this.world.time.now)) this.carryOut(command);
  }

  private carryOut(command: GroupCommand): void {
    const { time, coordinator } = this.world;
    switch (command.kind) {
      case 'findCoordinator':
        this.exchange(command.attempt, (answer) => {
          const broker = this.world.coordinatorNode;
          answer({ kind: 'coordinatorFound', attempt: command.attempt, broker });
        });
        return;
      case 'join': {
        const metadata = this.metadata(command.claim);
        this.exchange(command.attempt, (answer) => {
          const reply = (joined: JoinReply): void =>
            answer({ kind: 'joinAnswered', attempt: command.attempt, answer: joined }, () => (this.members = joined.members));
          if (this.misses(command.broker))
            reply({ errorCode: 16, generation: -1, memberId: '', leader: '', protocolName: null, members: [] });
          else coordinator.join(command.memberId, metadata, time.now, reply);
        });
        return;
      }
      case 'assign':
        time.after(time.below(200), () => this.tell({ kind: 'assignmentsReady', attempt: command.attempt, assignments: this.assign() }));
        return;
      case 'sync': {
        const { memberId, generation } = this.machine;
        this.exchange(command.attempt, (answer) => {
          const reply = (errorCode: number, bytes: Buffer): void =>
            answer({
              kind: 'syncAnswered',
              attempt: command.attempt,
              errorCode,
              assignment: errorCode === 0 ? decodeMemberAssignment(bytes) : null,
            });
          if (this.misses(command.broker)) reply(16, Buffer.alloc(0));
          else
            coordinator.sync(memberId, generation, command.assignments, time.now, ({ errorCode, assignment }) =>
              reply(errorCode, assignment),
            );
        });
        return;
      }
      case 'heartbeat': {
        const { memberId, generation } = this.machine;
        this.exchange(command.attempt, (answer) => {
          const errorCode = this.misses(command.broker) ? 16 : coordinator.heartbeat(memberId, generation, time.now);
          answer({ kind: 'heartbeatAnswered', attempt: command.attempt, errorCode });
        });
        return;
      }
      case 'leave':
        this.exchange(command.attempt, (answer) => {
          const errorCode = this.misses(command.broker) ? 16 : coordinator.leave(command.memberId, time.now);
          answer({ kind: 'leaveAnswered', attempt: command.attempt, errorCode });
        });
        return;
      case 'revoke': {
        const tasks = command.tasks.map(formatTaskId);
        this.callback(time.below(1500), () => {
          for (const task of tasks) {
            this.running.delete(task);
            this.revoked.push(task);
          }
          this.tell({ kind: 'revocationDone', revocation: command.revocation });
        });
        return;
      }
      case 'assigned':
        this.callback(0, () => {
          for (const task of command.added.map(formatTaskId)) {
            this.running.add(task);
            this.state.add(task);
          }
        });
        return;
      case 'lost':
        this.losses++;
        this.running.clear();
        return;
      case 'schedule': {
        const ticket = ++this.tickTicket;
        if (command.at === null) return;
        time.after(Math.max(0, command.at - time.now), () => {
          if (ticket === this.tickTicket) this.tell({ kind: 'tick' });
        });
        return;
      }
      case 'fatal':
        throw new Error(`${this.name}: ${command.request} answered ${command.errorCode}`);
      default:
        return;
    }
  }

  /** In order, one at a time, and void once the tasks are lost: as the real member does. */
  private callback(takesMs: number, run: () => void): void {
    const { time } = this.world;
    const { losses } = this;
    this.callbacksFreeAt = Math.max(this.callbacksFreeAt, time.now) + takesMs;
    const attempt = (): void => {
      if (this.paused) time.after(this.pausedUntil - time.now, attempt);
      else if (this.alive && losses === this.losses) run();
    };
    if (this.callbacksFreeAt === time.now) attempt();
    else time.after(this.callbacksFreeAt - time.now, attempt);
  }

  private exchange(attempt: number, serve: (answer: (event: GroupEvent, before?: () => void) => void) => void): void {
    const { time } = this.world;
    const fail = (): void => time.after(time.below(2000), () => this.tell({ kind: 'transportFailed', attempt }));
    if (time.random() < this.world.lossRate) {
      fail();
      return;
    }
    time.after(1 + time.below(20), () =>
      serve((event, before) => {
        if (time.random() < this.world.lossRate) {
          fail();
          return;
        }
        time.after(1 + time.below(20), () => {
          before?.();
          this.tell(event);
        });
      }),
    );
  }

  private misses(broker: number): boolean {
    return broker !== this.world.coordinatorNode;
  }

  private metadata(claim: OwnershipClaim): Buffer {
    const subscription = {
      version: 1,
      topics: ['input'],
      processId: this.name,
      thread: 0,
      transactionalId: `app-${this.name}`,
      topologyFingerprint: '',
      release: null,
      lastRun: null,
      tasksWithState: this.world.tasks.filter(({ task }) => this.state.has(formatTaskId(task))).map(({ task }) => ({ task, offsetSum: 1 })),
      applicationServer: null,
      tags: {},
      standbyTasks: [],
      caughtUpTasks: [],
      ownedTasks: claim.tasks,
      generation: claim.generation,
      nonce: String(claim.wish),
      isLeaving: claim.isLeaving,
    };
    return encodeMemberSubscription(subscription, []);
  }

  private assign(): EncodedAssignment[] {
    const members = this.members.map(({ memberId, metadata }) => ({
      memberId,
      groupInstanceId: null,
      subscription: decodeMemberSubscription(metadata),
    }));
    const { assignments } = planAssignment({ tasks: this.world.tasks, members, assignor: stickyAssignor });
    return [...assignments].map(([memberId, assignment]) => ({ memberId, assignment: encodeMemberAssignment(assignment) }));
  }
}
