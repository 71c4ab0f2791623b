/**
 * Where the sticky assignor wants tasks to run: balance first, then where the state is, then as few moves as possible.
 *
 * Always kept: members differ by at most one task, in total and within each sub-topology, and a process with several threads has as many tasks as its share of the
 * threads, rounded up or down. Such a split exists for any counts (dealing fractions of tasks evenly is one, and a flow's bounds allow whole numbers wherever they allow
 * fractions), and among all of them the one is taken that (1) puts the fewest tasks on a process without their state, (2) moves the fewest running
 * tasks, (3) prefers, of several processes with state, those that have caught up, and of these the one restored furthest. That is a minimum-cost flow:
 *
 *     source → task → (member, sub-topology) → member → process → sink
 *
 * with lower and upper bounds on the last three steps; where every process has one member the process is left out. Because a running task costs nothing where it runs, a valid assignment is never
 * changed, and a second round after a change only hands out what the first one took away.
 */
import { MillraceError } from '../errors.js';
import type { AssignorMember, AssignorTask } from './assignor.js';
import { MinCostFlow } from './min-cost-flow.js';
import type { StateBook } from './state-book.js';
import type { TaskId } from './task-id.js';

/** By member id; tasks and the book's members are in order. */
export function placeSticky(tasks: readonly AssignorTask[], book: StateBook): ReadonlyMap<string, readonly TaskId[]> {
  return new StickyRound(tasks, book).solve();
}

interface Choice {
  readonly member: number;
  readonly edge: number;
}

class StickyRound {
  private readonly members: readonly AssignorMember[];
  private readonly subTopologies: readonly (readonly AssignorTask[])[];
  /** How many members each has; empty where all have one. */
  private readonly processes: ReadonlyMap<string, number>;
  private readonly flow: MinCostFlow;
  private readonly moveCost: number;
  private readonly noStateCost: number;
  /** Larger than the cost of any assignment: fills lower bounds before anything else counts. */
  private readonly boundReward: number;

  constructor(
    private readonly tasks: readonly AssignorTask[],
    private readonly book: StateBook,
  ) {
    const { members } = book;
    this.members = members;
    this.subTopologies = groupBySubTopology(tasks);
    this.moveCost = behindCost * tasks.length + 1;
    this.noStateCost = this.moveCost * this.moveCost;
    this.boundReward = this.noStateCost * this.moveCost;
    this.processes = processesOf(members);
    const nodes = 2 + tasks.length + this.subTopologies.length * (1 + members.length) + members.length + this.processes.size;
    this.flow = new MinCostFlow(nodes);
  }

  solve(): ReadonlyMap<string, readonly TaskId[]> {
    const source = 0;
    const sink = 1;
    const firstMember = 2;
    const target = this.members.map((): TaskId[] => []);
    const choices: { readonly task: AssignorTask; readonly preferred: readonly Choice[]; readonly subTopology: number }[] = [];
    const pools: (readonly Choice[])[] = [];

    const firstProcess = firstMember + this.members.length;
    const processes = [...this.processes.keys()];
    const processOf = ({ processId }: AssignorMember): number =>
      this.processes.size === 0 ? sink : firstProcess + processes.indexOf(processId);
    this.members.forEach((one, member) => this.bounded(firstMember + member, processOf(one), this.tasks.length, 1));
    [...this.processes.values()].forEach((count, process) => this.bounded(firstProcess + process, sink, this.tasks.length, count));
    let node = firstProcess + this.processes.size;
    this.subTopologies.forEach((tasks, subTopology) => {
      const pool = node;
      const cell = (member: number): number => pool + 1 + member;
      pools.push(this.members.map((_, member) => ({ member, edge: this.flow.addEdge(pool, cell(member), tasks.length, 0) })));
      this.members.forEach((_, member) => this.bounded(cell(member), firstMember + member, tasks.length, 1));
      node = pool + 1 + this.members.length;
      for (const task of tasks) {
        const taskNode = node++;
        this.flow.addEdge(source, taskNode, 1, 0);
        choices.push({ task, subTopology, preferred: this.preferEdges(task, taskNode, cell) });
        this.flow.addEdge(taskNode, pool, 1, (task.stateful ? this.noStateCost : 0) + (this.book.owner(task) === null ? 0 : this.moveCost));
      }
    });

    const placed = this.flow.run(source, sink);
    if (placed !== this.tasks.length)
      throw new MillraceError('MILL_INVARIANT', `The sticky assignor placed ${placed} of ${this.tasks.length} tasks.`);

    const shares = pools.map((pool) => pool.flatMap(({ member, edge }) => new Array<number>(this.flow.flowOn(edge)).fill(member)));
    for (const { task, preferred, subTopology } of choices) {
      const chosen = preferred.find(({ edge }) => this.flow.flowOn(edge) === 1)?.member ?? shares[subTopology]?.shift();
      if (chosen !== undefined) target[chosen]?.push({ subTopology: task.subTopology, partition: task.partition });
    }
    return new Map(this.members.map((member, index) => [member.memberId, target[index] ?? []]));
  }

  /** An edge that carries the even share of `total` that so many members have: the rounded-down part first, the odd one after. */
  private bounded(from: number, to: number, total: number, members: number): void {
    const share = total * members;
    this.flow.addEdge(from, to, Math.floor(share / this.members.length), -this.boundReward);
    if (share % this.members.length !== 0) this.flow.addEdge(from, to, 1, 0);
  }

  private preferEdges(task: AssignorTask, taskNode: number, cell: (member: number) => number): readonly Choice[] {
    const { book, flow } = this;
    const owner = book.owner(task);
    const edges: Choice[] = [];
    this.members.forEach((candidate, member) => {
      if (candidate === owner) edges.push({ member, edge: flow.addEdge(taskNode, cell(member), 1, 0) });
      else if (task.stateful && book.hasState(task, candidate.processId)) {
        const cost = (owner === null ? 0 : this.moveCost) + lagCost(task, candidate.processId, book);
        edges.push({ member, edge: flow.addEdge(taskNode, cell(member), 1, cost) });
      }
    });
    return edges;
  }
}

/** The largest of `lagCost`. */
const behindCost = 2;

function lagCost(task: AssignorTask, processId: string, book: StateBook): number {
  if (!book.isCaughtUp(task, processId)) return behindCost;
  return book.isFurthest(task, processId) ? 0 : 1;
}

function processesOf(members: readonly AssignorMember[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { processId } of members) counts.set(processId, (counts.get(processId) ?? 0) + 1);
  return counts.size === members.length ? new Map() : counts;
}

function groupBySubTopology(sorted: readonly AssignorTask[]): readonly (readonly AssignorTask[])[] {
  const groups = new Map<number, AssignorTask[]>();
  for (const task of sorted) {
    const group = groups.get(task.subTopology);
    if (group === undefined) groups.set(task.subTopology, [task]);
    else group.push(task);
  }
  return [...groups.values()];
}
