/**
 * The tasks of a group whose members have several releases, who may run each of them, and under which number each member knows it. Pure and the same whoever leads.
 *
 * Invariant: of each part of the application, one version has each partition. Which one:
 * - releases that agree about a part: that one; it runs on every member that has it.
 * - versions that add to each other: a partition goes on with at least what it has run with before, so once it was on a member of the larger version it stays on such members. So partitions
 *   change over one by one, as they move. Only when no member has the larger version any more does the partition go back.
 * - versions that differ in other ways: the one that runs goes on, with those that only add to it, until no member has it. Then another one takes over, on all partitions.
 *
 * What has run before is what members say at their joins (`running-shapes.ts`), so neither order of restarts nor a change of leaders has a part go back and forth.
 */
import type { TaskSpec } from '../assignment-plan.js';
import type { AssignmentError } from '../member-assignment.js';
import { formatTaskId, type TaskId } from '../task-id.js';
import { acceptReleases, type ReleasedMember } from './accepted-releases.js';
import { applicationParts, type ApplicationPart } from './application-parts.js';
import { releaseFingerprint, shapeFingerprint, type SubTopologyShape } from './release.js';
import { lowestSteps, runningSteps, type PartHistory } from './part-choice.js';
import type { RunningShapes } from './running-shapes.js';

/** The topics as they are now. */
export interface TopicsNow {
  /** null: there is no such topic. */
  readonly partitions: (topic: string) => number | null;
  /** Topics that a pattern reads. */
  readonly matching: (pattern: string) => readonly string[];
}

export interface MixedTask extends TaskSpec {
  /** Ids of the members that have it in their topology, in a version that it may run with. */
  readonly runnableBy: ReadonlySet<string>;
}

export interface ReleaseMix {
  readonly refused: ReadonlyMap<string, AssignmentError>;
  /** By numbers that are common to the group. */
  readonly tasks: readonly MixedTask[];
  /** Tasks of which nothing may begin, since a member still claims tasks of another version; by common id. */
  readonly heldUp: ReadonlySet<string>;
  /** null: no task that runs now is that one of the member. */
  commonTask(memberId: string, own: TaskId): TaskId | null;
  /** null: the member does not have it. */
  ownTask(memberId: string, common: TaskId): TaskId | null;
  /** Whether the member would have state of the task. */
  keepsState(memberId: string, common: TaskId): boolean;
  /** What the group is to remember when these tasks are given out, by common numbers. */
  remember(active: ReadonlyMap<string, readonly TaskId[]>): RunningShapes;
}

/** A number of the group: one shape, or the steps of a part. */
interface CommonSubTopology {
  /** Shapes that may run as it, from the least to the most. */
  readonly steps: readonly SubTopologyShape[];
  readonly part: ApplicationPart;
}

export function mixReleases(members: readonly ReleasedMember[], topics: TopicsNow): ReleaseMix {
  const { accepted, incumbents, refused } = acceptReleases(members);
  const releases = [...new Map(accepted.map(({ release }) => [releaseFingerprint(release), release])).values()];
  const history: PartHistory = { accepted, incumbents };
  const parts = applicationParts(releases, topics.matching);
  const common = parts
    .flatMap((part) => runningSteps(part, history, topics.matching).map((steps): CommonSubTopology => ({ part, steps })))
    .sort(compareCommon(releases));
  const numbers = new Map(common.flatMap(({ steps }, number) => steps.map((shape) => [shapeFingerprint(shape), number])));
  const own = new Map(members.map(({ memberId, release }) => [memberId, new Map(release.shapes.map((shape) => [shape.id, shape]))]));
  const ownShapes = new Map(
    accepted.map(({ memberId, release }) => [
      memberId,
      new Map(
        release.shapes.flatMap((shape) => {
          const number = numbers.get(shapeFingerprint(shape));
          return number === undefined ? [] : [[number, shape] as const];
        }),
      ),
    ]),
  );
  const shapeAt = (memberId: string, number: number): SubTopologyShape | undefined => ownShapes.get(memberId)?.get(number);

  const lowest = common.map((sub) => lowestSteps(sub.steps, history));
  const tasks = common.flatMap(({ steps }, number) => {
    const runners = runnersOf(number);
    return tasksOf(steps, number, topics, (partition) => runners(lowest[number]?.(partition) ?? 0));
  });

  return {
    refused,
    tasks,
    heldUp: heldUpTasks(),
    commonTask,
    ownTask: (memberId, { subTopology, partition }) => {
      const shape = shapeAt(memberId, subTopology);
      return shape === undefined ? null : { subTopology: shape.id, partition };
    },
    keepsState: (memberId, { subTopology }) => shapeAt(memberId, subTopology)?.stores.some(({ changelog }) => changelog !== null) === true,
    remember,
  };

  function commonTask(memberId: string, { subTopology, partition }: TaskId): TaskId | null {
    const shape = own.get(memberId)?.get(subTopology);
    const number = shape === undefined ? undefined : numbers.get(shapeFingerprint(shape));
    return number === undefined ? null : { subTopology: number, partition };
  }

  /** One set for all partitions that may run on the same members: who compares them compares sets. */
  function runnersOf(number: number): (lowestStep: number) => ReadonlySet<string> {
    const known = new Map<number, ReadonlySet<string>>();
    return (lowestStep) => {
      const fit = new Set(common[number]?.steps.slice(lowestStep));
      const isFit = (memberId: string): boolean => {
        const shape = shapeAt(memberId, number);
        return shape !== undefined && [...fit].some((step) => shapeFingerprint(step) === shapeFingerprint(shape));
      };
      const runners = known.get(lowestStep) ?? new Set(accepted.map(({ memberId }) => memberId).filter(isFit));
      known.set(lowestStep, runners);
      return runners;
    };
  }

  function heldUpTasks(): ReadonlySet<string> {
    const heldUp = new Set<string>();
    for (const { memberId, ownedTasks } of members) {
      for (const task of ownedTasks) {
        const shape = own.get(memberId)?.get(task.subTopology);
        if (shape === undefined || commonTask(memberId, task) !== null) continue;
        for (const { task: other } of tasks) if (common[other.subTopology]?.part.meets(shape) === true) heldUp.add(formatTaskId(other));
      }
    }
    return heldUp;
  }

  function remember(active: ReadonlyMap<string, readonly TaskId[]>): RunningShapes {
    const given = new Map([...active].flatMap(([memberId, list]) => list.map((task) => [formatTaskId(task), memberId])));
    const running = new Map<string, Set<number>>();
    for (const { task } of tasks) {
      const sub = common[task.subTopology];
      if (sub === undefined || sub.part.versions.length < 2) continue;
      const shape = shapeAt(given.get(formatTaskId(task)) ?? '', task.subTopology);
      const step = Math.max(lowest[task.subTopology]?.(task.partition) ?? 0, shape === undefined ? 0 : indexOf(sub.steps, shape));
      const print = shapeFingerprint(sub.steps[step] ?? (sub.steps[0] as SubTopologyShape));
      running.set(print, (running.get(print) ?? new Set<number>()).add(task.partition));
    }
    return running;
  }
}

function tasksOf(
  steps: readonly SubTopologyShape[],
  subTopology: number,
  { partitions, matching }: TopicsNow,
  runners: (partition: number) => ReadonlySet<string>,
): MixedTask[] {
  const [first, last] = [steps[0], steps[steps.length - 1]];
  if (first === undefined || last === undefined) return [];
  const inputs = [...new Set([...first.topics, ...first.patterns.flatMap(matching)])].map((topic) => ({
    topic,
    count: partitions(topic) ?? 0,
  }));
  const changelogs = last.stores.flatMap(({ changelog }) => changelog ?? []);
  return Array.from({ length: Math.max(0, ...inputs.map(({ count }) => count)) }, (_, partition) => ({
    task: { subTopology, partition },
    inputs: inputs.filter(({ count }) => partition < count).map(({ topic }) => ({ topic, partition })),
    changelogs: changelogs.map((topic) => ({ topic, partition })),
    runnableBy: runners(partition),
  }));
}

function indexOf(steps: readonly SubTopologyShape[], shape: SubTopologyShape): number {
  return steps.findIndex((step) => shapeFingerprint(step) === shapeFingerprint(shape));
}

/** By the lowest number that a release has for it: where the releases agree about numbers, so does the group. */
function compareCommon(releases: readonly { readonly shapes: readonly SubTopologyShape[] }[]) {
  const numbers = new Map<string, number>();
  for (const { shapes } of releases)
    for (const shape of shapes) numbers.set(shapeFingerprint(shape), Math.min(shape.id, numbers.get(shapeFingerprint(shape)) ?? Infinity));
  const print = ({ steps }: CommonSubTopology): string => shapeFingerprint(steps[0] as SubTopologyShape);
  const lowest = ({ steps }: CommonSubTopology): number =>
    Math.min(...steps.map((step) => numbers.get(shapeFingerprint(step)) ?? Infinity));
  return (a: CommonSubTopology, b: CommonSubTopology): number => lowest(a) - lowest(b) || (print(a) < print(b) ? -1 : 1);
}
