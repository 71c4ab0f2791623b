/**
 * What members of both group protocols do alike: hand events to a state machine, carry out its commands, call the application back.
 *
 * One a stream thread. Callbacks to the application run one at a time in the order of the machine's commands, except `onLost`, which
 * overtakes them and cancels those for tasks that are gone. Events are queued, so a callback may call any method of the member. Heartbeats go on whatever the callbacks do.
 */
import type { MaybeAsync } from '../bytes/maybe-async.js';
import { MillraceError } from '../errors.js';
import { errorName } from '../kafka/error-codes.js';
import type { GroupMemberIdentity, KafkaPort } from '../kafka/port.js';
import type { Logger } from '../observability/logger.js';
import { systemGroupClock, type GroupClock } from './group-clock.js';
import type { GroupMembership, SessionVerdict } from './group-membership.js';
import type { GroupPhase, MemberCommand, MemberEvent } from './group-protocol.js';
import type { TaskId } from './task-id.js';

/** What both are told, and whom they call. */
export interface MemberShellOptions {
  readonly groupId: string;
  readonly logger: Logger;
  readonly clock?: GroupClock;
  /** Commit the epoch and stop these tasks; awaited before anybody else may get them. After a rejection `onLost` is called for them. */
  onRevoked(tasks: readonly TaskId[]): MaybeAsync;
  /** Drop these tasks at once and commit nothing of them. Synchronous, and may come while one of the other promises is pending. */
  onLost(tasks: readonly TaskId[]): void;
  /** The member is out and stays out; `onLost` has been called before. */
  onFatal(error: Error): void;
}

/** A pure machine: the time comes with each event. */
interface MemberMachine<Event, Command> {
  readonly phase: GroupPhase;
  readonly settled: boolean;
  readonly ownedTasks: readonly TaskId[];
  handle(event: Event | MemberEvent, now: number): readonly (Command | MemberCommand)[];
  sessionDoubtful(now: number): boolean;
}

/** How long leaving waits for the coordinator: a member that could not say goodbye is dropped when its session ends. */
const goodbyeTimeoutMs = 3000;

export abstract class MemberShell<
  Event extends { readonly kind: string },
  Command extends { readonly kind: string },
  Options extends MemberShellOptions,
> implements GroupMembership {
  protected abstract readonly machine: MemberMachine<Event, Command>;
  protected stopped = false;
  private readonly clock: GroupClock;
  private readonly abort = new AbortController();
  private readonly events: (Event | MemberEvent)[] = [];
  private draining = false;
  private cancelTimer: (() => void) | null = null;
  private callbacks: Promise<void> = Promise.resolve();
  /** Counts the losses: a callback that was queued before one is void. */
  private losses = 0;
  private assignedOnce = false;
  private failure: Error | null = null;
  private readonly waiters = new Set<() => boolean>();

  constructor(
    protected readonly port: KafkaPort,
    protected readonly options: Options,
  ) {
    this.clock = options.clock ?? systemGroupClock;
  }

  abstract identity(): GroupMemberIdentity;
  abstract requestRejoin(reason: string): void;
  abstract refreshGroup(): Promise<void>;
  abstract commitRefused(refused: GroupMemberIdentity): void;

  commitIdentity(): GroupMemberIdentity {
    return this.identity();
  }

  protected abstract carryOut(command: Command): void;
  /** Asks the coordinator whether the group still counts this member in, now instead of at the next heartbeat. */
  protected abstract doubtMembership(): void;
  /** The same when the session may be over. */
  protected abstract doubtSession(): void;

  get state(): GroupPhase {
    return this.machine.phase;
  }

  get memberStable(): boolean {
    return this.machine.settled;
  }

  get hasEnded(): boolean {
    return this.stopped || this.machine.phase === 'left' || this.machine.phase === 'failed';
  }

  get ownedTasks(): readonly TaskId[] {
    return this.machine.ownedTasks;
  }

  async start(): Promise<void> {
    const { groupId } = this.options;
    if (this.machine.phase !== 'idle')
      throw new MillraceError('MILL_STATE_INVALID', `The member of group "${groupId}" was started before.`);
    this.dispatch({ kind: 'start' });
    await this.until(() => this.assignedOnce || this.hasEnded);
    if (this.failure !== null) throw this.failure;
    if (!this.assignedOnce)
      throw new MillraceError('MILL_STATE_INVALID', `The member of group "${groupId}" was stopped before it had joined.`);
  }

  async leave(leaveGroup: boolean | null = null, handoverMs?: number): Promise<void> {
    this.dispatch({ kind: 'leaveRequested', leaveGroup, ...(handoverMs !== undefined && { handoverMs }) });
    await this.until(() => this.hasEnded);
    this.stop();
  }

  stop(): void {
    this.stopped = true;
    this.cancelTimer?.();
    this.cancelTimer = null;
    this.abort.abort();
    this.wake();
  }

  async identityAfter(refused: GroupMemberIdentity): Promise<GroupMemberIdentity | null> {
    const { losses } = this;
    const isNext = (): boolean => this.commitIdentity().generation > refused.generation;
    if (!isNext()) this.doubtMembership();
    await this.until(() => losses !== this.losses || this.hasEnded || isNext());
    return losses === this.losses && !this.hasEnded ? this.commitIdentity() : null;
  }

  async confirmSession(): Promise<SessionVerdict> {
    const { losses } = this;
    if (!this.hasEnded && this.sessionDoubtful) {
      this.doubtSession();
      await this.until(() => losses !== this.losses || this.hasEnded || !this.sessionDoubtful);
    }
    return losses === this.losses && !this.hasEnded ? 'ok' : 'lost';
  }

  /** The last proven heartbeat is older than the session. */
  protected get sessionDoubtful(): boolean {
    return this.machine.sessionDoubtful(this.clock.now());
  }

  // Events and commands

  protected dispatch(event: Event | MemberEvent): void {
    this.events.push(event);
    if (this.draining) return;
    this.draining = true;
    try {
      for (let next = this.events.shift(); next !== undefined; next = this.events.shift()) {
        if (this.stopped) continue;
        for (const command of this.machine.handle(next, this.clock.now())) this.obey(command);
      }
    } finally {
      this.draining = false;
    }
    this.wake();
  }

  private obey(given: Command | MemberCommand): void {
    const { groupId, logger } = this.options;
    const command = given as MemberCommand;
    switch (command.kind) {
      case 'findCoordinator': {
        const { attempt, refresh } = command;
        const found = this.port.findCoordinator('group', groupId, { refresh, signal: this.abort.signal });
        this.request(attempt, found, (broker) => ({ kind: 'coordinatorFound', attempt, broker }));
        return;
      }
      case 'revoke':
        this.revoke(command.revocation, command.tasks);
        return;
      case 'lost':
        this.losses++;
        logger.warn({ groupId, tasks: command.tasks.length }, 'tasks lost: the group no longer counts this member in');
        this.options.onLost(command.tasks);
        return;
      case 'waiting':
        logger.info({ groupId, phase: command.phase, forMs: Math.round(command.forMs) }, 'waiting for the group');
        return;
      case 'retrying': {
        const { request, errorCode, inMs } = command;
        const error = errorCode === null ? 'no answer' : errorName(errorCode);
        logger.warn({ groupId, request, error, inMs }, 'group request failed, trying again');
        return;
      }
      case 'left':
        return;
      case 'schedule':
        this.schedule(command.at);
        return;
      default:
        this.carryOut(given as Command);
    }
  }

  private schedule(at: number | null): void {
    this.cancelTimer?.();
    this.cancelTimer = at === null ? null : this.clock.setTimer(() => this.dispatch({ kind: 'tick' }), Math.max(0, at - this.clock.now()));
  }

  // Requests

  /** `isPassing`: errors after which the same may be asked again. */
  protected request<T>(
    attempt: number,
    answer: Promise<T>,
    event: (answer: T) => Event | MemberEvent,
    isPassing: (code: MillraceError['code']) => boolean = (code) => code === 'MILL_TRANSPORT',
  ): void {
    answer.then(event).then(
      (happened) => this.dispatch(happened),
      (error: unknown) => {
        if (this.stopped) return;
        this.options.logger.debug({ groupId: this.options.groupId, err: error }, 'group request without an answer');
        if (error instanceof MillraceError && isPassing(error.code)) this.dispatch({ kind: 'transportFailed', attempt });
        else this.giveUp(error);
      },
    );
  }

  /** The last request: nobody waits long for its answer. */
  protected goodbye<T>(attempt: number, answer: Promise<T>, event: (answer: T) => Event | MemberEvent): void {
    const cancel = this.clock.setTimer(() => this.dispatch({ kind: 'transportFailed', attempt }), goodbyeTimeoutMs);
    this.request(attempt, answer.finally(cancel), event);
  }

  // Callbacks

  /** Tells the application what it is to run; the member has started once it knows. */
  protected assigned(facts: { readonly generation: number; readonly tasks: number; readonly added: number }, tell: () => MaybeAsync): void {
    const { groupId, logger } = this.options;
    logger.info({ groupId, ...facts }, 'tasks assigned');
    this.enqueue(
      async () => tell(),
      () => (this.assignedOnce = true),
    );
  }

  private revoke(revocation: number, tasks: readonly TaskId[]): void {
    const { losses } = this;
    const { groupId, logger } = this.options;
    logger.info({ groupId, tasks: tasks.length }, 'giving up tasks');
    const giveUpTasks = async (): Promise<void> => {
      try {
        await this.options.onRevoked(tasks);
      } catch (err) {
        if (losses !== this.losses) return;
        logger.warn({ groupId, err }, 'tasks were given up without a commit');
        this.options.onLost(tasks);
      }
    };
    this.enqueue(giveUpTasks, () => this.dispatch({ kind: 'revocationDone', revocation }));
  }

  /** Runs after the callbacks before it, unless the tasks are lost by then. */
  private enqueue(callback: () => Promise<void>, done: () => void): void {
    const { losses } = this;
    this.callbacks = this.callbacks
      .then(async () => {
        if (this.stopped || losses !== this.losses) return;
        await callback();
        done();
        this.wake();
      })
      .catch((error: unknown) => this.giveUp(error));
  }

  protected giveUp(cause: unknown): void {
    if (this.hasEnded) return;
    const error =
      cause instanceof Error
        ? cause
        : new MillraceError('MILL_GROUP_FATAL', `The member of group "${this.options.groupId}" failed.`, { cause });
    this.dispatch({ kind: 'gaveUp' });
    this.report(error);
  }

  protected report(error: Error): void {
    this.failure ??= error;
    this.options.logger.error({ groupId: this.options.groupId, err: error }, 'out of the group');
    this.options.onFatal(error);
    this.wake();
  }

  // Waiting

  private until(condition: () => boolean): Promise<void> {
    if (condition()) return Promise.resolve();
    return new Promise((resolve) => {
      const waiter = (): boolean => {
        if (!condition()) return false;
        resolve();
        return true;
      };
      this.waiters.add(waiter);
    });
  }

  private wake(): void {
    for (const waiter of this.waiters) if (waiter()) this.waiters.delete(waiter);
  }
}
