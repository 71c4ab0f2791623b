/**
 * The default assignor: balance first, then where the state is, then as few moves as possible.
 *
 * Always kept: members differ by at most one task, in total and within each sub-topology. Such a split exists for any counts, and among
 * all of them the one is taken that (1) puts the fewest tasks on a process without their state, (2) moves the fewest running
 * tasks, (3) prefers, of several processes with state, the one restored furthest. That is a minimum-cost flow:
 *
 *     source → task → (member, sub-topology) → member → sink
 *
 * with lower and upper bounds on the last two steps. Because a running task costs nothing where it runs, a valid assignment is never
 * changed, and a second round after a change only hands out what the first one took away.
 */
import { MillraceError } from '../errors.js';
import type { AssignorInput, AssignorMember, TargetAssignment, TaskAssignor } from './assignor.js';
import { MinCostFlow } from './min-cost-flow.js';
import { compareTaskIds, formatTaskId, type TaskId } from './task-id.js';

export const stickyAssignor: TaskAssignor = {
  name: 'sticky',
  assign({ tasks, members }: AssignorInput): TargetAssignment {
    const sortedTasks = [...tasks].sort(compareTaskIds);
    const sortedMembers = [...members].sort(compareMembers);
    return new StickyRound(sortedTasks, sortedMembers).solve();
  },
};

function compareMembers(a: AssignorMember, b: AssignorMember): number {
  if (a.processId !== b.processId) return a.processId < b.processId ? -1 : 1;
  return a.memberId < b.memberId ? -1 : a.memberId > b.memberId ? 1 : 0;
}

interface Choice {
  readonly member: number;
  readonly edge: number;
}

class StickyRound {
  private readonly subTopologies: readonly (readonly TaskId[])[];
  private readonly flow: MinCostFlow;
  private readonly preferences: Preferences;
  private readonly moveCost: number;
  private readonly noStateCost: number;
  /** Larger than the cost of any assignment: fills lower bounds before anything else counts. */
  private readonly boundReward: number;

  constructor(
    private readonly tasks: readonly TaskId[],
    private readonly members: readonly AssignorMember[],
  ) {
    this.subTopologies = groupBySubTopology(tasks);
    this.preferences = new Preferences(members);
    this.moveCost = tasks.length + 1;
    this.noStateCost = this.moveCost * this.moveCost;
    this.boundReward = this.noStateCost * this.moveCost;
    this.flow = new MinCostFlow(2 + tasks.length + this.subTopologies.length * (1 + members.length) + members.length);
  }

  solve(): TargetAssignment {
    const source = 0;
    const sink = 1;
    const firstMember = 2;
    const target = this.members.map((): TaskId[] => []);
    const choices: { readonly task: TaskId; readonly preferred: readonly Choice[]; readonly subTopology: number }[] = [];
    const pools: (readonly Choice[])[] = [];

    this.members.forEach((_, member) => this.bounded(firstMember + member, sink, this.tasks.length));
    let node = firstMember + this.members.length;
    this.subTopologies.forEach((tasks, subTopology) => {
      const pool = node;
      const cell = (member: number): number => pool + 1 + member;
      pools.push(this.members.map((_, member) => ({ member, edge: this.flow.addEdge(pool, cell(member), tasks.length, 0) })));
      this.members.forEach((_, member) => this.bounded(cell(member), firstMember + member, tasks.length));
      node = pool + 1 + this.members.length;
      for (const task of tasks) {
        const taskNode = node++;
        this.flow.addEdge(source, taskNode, 1, 0);
        choices.push({ task, subTopology, preferred: this.preferEdges(task, taskNode, cell) });
        this.flow.addEdge(taskNode, pool, 1, this.noStateCost + (this.preferences.owner(task) === null ? 0 : this.moveCost));
      }
    });

    const placed = this.flow.run(source, sink);
    if (placed !== this.tasks.length)
      throw new MillraceError('MILL_INVARIANT', `The sticky assignor placed ${placed} of ${this.tasks.length} tasks.`);

    const shares = pools.map((pool) => pool.flatMap(({ member, edge }) => new Array<number>(this.flow.flowOn(edge)).fill(member)));
    for (const { task, preferred, subTopology } of choices) {
      const chosen = preferred.find(({ edge }) => this.flow.flowOn(edge) === 1)?.member ?? shares[subTopology]?.shift();
      if (chosen !== undefined) target[chosen]?.push(task);
    }
    return new Map(this.members.map((member, index) => [member.memberId, target[index] ?? []]));
  }

  /** An edge that carries each member's even share of `total`: the rounded-down part first, the odd one after. */
  private bounded(from: number, to: number, total: number): void {
    const least = Math.floor(total / this.members.length);
    this.flow.addEdge(from, to, least, -this.boundReward);
    if (total % this.members.length !== 0) this.flow.addEdge(from, to, 1, 0);
  }

  private preferEdges(task: TaskId, taskNode: number, cell: (member: number) => number): readonly Choice[] {
    const { preferences, flow } = this;
    const owner = preferences.owner(task);
    const edges: Choice[] = [];
    if (owner !== null) edges.push({ member: owner, edge: flow.addEdge(taskNode, cell(owner), 1, 0) });
    for (const { member, furthest } of preferences.withState(task)) {
      if (member === owner) continue;
      const cost = (owner === null ? 0 : this.moveCost) + (furthest ? 0 : 1);
      edges.push({ member, edge: flow.addEdge(taskNode, cell(member), 1, cost) });
    }
    return edges;
  }
}

/** Who runs a task now, and whose disk has its state. */
class Preferences {
  private readonly owners = new Map<string, number>();
  /** task → process → changelog records on its disk; a running task counts as wholly restored. */
  private readonly states = new Map<string, Map<string, number>>();

  constructor(private readonly members: readonly AssignorMember[]) {
    members.forEach((member, index) => {
      for (const { task, offsetSum } of member.tasksWithState) this.addState(formatTaskId(task), member.processId, offsetSum);
      for (const task of member.ownedTasks) {
        const key = formatTaskId(task);
        if (this.owners.has(key)) continue;
        this.owners.set(key, index);
        this.addState(key, member.processId, Infinity);
      }
    });
  }

  owner(task: TaskId): number | null {
    return this.owners.get(formatTaskId(task)) ?? null;
  }

  withState(task: TaskId): readonly { readonly member: number; readonly furthest: boolean }[] {
    const byProcess = this.states.get(formatTaskId(task));
    if (byProcess === undefined) return [];
    const furthest = Math.max(...byProcess.values());
    return this.members.flatMap(({ processId }, member) => {
      const offsetSum = byProcess.get(processId);
      return offsetSum === undefined ? [] : [{ member, furthest: offsetSum === furthest }];
    });
  }

  private addState(key: string, processId: string, offsetSum: number): void {
    let byProcess = this.states.get(key);
    if (byProcess === undefined) this.states.set(key, (byProcess = new Map<string, number>()));
    byProcess.set(processId, Math.max(offsetSum, byProcess.get(processId) ?? -1));
  }
}

function groupBySubTopology(sorted: readonly TaskId[]): readonly (readonly TaskId[])[] {
  const groups = new Map<number, TaskId[]>();
  for (const task of sorted) {
    const group = groups.get(task.subTopology);
    if (group === undefined) groups.set(task.subTopology, [task]);
    else group.push(task);
  }
  return [...groups.values()];
}
