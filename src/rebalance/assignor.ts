/**
 * An assignor decides which member runs which task, and which keeps copies of whose state. It is a pure, deterministic function of what the members said at their
 * joins: whichever of them leads, the answer is the same. It names the target only; `assignment-plan.ts` gets there in safe steps.
 */
import type { TaskOffsetSum } from './member-subscription.js';
import type { TaskId } from './task-id.js';

/**
 * Decides who runs which task. The option `assignor` takes one instead of the built-in ones; all instances of the app must have the same.
 *
 * It must be pure: the same input gives the same answer, whichever instance is asked. A running task that stays where it is should appear there again: everything
 * else moves it. The answer is checked; one that breaks a rule stops the app with MILL_ASSIGNOR_INVALID.
 */
export interface TaskAssignor {
  /** Stands in logs. */
  readonly name: string;
  /**
   * At least one member is given. The answer has, by member id, each task of the input as active under exactly one member. Copies (`standby`, `warmup`) are of tasks with
   * state, each at most once in a process, and never in the process that runs the task.
   */
  assign(input: AssignorInput): TargetAssignment;
}

/** What an assignor is asked: the group as its members told it at their joins. */
export interface AssignorInput {
  readonly tasks: readonly AssignorTask[];
  readonly members: readonly AssignorMember[];
  readonly settings: AssignorSettings;
}

/** A task to assign. */
export interface AssignorTask extends TaskId {
  /** Whether it has stores with a changelog: only such tasks have copies. */
  readonly stateful: boolean;
  /** Ends of its changelogs, summed; null when not known. With `offsetSum` of a member's state it tells how much that has to catch up. */
  readonly endOffsetSum: number | null;
}

/** A stream thread of the group. */
export interface AssignorMember {
  readonly memberId: string;
  /** The option `groupInstanceId`; null without. */
  readonly groupInstanceId: string | null;
  /** Members of one process share disk state. */
  readonly processId: string;
  /** The option `clientTags` of its instance. */
  readonly tags: Readonly<Record<string, string>>;
  /** Tasks that it runs now. */
  readonly ownedTasks: readonly TaskId[];
  /** Tasks of which it keeps a copy now. */
  readonly standbyTasks: readonly TaskId[];
  /** Those of `standbyTasks` that were within `acceptableRecoveryLag` of their changelogs when it joined, whatever has been written since. */
  readonly caughtUpTasks: readonly TaskId[];
  /** How far the state of tasks has got in its process: of running ones, copies, and what is left on disk. */
  readonly tasksWithState: readonly TaskOffsetSum[];
}

/** The options of the same names, of the instance that leads the group. */
export interface AssignorSettings {
  readonly numStandbyReplicas: number;
  readonly acceptableRecoveryLag: number;
  readonly maxWarmupReplicas: number;
  readonly rackAwareTags: readonly string[];
}

/** By member id; a member that is absent gets nothing. */
export type TargetAssignment = ReadonlyMap<string, MemberTarget>;

/** What a member is to run, and to copy. */
export interface MemberTarget {
  readonly active: readonly TaskId[];
  /** Copies that stay. */
  readonly standby?: readonly TaskId[];
  /** Copies of tasks that are to run here once they have caught up: then the member asks for a rebalance by itself. */
  readonly warmup?: readonly TaskId[];
}

export const defaultAssignorSettings: AssignorSettings = {
  numStandbyReplicas: 0,
  acceptableRecoveryLag: 10_000,
  maxWarmupReplicas: 2,
  rackAwareTags: [],
};
