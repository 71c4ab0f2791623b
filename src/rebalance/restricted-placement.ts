/**
 * Where tasks run that not every member has in its topology, as while a group changes over to another release: evenly over the members that have them.
 *
 * A task stays where it runs unless a member that may run it has two tasks less, so a placement without such a pair is never changed. Unlike the sticky placement it is not the best of
 * all: it lasts for the time of the change only.
 */
import type { AssignorMember, AssignorTask } from './assignor.js';
import type { StateBook } from './state-book.js';
import type { TaskId } from './task-id.js';

/** By member id; tasks and the book's members are in order. A task that nobody may run is left out. */
export function placeRestricted(tasks: readonly AssignorTask[], book: StateBook): ReadonlyMap<string, readonly TaskId[]> {
  return new RestrictedRound(tasks, book).solve();
}

class RestrictedRound {
  private readonly placed = new Map<string, AssignorTask[]>();

  constructor(
    private readonly tasks: readonly AssignorTask[],
    private readonly book: StateBook,
  ) {
    for (const { memberId } of book.members) this.placed.set(memberId, []);
  }

  solve(): ReadonlyMap<string, readonly TaskId[]> {
    const open: AssignorTask[] = [];
    for (const task of this.tasks) {
      const owner = this.book.owner(task);
      if (owner !== null && this.book.mayRun(task, owner.memberId)) this.on(owner).push(task);
      else open.push(task);
    }
    const choices = new Map(open.map((task) => [task, this.runners(task)]));
    const choice = (task: AssignorTask): number => choices.get(task)?.length ?? 0;
    for (const task of open.sort((a, b) => choice(a) - choice(b))) {
      const [best] = (choices.get(task) ?? []).sort(
        (a, b) => this.load(a) - this.load(b) || this.strangeness(task, a) - this.strangeness(task, b),
      );
      if (best !== undefined) this.on(best).push(task);
    }
    while (this.moveOne());
    return new Map(
      [...this.placed].map(([memberId, own]) => [memberId, own.map(({ subTopology, partition }) => ({ subTopology, partition }))]),
    );
  }

  /** From the fullest member that can give a task to one with two less: each step makes the loads more even, so there are finitely many. */
  private moveOne(): boolean {
    const fullest = [...this.book.members].sort((a, b) => this.load(b) - this.load(a));
    for (const from of fullest) {
      const moves = this.on(from).flatMap((task) =>
        this.runners(task)
          .filter((to) => this.load(from) - this.load(to) >= 2)
          .map((to) => ({ task, to, cost: this.moveCost(task, from) + this.strangeness(task, to) })),
      );
      const [first, ...others] = moves;
      if (first === undefined) continue;
      const { task, to } = others.reduce(
        (best, move) => ((this.load(move.to) - this.load(best.to) || move.cost - best.cost) < 0 ? move : best),
        first,
      );
      this.placed.set(
        from.memberId,
        this.on(from).filter((own) => own !== task),
      );
      this.on(to).push(task);
      return true;
    }
    return false;
  }

  private runners(task: AssignorTask): AssignorMember[] {
    return this.book.members.filter(({ memberId }) => this.book.mayRun(task, memberId));
  }

  /** A task that runs there stops. */
  private moveCost(task: AssignorTask, from: AssignorMember): number {
    return this.book.owner(task) === from ? runningCost : 0;
  }

  /** How far the member is from going on with the task. */
  private strangeness(task: AssignorTask, { processId }: AssignorMember): number {
    if (!task.stateful || (this.book.hasState(task, processId) && this.book.isCaughtUp(task, processId))) return 0;
    return this.book.hasState(task, processId) ? 1 : 2;
  }

  private load({ memberId }: AssignorMember): number {
    return this.placed.get(memberId)?.length ?? 0;
  }

  private on({ memberId }: AssignorMember): AssignorTask[] {
    return this.placed.get(memberId) ?? [];
  }
}

/** More than the largest of `strangeness`. */
const runningCost = 3;
