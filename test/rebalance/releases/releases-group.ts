/** A group whose members have releases of their own, a round at a time: all join with what they run, one plans, all take over. Checks at every round that nothing is done twice. */
import { expect } from '@jest/globals';
import type { JoinedMember } from '../../../src/rebalance/assignment-plan.js';
import { stickyAssignor } from '../../../src/rebalance/built-in-assignors.js';
import { defaultAssignorSettings, type TaskAssignor } from '../../../src/rebalance/assignor.js';
import { decodeMemberAssignment, encodeMemberAssignment, type MemberAssignment } from '../../../src/rebalance/member-assignment.js';
import { decodeMemberSubscription, encodeMemberSubscription, type LastRun } from '../../../src/rebalance/member-subscription.js';
import { planMixed, releasedMember } from '../../../src/rebalance/releases/mixed-plan.js';
import { shapeFingerprint, type Release, type SubTopologyShape } from '../../../src/rebalance/releases/release.js';
import { mixReleases } from '../../../src/rebalance/releases/release-mix.js';
import { formatTaskId, type TaskId } from '../../../src/rebalance/task-id.js';
import { topicPartitions } from './some-releases.js';

export interface GroupMemberState {
  readonly id: string;
  readonly release: Release;
  owned: readonly TaskId[];
  generation: number;
  lastRun: LastRun | null;
  assignment: MemberAssignment | null;
}

export class ReleasesGroup {
  readonly members: GroupMemberState[] = [];
  private generation = 0;

  constructor(
    private readonly assignor: TaskAssignor = stickyAssignor,
    private readonly replicas = 0,
  ) {}

  join(id: string, release: Release): GroupMemberState {
    const member: GroupMemberState = { id, release, owned: [], generation: -1, lastRun: null, assignment: null };
    this.members.push(member);
    return member;
  }

  /** It committed what it ran, or was fenced. */
  leave(id: string): void {
    this.members.splice(
      this.members.findIndex((member) => member.id === id),
      1,
    );
  }

  member(id: string): GroupMemberState {
    return this.members.find((member) => member.id === id)!;
  }

  /** Rounds until nobody has anything to give up or to take; they must be few. */
  settle(): void {
    for (let round = 0; round < 8; round++) if (!this.round()) return;
    throw new Error('the group does not come to rest');
  }

  /** False when it changed nothing. */
  round(): boolean {
    if (this.members.length === 0) return false;
    this.generation++;
    const assignments = this.plan();
    const refused = this.members.filter(({ id }) => assignments.get(id)?.error !== null);
    const before = new Map(this.members.map((member) => [member.id, this.workOf(member, member.owned)]));
    for (const member of this.members) {
      const given = this.workOf(member, assignments.get(member.id)!.activeTasks);
      for (const [id, work] of before) if (id !== member.id) expect(common(given.filter(isNew(before.get(member.id)!)), work)).toEqual([]);
      for (const other of this.members)
        if (other !== member) expect(common(given, this.workOf(other, assignments.get(other.id)!.activeTasks))).toEqual([]);
    }
    let changed = false;
    for (const member of this.members) {
      const assignment = assignments.get(member.id)!;
      changed ||= text(member.owned) !== text(assignment.activeTasks) || !assignment.settled;
      Object.assign(member, { owned: assignment.activeTasks, generation: this.generation, assignment });
      if (assignment.error === null) member.lastRun = { generation: this.generation, running: assignment.running };
    }
    for (const { id } of refused) this.leave(id);
    return changed || refused.length > 0;
  }

  /** Who reads each partition: `orders-0` → ids. */
  readers(): ReadonlyMap<string, readonly string[]> {
    const readers = new Map<string, string[]>();
    for (const member of this.members)
      for (const work of this.workOf(member, member.owned))
        if (work.startsWith('topic ')) readers.set(work.slice(6), [...(readers.get(work.slice(6)) ?? []), member.id]);
    return readers;
  }

  /** The shape that reads each partition. */
  shapes(): ReadonlyMap<string, SubTopologyShape> {
    const shapes = new Map<string, SubTopologyShape>();
    for (const member of this.members)
      for (const task of member.owned)
        for (const work of this.workOf(member, [task]))
          if (work.startsWith('topic ')) shapes.set(work.slice(6), shapeOf(member.release, task)!);
    return shapes;
  }

  has(shape: SubTopologyShape): boolean {
    return this.members.some(({ release }) => release.shapes.some((own) => shapeFingerprint(own) === shapeFingerprint(shape)));
  }

  private plan(): ReadonlyMap<string, MemberAssignment> {
    const joined = this.members.map(({ id, release, owned, generation, lastRun }): JoinedMember => ({
      memberId: id,
      groupInstanceId: null,
      subscription: decodeMemberSubscription(
        encodeMemberSubscription(
          {
            version: 3,
            topics: [],
            processId: id,
            thread: 0,
            transactionalId: null,
            topologyFingerprint: '',
            release,
            lastRun,
            tasksWithState: owned.map((task) => ({ task, offsetSum: 1 })),
            standbyTasks: [],
            caughtUpTasks: [],
            applicationServer: null,
            tags: {},
            ownedTasks: owned,
            generation: owned.length === 0 ? -1 : generation,
            nonce: '',
            isLeaving: false,
          },
          [],
        ),
      ),
    }));
    const mix = mixReleases(
      joined.flatMap((member) => releasedMember(member, member.subscription!.release)),
      { partitions: (topic) => topicPartitions[topic] ?? null, matching: () => [] },
    );
    const settings = { ...defaultAssignorSettings, numStandbyReplicas: this.replicas };
    const { assignments } = planMixed(mix, new Map(), { members: joined, assignor: this.assignor, settings });
    return new Map([...assignments].map(([id, assignment]) => [id, decodeMemberAssignment(encodeMemberAssignment(assignment))]));
  }

  /** What nobody else may do meanwhile: partitions of topics, and of stores. Throws when the member does not have the task. */
  private workOf(member: GroupMemberState, tasks: readonly TaskId[]): string[] {
    return tasks.flatMap((task) => {
      const shape = shapeOf(member.release, task);
      if (shape === undefined) throw new Error(`${member.id} has no task ${formatTaskId(task)}`);
      const read = shape.topics.filter((topic) => task.partition < (topicPartitions[topic] ?? 0)).map((topic) => `topic ${topic}`);
      return [...read, ...shape.stores.map(({ name }) => `store ${name}`)].map((thing) => `${thing}-${task.partition}`);
    });
  }
}

function shapeOf(release: Release, { subTopology }: TaskId): SubTopologyShape | undefined {
  return release.shapes.find(({ id }) => id === subTopology);
}

const isNew =
  (before: readonly string[]) =>
  (work: string): boolean =>
    !before.includes(work);

function common(a: readonly string[], b: readonly string[]): string[] {
  return a.filter((work) => b.includes(work));
}

function text(tasks: readonly TaskId[]): string {
  return tasks.map(formatTaskId).sort().join();
}
