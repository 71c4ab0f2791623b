/**
 * Holds moves back until the new owner is ready (KIP-441): a task whose target has much to restore stays, or goes meanwhile, where its state is, and the target warms up
 * with a copy. So nobody waits for a long restore while somebody could run the task.
 *
 * When no member has caught up there is nothing to wait for: the target restores.
 */
import type { AssignorMember, AssignorTask } from './assignor.js';
import type { StateBook } from './state-book.js';
import { formatTaskId, type TaskId } from './task-id.js';

export interface HeldBack {
  /** By member id: who runs what for now. */
  readonly active: ReadonlyMap<string, readonly TaskId[]>;
  /** By member id: at most `maxWarmups` in all. */
  readonly warmup: ReadonlyMap<string, readonly TaskId[]>;
}

export function holdBackCold(
  tasks: readonly AssignorTask[],
  target: ReadonlyMap<string, readonly TaskId[]>,
  book: StateBook,
  maxWarmups: number,
): HeldBack {
  const active = new Map<string, TaskId[]>(book.members.map(({ memberId }) => [memberId, []]));
  const known = new Map(tasks.map((task) => [formatTaskId(task), task]));
  const cold: { readonly task: AssignorTask; readonly member: AssignorMember }[] = [];
  for (const member of book.members) {
    for (const id of target.get(member.memberId) ?? []) {
      const task = known.get(formatTaskId(id));
      if (task === undefined || book.isCaughtUp(task, member.processId)) active.get(member.memberId)?.push(id);
      else cold.push({ task, member });
    }
  }
  const waiting: typeof cold = [];
  for (const one of cold) {
    const holder = holderOf(one.task, book, active);
    active.get((holder ?? one.member).memberId)?.push({ subTopology: one.task.subTopology, partition: one.task.partition });
    if (holder !== null) waiting.push(one);
  }
  return { active, warmup: chooseWarmups(waiting, book, maxWarmups) };
}

/** Its owner, else of those that have caught up the one with the fewest tasks. */
function holderOf(task: AssignorTask, book: StateBook, active: ReadonlyMap<string, readonly TaskId[]>): AssignorMember | null {
  const owner = book.owner(task);
  if (owner !== null && book.mayRun(task, owner.memberId)) return owner;
  const load = (member: AssignorMember): number => active.get(member.memberId)?.length ?? 0;
  return book.members
    .filter(({ memberId, processId }) => book.isCaughtUp(task, processId) && book.mayRun(task, memberId))
    .reduce<AssignorMember | null>((best, member) => (best === null || load(member) < load(best) ? member : best), null);
}

/** Those under way first, then those with least to restore. */
function chooseWarmups(
  waiting: readonly { readonly task: AssignorTask; readonly member: AssignorMember }[],
  book: StateBook,
  maxWarmups: number,
): ReadonlyMap<string, readonly TaskId[]> {
  const rank = ({ task, member }: (typeof waiting)[number]): number => (book.isStandby(task, member.processId) ? 0 : 1);
  const lag = ({ task, member }: (typeof waiting)[number]): number => book.lag(task, member.processId);
  const chosen = [...waiting].sort((a, b) => rank(a) - rank(b) || lag(a) - lag(b)).slice(0, maxWarmups);
  const warmup = new Map<string, TaskId[]>();
  for (const { task, member } of chosen) {
    const { subTopology, partition } = task;
    warmup.set(member.memberId, [...(warmup.get(member.memberId) ?? []), { subTopology, partition }]);
  }
  return warmup;
}
