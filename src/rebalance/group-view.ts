/**
 * Who runs what in the group, as of an assignment: the same view in every member of a generation. Queries find the instance of a key by it.
 */
import { formatTaskId, type TaskId } from './task-id.js';

/** One stream thread of the group. Task ids are `<sub-topology>_<partition>`. */
export interface GroupViewMember {
  /** Given by the broker. */
  readonly memberId: string;
  /** Identity of the state directory; members with the same one share a process. */
  readonly processId: string;
  /** Index of the thread in its process. */
  readonly thread: number;
  /** `host:port` of the option `applicationServer`; null when the instance named none. */
  readonly applicationServer: string | null;
  /** The option `clientTags` of the instance. */
  readonly tags: Readonly<Record<string, string>>;
  /** Tasks it runs, those being restored included. */
  readonly activeTasks: readonly string[];
  /** Tasks of which it keeps a copy of the state. */
  readonly standbyTasks: readonly string[];
}

/** A snapshot; never changed once given. */
export interface GroupView {
  /** Of the assignment; -1 before the first one. */
  readonly generation: number;
  /** In the order of their ids. Empty before the first assignment. */
  readonly members: readonly GroupViewMember[];
}

export const emptyGroupView: GroupView = Object.freeze({ generation: -1, members: Object.freeze([]) });

/** What the leader says of one member to all of them. */
export interface AssignedMember {
  readonly memberId: string;
  readonly processId: string;
  readonly thread: number;
  readonly applicationServer: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly activeTasks: readonly TaskId[];
  readonly standbyTasks: readonly TaskId[];
}

export function groupViewOf(group: { readonly members: readonly AssignedMember[] }, generation: number): GroupView {
  const members = group.members.map((member): GroupViewMember =>
    Object.freeze({
      ...member,
      tags: Object.freeze({ ...member.tags }),
      activeTasks: Object.freeze(member.activeTasks.map(formatTaskId)),
      standbyTasks: Object.freeze(member.standbyTasks.map(formatTaskId)),
    }),
  );
  return Object.freeze({ generation, members: Object.freeze(members) });
}
