/**
 * Where the copies of tasks' state go: never into the process that runs the task and at most one into a process; as many as asked for, or as there are processes. Then, in
 * this order: into other racks and zones than the running task and each other (`rackAwareTags`); so that processes have equally many tasks, running and copied; where the
 * state is; where the copy is already.
 *
 * It is a minimum-cost flow, so a placement that keeps these rules is not changed:
 *
 *     source → task → (task, place) → process → sink
 *
 * A place is a combination of tag values. The last step gets dearer with each copy above an even share.
 */
import type { AssignorMember, AssignorTask } from './assignor.js';
import { MinCostFlow } from './min-cost-flow.js';
import type { StateBook } from './state-book.js';
import { formatTaskId, type TaskId } from './task-id.js';

export interface StandbyInput {
  readonly tasks: readonly AssignorTask[];
  /** By member id: what is meant to run where in the end, for the even share. */
  readonly target: ReadonlyMap<string, readonly TaskId[]>;
  /** By member id: what runs there for now. */
  readonly active: ReadonlyMap<string, readonly TaskId[]>;
  /** By member id: copies that are there in any case and count for no replica. */
  readonly warmup: ReadonlyMap<string, readonly TaskId[]>;
  readonly replicas: number;
  readonly rackAwareTags: readonly string[];
}

interface Process {
  readonly processId: string;
  readonly members: readonly AssignorMember[];
  readonly tags: Readonly<Record<string, string>>;
  readonly place: string;
}

/** Loads this far above the even share are all the same. */
const levels = 32;
/** Costs of `distance`: the largest. */
const farthest = 4;

export function placeStandbys(input: StandbyInput, book: StateBook): ReadonlyMap<string, readonly TaskId[]> {
  const placed = new Map<string, TaskId[]>(book.members.map(({ memberId }) => [memberId, []]));
  const tasks = input.tasks.filter(({ stateful }) => stateful);
  const processes = processesOf(book.members, input.rackAwareTags);
  const replicas = Math.min(input.replicas, processes.length - 1);
  if (tasks.length === 0 || replicas <= 0) return placed;
  for (const { task, process } of solve(tasks, processes, replicas, input, book)) {
    const load = ({ memberId }: AssignorMember): number => (input.target.get(memberId)?.length ?? 0) + (placed.get(memberId)?.length ?? 0);
    const takers = process.members.filter(({ memberId }) => book.mayRun(task, memberId));
    const taker = takers.reduce((best, member) => (load(member) < load(best) ? member : best));
    placed.get(taker.memberId)?.push({ subTopology: task.subTopology, partition: task.partition });
  }
  return placed;
}

function solve(
  tasks: readonly AssignorTask[],
  processes: readonly Process[],
  replicas: number,
  input: StandbyInput,
  book: StateBook,
): { readonly task: AssignorTask; readonly process: Process }[] {
  const units = tasks.length * replicas;
  const levelCost = farthest * units + 1;
  const rackCost = levelCost * levels * units + 1;
  const pairCost = rackCost * (input.rackAwareTags.length + 1);
  const places = [...new Set(processes.map(({ place }) => place))];
  const [running, taken] = [processOfTasks(processes, input.active), processesOfTasks(processes, input.warmup)];

  const [source, sink, firstProcess] = [0, 1, 2];
  const flow = new MinCostFlow(2 + processes.length + tasks.length * (1 + places.length));
  const bases = processes.map(({ members }) => members.reduce((sum, { memberId }) => sum + (input.target.get(memberId)?.length ?? 0), 0));
  const evenShare = Math.floor((bases.reduce((sum, base) => sum + base, 0) + units) / processes.length);
  bases.forEach((base, index) => {
    const free = Math.min(units, Math.max(0, evenShare - base));
    if (free > 0) flow.addEdge(firstProcess + index, sink, free, 0);
    for (let level = Math.max(1, base + 1 - evenShare); level <= levels; level++)
      flow.addEdge(firstProcess + index, sink, 1, level * levelCost);
    flow.addEdge(firstProcess + index, sink, units, levels * levelCost);
  });

  const choices: { readonly task: AssignorTask; readonly process: Process; readonly edge: number }[] = [];
  tasks.forEach((task, at) => {
    const taskNode = firstProcess + processes.length + at * (1 + places.length);
    const key = formatTaskId(task);
    const runner = running.get(key);
    flow.addEdge(source, taskNode, replicas, 0);
    places.forEach((place, index) => {
      const placeNode = taskNode + 1 + index;
      const there = processes.filter((process) => process.place === place);
      const shared = sharedTags(runner, there[0], input.rackAwareTags);
      flow.addEdge(taskNode, placeNode, 1, shared * rackCost);
      if (replicas > 1) flow.addEdge(taskNode, placeNode, replicas - 1, shared * rackCost + pairCost);
    });
    processes.forEach((process, index) => {
      if (process === runner || taken.get(key)?.has(process) === true) return;
      if (!process.members.some(({ memberId }) => book.mayRun(task, memberId))) return;
      const placeNode = taskNode + 1 + places.indexOf(process.place);
      choices.push({ task, process, edge: flow.addEdge(placeNode, firstProcess + index, 1, distance(task, process.processId, book)) });
    });
  });
  flow.run(source, sink);
  return choices.filter(({ edge }) => flow.flowOn(edge) === 1);
}

function distance(task: AssignorTask, processId: string, book: StateBook): number {
  const isHere = book.isStandby(task, processId);
  if (!book.hasState(task, processId)) return isHere ? farthest - 1 : farthest;
  if (book.isCaughtUp(task, processId)) return isHere ? 0 : 1;
  return isHere ? 2 : 3;
}

function sharedTags(a: Process | undefined, b: Process | undefined, tags: readonly string[]): number {
  if (a === undefined || b === undefined) return 0;
  return tags.filter((tag) => a.tags[tag] === b.tags[tag]).length;
}

function processesOf(members: readonly AssignorMember[], rackAwareTags: readonly string[]): Process[] {
  const byId = new Map<string, AssignorMember[]>();
  for (const member of members) byId.set(member.processId, [...(byId.get(member.processId) ?? []), member]);
  return [...byId].map(([processId, own]) => {
    const tags = own[0]?.tags ?? {};
    return { processId, members: own, tags, place: JSON.stringify(rackAwareTags.map((tag) => tags[tag] ?? null)) };
  });
}

function processOfTasks(processes: readonly Process[], tasks: ReadonlyMap<string, readonly TaskId[]>): Map<string, Process> {
  const found = new Map<string, Process>();
  for (const process of processes)
    for (const { memberId } of process.members) for (const task of tasks.get(memberId) ?? []) found.set(formatTaskId(task), process);
  return found;
}

function processesOfTasks(processes: readonly Process[], tasks: ReadonlyMap<string, readonly TaskId[]>): Map<string, Set<Process>> {
  const found = new Map<string, Set<Process>>();
  for (const process of processes) {
    for (const { memberId } of process.members) {
      for (const task of tasks.get(memberId) ?? [])
        found.set(formatTaskId(task), (found.get(formatTaskId(task)) ?? new Set()).add(process));
    }
  }
  return found;
}
