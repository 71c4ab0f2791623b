import { describe, expect, it } from '@jest/globals';
import { formatTaskId } from '../../../src/rebalance/task-id.js';
import { SimulatedCoordinator } from './simulated-coordinator.js';
import { SimulatedMember, type World } from './simulated-member.js';
import { VirtualTime } from './virtual-time.js';

const sessionTimeoutMs = 10_000;

class Group {
  readonly time: VirtualTime;
  readonly world: World;
  members: SimulatedMember[] = [];
  private names = 0;

  constructor(seed: number, partitions: readonly number[]) {
    this.time = new VirtualTime(seed);
    const tasks = partitions.flatMap((count, subTopology) =>
      Array.from({ length: count }, (_, partition) => ({ task: { subTopology, partition }, inputs: [], changelogs: [] })),
    );
    const coordinator = new SimulatedCoordinator(sessionTimeoutMs, 60_000);
    this.world = { time: this.time, coordinator, tasks, sessionTimeoutMs, heartbeatIntervalMs: 3000, lossRate: 0, coordinatorNode: 1 };
    const sweep = (): void => {
      coordinator.tick(this.time.now);
      this.time.after(250, sweep);
    };
    sweep();
  }

  join(): SimulatedMember {
    const member = new SimulatedMember(`p${this.names++}`, this.world);
    this.members.push(member);
    member.start();
    return member;
  }

  restart(member: SimulatedMember): SimulatedMember {
    member.crash();
    const again = new SimulatedMember(member.name, this.world, member);
    this.members[this.members.indexOf(member)] = again;
    again.start();
    return again;
  }

  leave(member: SimulatedMember): void {
    member.leave();
    this.members = this.members.filter((other) => other !== member);
    this.leaving.push(member);
  }

  kill(member: SimulatedMember): void {
    member.crash();
    this.members = this.members.filter((other) => other !== member);
  }

  readonly leaving: SimulatedMember[] = [];

  run(forMs: number, check: () => void): void {
    this.time.runUntil(this.time.now + forMs, check);
  }

  /** The members that run a task, as far as the filter counts them. */
  runners(task: string, counts: (member: SimulatedMember) => boolean): SimulatedMember[] {
    return [...this.members, ...this.leaving].filter((member) => member.running.has(task) && counts(member));
  }

  get taskIds(): string[] {
    return this.world.tasks.map(({ task }) => formatTaskId(task));
  }

  noTaskTwice(counts: (member: SimulatedMember) => boolean = () => true): () => void {
    const { taskIds } = this;
    return () => {
      for (const task of taskIds) {
        const names = this.runners(task, counts).map(({ name }) => name);
        if (names.length > 1) throw new Error(`${task} runs on ${names.join(' and ')} at ${this.time.now}`);
      }
    };
  }

  expectSettled(): void {
    const running = this.members.map((member) => [...member.running]);
    expect(running.flat().sort()).toEqual(this.taskIds.sort());
    expect(this.members.map(({ machine }) => machine.phase)).toEqual(this.members.map(() => 'stable'));
    expect(this.members.every(({ machine }) => machine.settled)).toBe(true);
    const counts = running.map((tasks) => tasks.length);
    expect(Math.max(...counts) - Math.min(...counts)).toBeLessThanOrEqual(1);
    for (const member of this.members) expect([...member.running].sort()).toEqual(member.machine.ownedTasks.map(formatTaskId).sort());
  }
}

describe('a group', () => {
  it('hands work over from one member to two to three and back, never a task twice, never a kept task stopped', () => {
    const group = new Group(1, [6, 6]);
    const check = group.noTaskTwice();
    const first = group.join();
    group.run(10_000, check);
    group.expectSettled();

    const second = group.join();
    group.run(20_000, check);
    group.expectSettled();
    expect(first.revoked).toHaveLength(6);

    const third = group.join();
    group.run(20_000, check);
    group.expectSettled();
    expect(first.revoked.length + second.revoked.length).toBe(6 + 4);

    group.leave(second);
    group.leave(third);
    group.run(20_000, check);
    group.expectSettled();
    expect(first.revoked).toHaveLength(6 + 2);
  });

  it('settles within two rebalances after a member has joined', () => {
    for (let seed = 0; seed < 40; seed++) {
      const group = new Group(seed, [1 + (seed % 9), seed % 5]);
      for (let i = 0; i <= seed % 3; i++) group.join();
      group.run(30_000, group.noTaskTwice());
      const before = group.world.coordinator.generation;
      group.join();
      group.run(30_000, group.noTaskTwice());
      group.expectSettled();
      expect(group.world.coordinator.generation - before).toBeLessThanOrEqual(2 + Math.max(0, group.members.length - 2));
    }
  });

  it('replaces the member of a killed process as soon as it is back', () => {
    const group = new Group(2, [4]);
    const [first] = [group.join(), group.join()];
    group.run(20_000, group.noTaskTwice());
    const again = group.restart(first);
    group.run(5000, group.noTaskTwice());
    expect(again.running.size).toBe(2);
    expect(group.world.coordinator.memberIds).toHaveLength(2);
    group.expectSettled();
  });

  it('rebalances when a member without a task asks for it although nothing has changed', () => {
    const group = new Group(3, [1]);
    group.join();
    const second = group.join();
    group.run(20_000, group.noTaskTwice());
    const before = group.world.coordinator.generation;
    second.requestRejoin();
    group.run(10_000, group.noTaskTwice());
    expect(group.world.coordinator.generation).toBe(before + 1);
    group.expectSettled();
  });

  it.each(Array.from({ length: 60 }, (_, seed) => seed))(
    'never runs a task twice under joins, leaves and restarts, and settles (seed %i)',
    (seed) => {
      const group = new Group(seed, [5, 3, 1]);
      const check = group.noTaskTwice();
      group.join();
      for (let step = 0; step < 25; step++) {
        const any = group.members[group.time.below(group.members.length)];
        const dice = group.time.random();
        if (group.members.length < 5 && dice < 0.4) group.join();
        else if (any !== undefined && group.members.length > 1 && dice < 0.6) group.leave(any);
        else if (any !== undefined && dice < 0.8) group.restart(any);
        else any?.requestRejoin();
        group.run(group.time.below(6000), check);
      }
      group.run(120_000, check);
      group.expectSettled();
    },
  );

  it.each(Array.from({ length: 60 }, (_, seed) => 1000 + seed))(
    'lets at most one member commit a task under crashes, pauses, lost messages and coordinator moves, and settles (seed %i)',
    (seed) => {
      const group = new Group(seed, [5, 3, 1]);
      const check = group.noTaskTwice((member) => member.canCommit());
      group.join();
      group.world.lossRate = 0.05;
      for (let step = 0; step < 30; step++) {
        const any = group.members[group.time.below(group.members.length)];
        const dice = group.time.random();
        if (group.members.length < 5 && dice < 0.3) group.join();
        else if (any !== undefined && group.members.length > 1 && dice < 0.4) group.leave(any);
        else if (any !== undefined && group.members.length > 1 && dice < 0.5) group.kill(any);
        else if (any !== undefined && dice < 0.6) group.restart(any);
        else if (any !== undefined && dice < 0.8) any.pause(group.time.below(25_000));
        else group.world.coordinatorNode++;
        group.run(group.time.below(8000), check);
      }
      group.world.lossRate = 0;
      group.run(240_000, check);
      group.expectSettled();
      const before = group.world.coordinator.generation;
      group.run(60_000, check);
      expect(group.world.coordinator.generation).toBe(before);
    },
  );
});
