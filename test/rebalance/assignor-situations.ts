/** Groups as an assignor meets them, small and shrinkable. */
import fc from 'fast-check';
import type {
  AssignorInput,
  AssignorMember,
  AssignorSettings,
  AssignorTask,
  TargetAssignment,
  TaskAssignor,
} from '../../src/rebalance/assignor.js';
import { formatTaskId, type TaskId } from '../../src/rebalance/task-id.js';

export const settings = (given: Partial<AssignorSettings> = {}): AssignorSettings => ({
  numStandbyReplicas: 0,
  acceptableRecoveryLag: 100,
  maxWarmupReplicas: 2,
  rackAwareTags: [],
  ...given,
});

export const task = (id: string, endOffsetSum: number | null = 1000, stateful = true): AssignorTask => ({
  ...idOf(id),
  stateful,
  endOffsetSum,
});

export const tasks = (count: number, endOffsetSum: number | null = 1000): AssignorTask[] =>
  Array.from({ length: count }, (_, partition) => task(`0_${partition}`, endOffsetSum));

export interface GivenMember {
  readonly id: string;
  readonly process?: string;
  readonly instance?: string;
  readonly owns?: readonly string[];
  readonly copies?: readonly string[];
  readonly ready?: readonly string[];
  readonly state?: Readonly<Record<string, number>>;
  readonly tags?: Readonly<Record<string, string>>;
}

export const member = ({
  id,
  process = id,
  instance,
  owns = [],
  copies = [],
  ready = [],
  state = {},
  tags = {},
}: GivenMember): AssignorMember => ({
  memberId: id,
  groupInstanceId: instance ?? null,
  processId: process,
  tags,
  ownedTasks: owns.map(idOf),
  standbyTasks: copies.map(idOf),
  caughtUpTasks: ready.map(idOf),
  tasksWithState: Object.entries(state).map(([key, offsetSum]) => ({ task: idOf(key), offsetSum })),
});

export interface Shares {
  readonly active: readonly string[];
  readonly standby: readonly string[];
  readonly warmup: readonly string[];
}

export function shares(target: TargetAssignment): Record<string, Shares> {
  const ids = (some: readonly TaskId[] = []): string[] => some.map(formatTaskId).sort();
  return Object.fromEntries(
    [...target].map(([id, { active, standby, warmup }]) => [id, { active: ids(active), standby: ids(standby), warmup: ids(warmup) }]),
  );
}

/** What the members would say at their next join, if everything they were given is done: copies and running tasks have caught up. */
export function settled(input: AssignorInput, target: TargetAssignment): AssignorInput {
  const end = new Map(input.tasks.map((one) => [formatTaskId(one), one.endOffsetSum ?? 0]));
  const members = input.members.map((known): AssignorMember => {
    const { active = [], standby = [], warmup = [] } = target.get(known.memberId) ?? {};
    const copies = [...standby, ...warmup];
    const here = new Set([...active, ...copies].map(formatTaskId));
    const stale = known.tasksWithState.filter((one) => !here.has(formatTaskId(one.task)));
    const fresh = [...active, ...copies].map((one) => ({ task: one, offsetSum: end.get(formatTaskId(one)) ?? 0 }));
    return { ...known, ownedTasks: active, standbyTasks: copies, caughtUpTasks: copies, tasksWithState: [...stale, ...fresh] };
  });
  return { ...input, members };
}

/** Rounds until nothing changes any more; -1 when it still does after `limit`. */
export function roundsToSettle(assignor: TaskAssignor, first: AssignorInput, limit = 30): number {
  let input = first;
  let before = '';
  for (let round = 0; round < limit; round++) {
    const target = assignor.assign(input);
    const now = JSON.stringify(shares(target));
    if (now === before) return round;
    before = now;
    input = settled(input, target);
  }
  return -1;
}

/** Any group: several members in a process, tasks with and without state, leftovers on disks, copies, two racks. */
export const situations = fc
  .record({
    partitions: fc.array(fc.integer({ min: 1, max: 6 }), { minLength: 1, maxLength: 3 }),
    stateful: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    ends: fc.array(fc.option(fc.integer({ min: 0, max: 1000 })), { minLength: 18, maxLength: 18 }),
    processes: fc.array(fc.constantFrom('p', 'q', 'r', 's'), { minLength: 1, maxLength: 5 }),
    owners: fc.array(fc.integer({ min: -1, max: 4 }), { minLength: 18, maxLength: 18 }),
    states: fc.array(fc.tuple(fc.nat(4), fc.nat(17), fc.nat(1000), fc.boolean()), { maxLength: 14 }),
    numStandbyReplicas: fc.nat(2),
    maxWarmupReplicas: fc.integer({ min: 1, max: 3 }),
    rackAwareTags: fc.constantFrom<readonly string[]>([], ['zone']),
  })
  .map(({ partitions, stateful, ends, processes, owners, states, ...options }): AssignorInput => {
    const all = partitions
      .flatMap((count, subTopology) =>
        Array.from({ length: count }, (_, partition) => ({ subTopology, partition, stateful: stateful[subTopology] === true })),
      )
      .map((one, index): AssignorTask => ({ ...one, endOffsetSum: ends[index] ?? null }));
    const members = processes.map((processId, index): AssignorMember => {
      const found = states.flatMap(([owner, at, offsetSum, isCopy]) => {
        const one = all[at];
        return owner === index && one !== undefined && one.stateful ? [{ task: idOf(formatTaskId(one)), offsetSum, isCopy }] : [];
      });
      return {
        memberId: `m${index}`,
        groupInstanceId: null,
        processId,
        tags: { zone: processId < 'r' ? 'east' : 'west' },
        ownedTasks: all.filter((_, at) => owners[at] === index).map((one) => idOf(formatTaskId(one))),
        standbyTasks: found.filter(({ isCopy }) => isCopy).map((one) => one.task),
        caughtUpTasks: [],
        tasksWithState: found.map((one) => ({ task: one.task, offsetSum: one.offsetSum })),
      };
    });
    return { tasks: all, members, settings: settings(options) };
  });

function idOf(id: string): TaskId {
  const [subTopology = 0, partition = 0] = id.split('_').map(Number);
  return { subTopology, partition };
}
