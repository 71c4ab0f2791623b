/** One member of a streams group as the coordinator keeps it, and its way from what it has to what it is to have. */
import type { StreamsGroupHeartbeatRequest, StreamsGroupJoin } from '../../kafka/streams-groups.js';
import { both, inEachRole, isEmpty, noTasks, union, without, type TaskSets } from './streams-tasks.js';

/** `unrevoked`: it has yet to give tasks up. `unreleased`: others have. */
type MemberState = 'stable' | 'unrevoked' | 'unreleased';

/** Which tasks nobody may begin in a process, because they are somewhere. */
export interface TaskHolders {
  /** The process that runs it; undefined: none. */
  activeIn(task: string): string | undefined;
  isCopiedIn(task: string, processId: string): boolean;
}

export class StreamsMemberRecord {
  epoch = 0;
  previousEpoch = -1;
  state: MemberState = 'stable';
  assigned: TaskSets = noTasks;
  pendingRevocation: TaskSets = noTasks;
  /** The epoch in which each active task was given: since then, commits of its offsets are this member's. */
  givenIn: ReadonlyMap<string, number> = new Map();
  cancelSession: () => void = () => undefined;
  /** Of the time that it has to give up `pendingRevocation`. */
  cancelRevocation: () => void = () => undefined;

  constructor(
    readonly memberId: string,
    readonly groupInstanceId: string | null,
    public joined: StreamsGroupJoin,
  ) {}

  get processId(): string {
    return this.joined.processId;
  }

  /** Whether a heartbeat under this epoch is the member's: the current one, or the one before when its answer may have got lost. */
  accepts({ memberEpoch, owned }: Pick<StreamsGroupHeartbeatRequest, 'memberEpoch'> & { readonly owned: TaskSets | null }): boolean {
    if (memberEpoch === this.epoch) return true;
    if (memberEpoch !== this.previousEpoch || owned === null) return false;
    return isEmpty(inEachRole(owned, this.assigned, without));
  }

  /** One step towards the target. `owned` null: as said before. */
  reconcile(target: TaskSets, targetEpoch: number, owned: TaskSets | null, holders: TaskHolders): void {
    if (this.state === 'stable' && this.epoch === targetEpoch) return;
    if (this.state === 'unrevoked') {
      if (owned === null || !isEmpty(inEachRole(owned, this.pendingRevocation, both))) return;
      this.pendingRevocation = noTasks;
    }
    const kept = inEachRole(this.assigned, target, both);
    const revoked = inEachRole(this.assigned, target, without);
    if (!isEmpty(revoked) && (owned === null || !isEmpty(inEachRole(owned, revoked, both)))) {
      this.assigned = kept;
      this.pendingRevocation = revoked;
      this.state = 'unrevoked';
      return;
    }
    const isActiveFree = (task: string): boolean => holders.activeIn(task) === undefined && !holders.isCopiedIn(task, this.processId);
    const isCopyFree = (task: string): boolean => holders.activeIn(task) !== this.processId && !holders.isCopiedIn(task, this.processId);
    const wanted = inEachRole(target, this.assigned, without);
    const given = {
      active: new Set([...wanted.active].filter(isActiveFree)),
      standby: new Set([...wanted.standby].filter(isCopyFree)),
    };
    this.assigned = inEachRole(kept, given, union);
    this.state = isEmpty(inEachRole(wanted, given, without)) ? 'stable' : 'unreleased';
    this.moveTo(targetEpoch);
  }

  /** Its place is kept for the next process with its instance id. */
  vacate(): void {
    this.epoch = -2;
    this.pendingRevocation = noTasks;
    this.state = 'stable';
    this.cancelRevocation();
  }

  /** The process that takes the place of this one. */
  successor(memberId: string, joined: StreamsGroupJoin): StreamsMemberRecord {
    const member = new StreamsMemberRecord(memberId, this.groupInstanceId, joined);
    member.assigned = this.assigned;
    member.givenIn = this.givenIn;
    return member;
  }

  private moveTo(epoch: number): void {
    if (epoch !== this.epoch) this.previousEpoch = this.epoch;
    this.epoch = epoch;
    this.givenIn = new Map([...this.assigned.active].map((task) => [task, this.givenIn.get(task) ?? epoch]));
  }
}
