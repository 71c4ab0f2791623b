/** Who runs each task now, and how far its state has got in each process: what placements are decided by. */
import type { AssignorMember, AssignorTask } from './assignor.js';
import { formatTaskId, type TaskId } from './task-id.js';

export class StateBook {
  private readonly owners = new Map<string, AssignorMember>();
  private readonly standbys = new Set<string>();
  private readonly ready = new Set<string>();
  /** task → process → changelog offsets reached; a running task counts as wholly restored. */
  private readonly states = new Map<string, Map<string, number>>();

  constructor(
    readonly members: readonly AssignorMember[],
    private readonly acceptableLag: number,
    /** Members that have the task in their topology: all of them, but while a group changes over to another release. */
    readonly mayRun: (task: TaskId, memberId: string) => boolean = () => true,
  ) {
    for (const member of members) {
      const { processId } = member;
      for (const { task, offsetSum } of member.tasksWithState) this.addState(formatTaskId(task), processId, offsetSum);
      for (const task of member.standbyTasks) this.standbys.add(`${formatTaskId(task)}@${processId}`);
      for (const task of member.caughtUpTasks) this.ready.add(`${formatTaskId(task)}@${processId}`);
      for (const task of member.ownedTasks) {
        const key = formatTaskId(task);
        if (this.owners.has(key)) continue;
        this.owners.set(key, member);
        this.addState(key, processId, Infinity);
      }
    }
  }

  owner(task: TaskId): AssignorMember | null {
    return this.owners.get(formatTaskId(task)) ?? null;
  }

  /** Whether the process keeps a copy of the task now. */
  isStandby(task: TaskId, processId: string): boolean {
    return this.standbys.has(`${formatTaskId(task)}@${processId}`);
  }

  hasState(task: TaskId, processId: string): boolean {
    return this.states.get(formatTaskId(task))?.has(processId) === true;
  }

  isFurthest(task: TaskId, processId: string): boolean {
    const byProcess = this.states.get(formatTaskId(task));
    return byProcess !== undefined && byProcess.get(processId) === Math.max(...byProcess.values());
  }

  /** Records to restore before the task could run in the process. */
  lag(task: AssignorTask, processId: string): number {
    if (!task.stateful) return 0;
    const reached = this.states.get(formatTaskId(task))?.get(processId) ?? 0;
    return task.endOffsetSum === null ? 0 : Math.max(0, task.endOffsetSum - reached);
  }

  isCaughtUp(task: AssignorTask, processId: string): boolean {
    return this.ready.has(`${formatTaskId(task)}@${processId}`) || this.lag(task, processId) <= this.acceptableLag;
  }

  private addState(key: string, processId: string, offsetSum: number): void {
    let byProcess = this.states.get(key);
    if (byProcess === undefined) this.states.set(key, (byProcess = new Map<string, number>()));
    byProcess.set(processId, Math.max(offsetSum, byProcess.get(processId) ?? -1));
  }
}
