/**
 * An assignor decides which member runs which task. It is a pure, deterministic function of what the members said at their joins:
 * whichever of them leads, the answer is the same. It names the target only; `assignment-plan.ts` gets there in safe steps.
 */
import type { TaskState } from './member-subscription.js';
import type { TaskId } from './task-id.js';

export interface TaskAssignor {
  /** Stands in logs and in the metrics. */
  readonly name: string;
  /** Every task of the input appears under exactly one member; every member has an entry. At least one member is given. */
  assign(input: AssignorInput): TargetAssignment;
}

export interface AssignorInput {
  readonly tasks: readonly TaskId[];
  readonly members: readonly AssignorMember[];
}

export interface AssignorMember {
  readonly memberId: string;
  /** Members of one process share disk state. */
  readonly processId: string;
  readonly ownedTasks: readonly TaskId[];
  readonly tasksWithState: readonly TaskState[];
}

export type TargetAssignment = ReadonlyMap<string, readonly TaskId[]>;
