import type { MemberAssignment } from '../rebalance/member-assignment.js';
import { formatTaskId, type TaskId } from '../rebalance/task-id.js';
import { refusal } from './group-leader.js';
import type { StreamThread } from './stream-thread.js';

export interface GroupCallsParts {
  readonly thread: Pick<StreamThread, 'assigned' | 'revoke' | 'lost'>;
  /** Reads topics and their partitions as they are now, however long it takes until they can be read. */
  readonly refreshPlans: () => Promise<unknown>;
  /** Tasks that go on hear of what has changed, before others begin. */
  readonly beforeTakingOver: () => void;
  readonly takenOver: (assignment: MemberAssignment) => void;
  /** The task has been given up, after its last commit. */
  readonly left: (taskId: string) => void;
}

/**
 * What the group member tells a stream thread. Assignments are taken over with topics as they are then, which may take a while; the group may have taken the tasks away meanwhile, and others run
 * them by then: such an assignment is void.
 */
export class GroupCalls {
  /** Counts how often the group took all tasks away without asking. */
  private losses = 0;

  constructor(private readonly parts: GroupCallsParts) {}

  /** @throws what the leader refused this member with */
  readonly onAssigned = async (assignment: MemberAssignment): Promise<void> => {
    if (assignment.error !== null) throw refusal(assignment.error);
    const { losses, parts } = this;
    await parts.refreshPlans();
    if (losses !== this.losses) return;
    parts.beforeTakingOver();
    parts.thread.assigned(assignment);
    parts.takenOver(assignment);
  };

  readonly onRevoked = async (tasks: readonly TaskId[]): Promise<void> => {
    await this.parts.thread.revoke(tasks);
    for (const id of tasks) this.parts.left(formatTaskId(id));
  };

  readonly onLost = (tasks: readonly TaskId[]): void => {
    this.losses++;
    this.parts.thread.lost(tasks);
  };
}
