/** A streams group as its description shows it, in the terms of the rest of the library. */
import type { StreamsAssignment, StreamsGroupDescription, StreamsTasks } from '../kafka/streams-groups.js';
import type { AssignedMember } from './group-view.js';
import type { OwnPlace, StreamsTaskSets } from './streams-group-protocol.js';
import { compareTaskIds, formatTaskId, type TaskId } from './task-id.js';

/** Names process and thread, so that who is in the group says whose transactions are alive, and a restarted process has its place again. */
export function streamsMemberId(processId: string, thread: number): string {
  return `${processId}-${thread}`;
}

export function taskSetsOf({ active, standby, warmup }: StreamsAssignment): StreamsTaskSets {
  return { active: tasksOf(active), standby: tasksOf(standby), warmup: tasksOf(warmup) };
}

export function assignmentOf({ active, standby, warmup }: StreamsTaskSets): StreamsAssignment {
  return { active: bySubTopology(active), standby: bySubTopology(standby), warmup: bySubTopology(warmup) };
}

/** Where this member stands; null when the group does not have it. */
export function ownPlace(group: StreamsGroupDescription | null, memberId: string): OwnPlace | null {
  const own = group?.members.find((member) => member.memberId === memberId);
  if (own === undefined) return null;
  const assignment = taskSetsOf(own.assignment);
  return { memberEpoch: own.memberEpoch, assignment, isSettled: isSame(assignment, taskSetsOf(own.target)) };
}

/** Everybody has what they are to have. */
export function isSettled(group: StreamsGroupDescription | null): boolean {
  return group?.members.every(({ assignment, target }) => isSame(taskSetsOf(assignment), taskSetsOf(target))) ?? false;
}

export function membersOf(group: StreamsGroupDescription): AssignedMember[] {
  const members = group.members.map(({ memberId, processId, endpoint, tags, assignment }): AssignedMember => {
    const { active, standby, warmup } = taskSetsOf(assignment);
    const thread = Number(memberId.slice(processId.length + 1));
    return {
      memberId,
      processId,
      thread: Number.isInteger(thread) ? thread : 0,
      applicationServer: endpoint === null ? null : `${endpoint.host}:${endpoint.port}`,
      tags,
      activeTasks: active,
      standbyTasks: [...standby, ...warmup].sort(compareTaskIds),
    };
  });
  return members.sort((a, b) => (a.memberId < b.memberId ? -1 : 1));
}

function tasksOf(tasks: readonly StreamsTasks[]): TaskId[] {
  return tasks
    .flatMap(({ subTopology, partitions }) => partitions.map((partition) => ({ subTopology: Number(subTopology), partition })))
    .sort(compareTaskIds);
}

function bySubTopology(tasks: readonly TaskId[]): StreamsTasks[] {
  const partitions = new Map<number, number[]>();
  for (const { subTopology, partition } of tasks) {
    const list = partitions.get(subTopology);
    if (list === undefined) partitions.set(subTopology, [partition]);
    else list.push(partition);
  }
  return [...partitions].map(([subTopology, list]) => ({ subTopology: String(subTopology), partitions: list }));
}

function isSame(one: StreamsTaskSets, other: StreamsTaskSets): boolean {
  const text = ({ active, standby, warmup }: StreamsTaskSets): string =>
    [active, standby, warmup].map((tasks) => tasks.map(formatTaskId).join()).join(';');
  return text(one) === text(other);
}
