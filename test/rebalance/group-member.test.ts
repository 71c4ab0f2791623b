import { describe, expect, it } from '@jest/globals';
import { KafkaTransportError, MillraceError } from '../../src/errors.js';
import type { JoinGroupResponse, KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { planAssignment } from '../../src/rebalance/assignment-plan.js';
import { encodeSubscription } from '../../src/rebalance/consumer-protocol.js';
import { GroupMember } from '../../src/rebalance/group-member.js';
import type { GroupMemberOptions } from '../../src/rebalance/group-member-options.js';
import { emptyAssignment } from '../../src/rebalance/member-assignment.js';
import type { LastRun } from '../../src/rebalance/member-subscription.js';
import { nothingContested } from '../../src/rebalance/releases/running-shapes.js';
import { stickyAssignor } from '../../src/rebalance/built-in-assignors.js';
import { formatTaskId, type TaskId } from '../../src/rebalance/task-id.js';
import { SimulatedCoordinator } from './simulation/simulated-coordinator.js';

const tasks = [0, 1].map((partition) => ({ task: { subTopology: 0, partition }, inputs: [], changelogs: [] }));

/** Everything that is due happens. */
const settle = async (): Promise<void> => {
  for (let i = 0; i < 5; i++) await new Promise((resolve) => setImmediate(resolve));
};

class World {
  now = 0;
  private readonly timers = new Map<() => void, number>();
  readonly coordinator = new SimulatedCoordinator(10_000, 60_000);
  readonly log: string[] = [];

  readonly clock = {
    now: (): number => this.now,
    setTimer: (run: () => void, delayMs: number): (() => void) => {
      this.timers.set(run, this.now + delayMs);
      return () => this.timers.delete(run);
    },
  };

  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      await settle();
      const [next] = [...this.timers].sort(([, a], [, b]) => a - b);
      if (next === undefined || next[1] > end) break;
      this.now = Math.max(this.now, next[1]);
      this.timers.delete(next[0]);
      next[0]();
    }
    this.now = end;
    this.coordinator.tick(this.now);
    await settle();
  }

  member(more: Partial<GroupMemberOptions> = {}, port: Partial<KafkaPort> = {}): GroupMember {
    const note = (what: string, ids: readonly TaskId[]): number => this.log.push(`${what} ${ids.map(formatTaskId).join(' ')}`.trim());
    return new GroupMember({ ...this.port(), ...port } as KafkaPort, {
      groupId: 'app',
      logger: silentLogger,
      clock: this.clock,
      random: () => 0.5,
      subscription: () => ({
        topics: ['t'],
        processId: 'p',
        thread: 0,
        transactionalId: null,
        topologyFingerprint: '',
        release: null,
        tasksWithState: [],
        applicationServer: null,
        tags: {},
        standbyTasks: [],
        caughtUpTasks: [],
      }),
      inputPartitions: () => [],
      assign: (members) => planAssignment({ tasks, members, assignor: stickyAssignor }).assignments,
      onAssigned: (_, added) => void note('assigned', added),
      onRevoked: (given) => void note('revoked', given),
      onLost: (gone) => void note('lost', gone),
      onFatal: (error) => void this.log.push(`fatal ${error instanceof MillraceError ? error.code : error.message}`),
      ...more,
    });
  }

  private port(): Partial<KafkaPort> {
    return {
      findCoordinator: async () => 1,
      joinGroup: (_, { memberId, protocols }) =>
        new Promise<JoinGroupResponse>((resolve) =>
          this.coordinator.join(memberId, protocols[0]!.metadata, this.now, (reply) =>
            resolve({ ...reply, members: reply.members.map((member) => ({ ...member, groupInstanceId: null })) }),
          ),
        ),
      syncGroup: (_, { memberId, generation, assignments }) =>
        new Promise((resolve) => this.coordinator.sync(memberId, generation, assignments, this.now, resolve)),
      heartbeat: async (_, { memberId, generation }) => ({ errorCode: this.coordinator.heartbeat(memberId, generation, this.now) }),
      leaveGroup: async (_, { memberId }) => ({ errorCode: this.coordinator.leave(memberId, this.now) }),
    };
  }
}

describe('a group member', () => {
  it('has started once the application has taken its tasks over', async () => {
    const world = new World();
    let ready = (): void => undefined;
    const member = world.member({ onAssigned: () => new Promise<void>((resolve) => (ready = resolve)) });
    let started = false;
    const start = member.start().then(() => (started = true));
    await settle();
    expect([member.state, started]).toEqual(['stable', false]);
    ready();
    await start;
    expect(member.identity()).toEqual({ groupId: 'app', memberId: 'member-1', generation: 1, groupInstanceId: null });
    member.stop();
  });

  it('tells its id whenever it changes', async () => {
    const world = new World();
    const ids: string[] = [];
    const member = world.member({ previousMemberId: 'gone', onMemberId: (id) => ids.push(id) });
    await member.start();
    expect(ids).toEqual(['', 'member-1']);
    member.stop();
  });

  it('waits for the application to give up tasks before another member gets them', async () => {
    const world = new World();
    let done = (): void => undefined;
    const first = world.member({ onRevoked: () => new Promise<void>((resolve) => (done = resolve)) });
    await first.start();
    const second = world.member();
    const start = second.start();
    await world.pass(30_000);
    expect(first.state).toBe('revoking');
    expect(second.ownedTasks).toEqual([]);
    done();
    await world.pass(6000);
    await start;
    expect([first, second].map(({ ownedTasks, memberStable }) => [ownedTasks.length, memberStable])).toEqual([
      [1, true],
      [1, true],
    ]);
    first.stop();
    second.stop();
  });

  it('counts tasks as lost when giving them up fails, and goes on', async () => {
    const world = new World();
    const member = world.member({ onRevoked: () => Promise.reject(new Error('the commit failed')) });
    await member.start();
    await member.leave();
    expect(world.log).toEqual(['assigned 0_0 0_1', 'lost 0_0 0_1']);
    expect(world.coordinator.memberIds).toEqual([]);
  });

  it('starts nothing that was lost before its turn came', async () => {
    const world = new World();
    let ready = (): void => undefined;
    let calls = 0;
    const member = world.member({
      onAssigned: () => {
        calls++;
        return calls === 1 ? new Promise<void>((resolve) => (ready = resolve)) : undefined;
      },
      onRevoked: () => void world.log.push('revoked'),
    });
    const start = member.start();
    await settle();
    const leaving = member.leave();
    world.now += 20_000;
    expect(member.checkSession()).toBe('lost');
    ready();
    await Promise.all([start, leaving]);
    expect(world.log).toEqual(['lost 0_0 0_1']);
  });

  it('drops its tasks when the broker has forgotten it, and gets them back', async () => {
    const world = new World();
    const member = world.member();
    await member.start();
    world.coordinator.leave(member.identity().memberId, world.now);
    await world.pass(4000);
    expect(world.log).toEqual(['assigned 0_0 0_1', 'lost 0_0 0_1', 'assigned 0_0 0_1']);
    member.stop();
  });

  it('says at its next join what the last plan that it had a part in ran, also when a refusal has come since', async () => {
    const world = new World();
    const joins: LastRun[] = [];
    const error = { code: 'MILL_TOPIC_MISSING', message: 'not now' };
    let takenOver = (): void => undefined;
    const member = world.member({
      assign: ([me]) => {
        const { memberId, subscription } = me!;
        joins.push(subscription!.lastRun ?? { generation: -1, running: nothingContested });
        const running = new Map([['orders', new Set([joins.length])]]);
        return new Map([[memberId, { ...emptyAssignment, ...(joins.length === 1 ? { running } : { error }) }]]);
      },
      // The refusal waits for its turn: meanwhile the group rebalances again.
      onAssigned: () => new Promise<void>((resolve) => (takenOver = resolve)),
    });
    const start = member.start();
    for (const reason of ['once', 'and again']) {
      await world.pass(100);
      member.requestRejoin(reason);
    }
    await world.pass(4_000);
    expect(joins.map(({ generation, running }) => [generation, [...running.keys()]])).toEqual([
      [-1, []],
      [1, ['orders']],
      [1, ['orders']],
    ]);
    takenOver();
    await start;
    member.stop();
  });

  it('has a new identity for a commit that met the next generation', async () => {
    const world = new World();
    const first = world.member();
    await first.start();
    const refused = first.commitIdentity();
    const second = world.member();
    void second.start();
    await world.pass(100);
    const next = first.identityAfter(refused);
    await world.pass(100);
    expect(await next).toEqual({ ...refused, generation: refused.generation + 1 });
    first.stop();
    second.stop();
  });

  it('has none when the refused commit came from a member that is out', async () => {
    const world = new World();
    const member = world.member();
    await member.start();
    const refused = member.commitIdentity();
    world.coordinator.leave(refused.memberId, world.now);
    expect(await member.identityAfter(refused)).toBeNull();
    member.stop();
  });

  it('confirms with the broker a session that is in doubt', async () => {
    const world = new World();
    const member = world.member();
    await member.start();
    world.now += 20_000;
    expect(await member.confirmSession()).toBe('ok');
    world.now += 20_000;
    world.coordinator.tick(world.now);
    expect(await member.confirmSession()).toBe('lost');
    member.stop();
  });

  it('tries again when the leader’s look at the cluster fails for now', async () => {
    const world = new World();
    let failures = 1;
    const member = world.member({
      assign: (members) => {
        if (failures-- > 0) throw new KafkaTransportError('no metadata');
        return planAssignment({ tasks, members, assignor: stickyAssignor }).assignments;
      },
    });
    const start = member.start();
    await world.pass(1000);
    await start;
    expect(world.log).toEqual(['assigned 0_0 0_1']);
    member.stop();
  });

  it.each<[string, Partial<GroupMemberOptions>]>([
    ['assign', { assign: () => Promise.reject(new MillraceError('MILL_TOPIC_MISSING', 'no topic')) }],
    ['onAssigned', { onAssigned: () => Promise.reject(new MillraceError('MILL_TOPIC_MISSING', 'no topic')) }],
    [
      'subscription',
      {
        subscription: () => {
          throw new MillraceError('MILL_TOPIC_MISSING', 'no topic');
        },
      },
    ],
  ])('fails with the error of %s, and leaves the group', async (_, options) => {
    const world = new World();
    const member = world.member(options);
    await expect(member.start()).rejects.toMatchObject({ code: 'MILL_TOPIC_MISSING' });
    expect(world.log.at(-1)).toBe('fatal MILL_TOPIC_MISSING');
    expect(member.state).toBe('failed');
    await settle();
    expect(world.coordinator.memberIds).toEqual([]);
  });

  it('names the ACL when the broker denies the group', async () => {
    const world = new World();
    const denied = { errorCode: 30, generation: -1, protocolName: null, leader: '', memberId: '', members: [] };
    const member = world.member({}, { joinGroup: async () => denied });
    await expect(member.start()).rejects.toMatchObject({ code: 'MILL_AUTHORIZATION', details: { groupId: 'app', brokerErrorCode: 30 } });
  });

  it('gives no task to a member of another library', async () => {
    const world = new World();
    const member = world.member();
    await member.start();
    const foreign = encodeSubscription({ topics: [], userData: Buffer.alloc(0), ownedPartitions: [], generation: -1 });
    world.coordinator.join('', foreign, world.now, ({ memberId }) => world.coordinator.join(memberId, foreign, world.now, () => undefined));
    await world.pass(4000);
    expect(member.ownedTasks).toHaveLength(2);
    member.stop();
  });

  it('does not wait for a goodbye for ever', async () => {
    const world = new World();
    const member = world.member({}, { leaveGroup: () => new Promise(() => undefined) });
    await member.start();
    const leaving = member.leave();
    await world.pass(3000);
    await leaving;
    expect(member.state).toBe('left');
  });

  it('can be stopped while it starts, and started only once', async () => {
    const world = new World();
    const member = world.member({}, { joinGroup: () => new Promise(() => undefined) });
    const start = member.start();
    await expect(member.start()).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    member.stop();
    await expect(start).rejects.toMatchObject({ code: 'MILL_STATE_INVALID' });
    expect(world.log).toEqual([]);
  });
});
