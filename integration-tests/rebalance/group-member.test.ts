import { randomUUID } from 'node:crypto';
import { afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { createKafkajsPort } from '../../src/kafka/kafkajs/kafkajs-port.js';
import type { KafkaPort } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import { planAssignment, type TaskSpec } from '../../src/rebalance/assignment-plan.js';
import { decodeAssignment } from '../../src/rebalance/consumer-protocol.js';
import { GroupMember } from '../../src/rebalance/group-member.js';
import type { GroupMemberOptions } from '../../src/rebalance/group-member-options.js';
import { stickyAssignor } from '../../src/rebalance/built-in-assignors.js';
import { formatTaskId, type TaskId } from '../../src/rebalance/task-id.js';

const topic = `group-member-${randomUUID()}`;
const partitions = 6;
const tasks: readonly TaskSpec[] = Array.from({ length: partitions }, (_, partition) => ({
  task: { subTopology: 0, partition },
  inputs: [{ topic, partition }],
  changelogs: [],
}));

const brokers = (process.env.KAFKA_BROKERS ?? '').split(',');
const opened: Instance[] = [];

async function connect(): Promise<KafkaPort> {
  const port = createKafkajsPort({ brokers, clientId: 'group-member-test' }, silentLogger);
  await port.connect();
  return port;
}

/** What happened in the group, in order, over all instances of a test. */
type Log = { readonly instance: string; readonly what: 'start' | 'revoking' | 'revoked' | 'lost'; readonly tasks: readonly string[] }[];

class Instance {
  readonly running = new Set<string>();
  memberId = '';
  fatal: Error | null = null;
  private constructor(
    readonly port: KafkaPort,
    readonly member: GroupMember,
  ) {}

  static async create(groupId: string, name: string, log: Log, more: Partial<GroupMemberOptions> = {}): Promise<Instance> {
    const port = await connect();
    const note = (what: Log[number]['what'], ids: readonly TaskId[]): void => {
      log.push({ instance: name, what, tasks: ids.map(formatTaskId) });
    };
    const instance: Instance = new Instance(
      port,
      new GroupMember(port, {
        groupId,
        heartbeatIntervalMs: 300,
        logger: silentLogger,
        subscription: () => ({
          topics: [topic],
          processId: name,
          thread: 0,
          transactionalId: `${groupId}-${name}`,
          topologyFingerprint: 'f',
          release: null,
          tasksWithState: [...instance.running].map((id) => ({
            task: tasks.find(({ task }) => formatTaskId(task) === id)!.task,
            offsetSum: 1,
          })),
          applicationServer: null,
          tags: {},
          standbyTasks: [],
          caughtUpTasks: [],
        }),
        inputPartitions: (task) => [{ topic, partition: task.partition }],
        assign: (members) => planAssignment({ tasks, members, assignor: stickyAssignor }).assignments,
        onAssigned: (_, added) => {
          note('start', added);
          for (const task of added) instance.running.add(formatTaskId(task));
        },
        onRevoked: async (given) => {
          note('revoking', given);
          await new Promise((resolve) => setTimeout(resolve, 500));
          for (const task of given) instance.running.delete(formatTaskId(task));
          note('revoked', given);
        },
        onLost: (gone) => {
          note('lost', gone);
          for (const task of gone) instance.running.delete(formatTaskId(task));
        },
        onMemberId: (memberId) => (instance.memberId = memberId),
        onFatal: (error) => (instance.fatal = error),
        ...more,
      }),
    );
    opened.push(instance);
    return instance;
  }

  /** As kill -9: connections close, nobody says goodbye. */
  async kill(): Promise<void> {
    this.member.stop();
    this.running.clear();
    await this.port.close();
  }
}

async function until(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 20));
}

const settled =
  (...instances: readonly Instance[]) =>
  (): boolean =>
    instances.every(({ member }) => member.memberStable) && instances.reduce((sum, { running }) => sum + running.size, 0) === partitions;

/** Between two starts of a task its runner must have finished giving it up. */
function expectOneRunnerAtATime(log: Log): void {
  const runners = new Map<string, string>();
  for (const { instance, what, tasks: ids } of log) {
    for (const id of ids) {
      if (what === 'start') {
        expect([id, runners.get(id)]).toEqual([id, undefined]);
        runners.set(id, instance);
      } else if (what !== 'revoking') runners.delete(id);
    }
  }
}

const revoked = (log: Log, instance: string): string[] =>
  log.flatMap((entry) => (entry.instance === instance && entry.what === 'revoked' ? entry.tasks : []));

describe('a group on a real broker', () => {
  beforeAll(async () => {
    const port = await connect();
    await port.admin.createTopics([{ topic, partitions, replicationFactor: -1, configs: {} }]);
    await port.close();
  });

  afterEach(async () => {
    for (const { member, port } of opened.splice(0)) {
      member.stop();
      await port.close();
    }
  });

  it('grows from one to three instances and shrinks again, moving only what has to move', async () => {
    const groupId = `growing-${randomUUID()}`;
    const log: Log = [];
    const a = await Instance.create(groupId, 'a', log);
    await a.member.start();
    await until(settled(a));
    expect(a.running.size).toBe(6);

    const b = await Instance.create(groupId, 'b', log);
    await b.member.start();
    await until(settled(a, b));
    expect([a.running.size, b.running.size]).toEqual([3, 3]);
    expect(revoked(log, 'a')).toHaveLength(3);

    const c = await Instance.create(groupId, 'c', log);
    await c.member.start();
    await until(settled(a, b, c));
    expect([a.running.size, b.running.size, c.running.size]).toEqual([2, 2, 2]);
    expect([revoked(log, 'a').length, revoked(log, 'b').length]).toEqual([4, 1]);

    await Promise.all([b.member.leave(), c.member.leave()]);
    await until(settled(a));
    expect(revoked(log, 'a')).toHaveLength(4);
    expectOneRunnerAtATime(log);
    expect(log.some(({ what }) => what === 'lost')).toBe(false);
    await a.member.leave();
  });

  it('shows its partitions to Kafka’s tools', async () => {
    const groupId = `shown-${randomUUID()}`;
    const a = await Instance.create(groupId, 'a', []);
    await a.member.start();
    const group = await a.port.admin.describeGroup(groupId);
    expect(group?.state).toBe('Stable');
    expect(group?.members.flatMap(({ assignment }) => decodeAssignment(assignment).partitions)).toHaveLength(6);
    await a.member.leave();
    expect((await a.port.admin.describeGroup(groupId))?.members ?? []).toEqual([]);
  });

  it('takes a restarted process back at once, at default settings', async () => {
    const groupId = `restarted-${randomUUID()}`;
    const first = await Instance.create(groupId, 'a', [], { heartbeatIntervalMs: 3000 });
    await first.member.start();
    const stale = first.member.identity();
    await first.kill();

    const again = await Instance.create(groupId, 'a', [], { heartbeatIntervalMs: 3000, previousMemberId: first.memberId });
    const before = performance.now();
    await again.member.start();
    expect(performance.now() - before).toBeLessThan(2000);
    expect(again.running.size).toBe(6);

    const committed = await again.port.offsetCommit(await again.port.findCoordinator('group', groupId), {
      ...stale,
      offsets: [{ topic, partition: 0, offset: 1, leaderEpoch: -1, metadata: null }],
    });
    expect(committed.map(({ errorCode }) => errorCode)).toEqual([22]);
    await again.member.leave();
  });

  it('lets a member that slept beyond its session find out before it commits, and takes it back', async () => {
    const groupId = `asleep-${randomUUID()}`;
    const log: Log = [];
    const options = { sessionTimeoutMs: 1500, heartbeatIntervalMs: 300 };
    const sleeper = await Instance.create(groupId, 'sleeper', log, options);
    await sleeper.member.start();
    expect(sleeper.member.checkSession()).toBe('ok');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 3000);
    expect(sleeper.member.checkSession()).toBe('lost');
    expect(log.at(-1)).toMatchObject({ what: 'lost' });
    expect(sleeper.running.size).toBe(0);
    await until(settled(sleeper));
    expect(sleeper.member.checkSession()).toBe('ok');
    await sleeper.member.leave();
  });

  it('asks the broker in doubt, which may have been more patient', async () => {
    const groupId = `patient-${randomUUID()}`;
    const log: Log = [];
    const a = await Instance.create(groupId, 'a', log, { sessionTimeoutMs: 2000, heartbeatIntervalMs: 300 });
    await a.member.start();
    expect(await a.member.confirmSession()).toBe('ok');
    const b = await Instance.create(groupId, 'a', log, { previousMemberId: a.memberId, sessionTimeoutMs: 2000, heartbeatIntervalMs: 300 });
    await b.member.start();
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2500);
    expect(await a.member.confirmSession()).toBe('lost');
    await a.member.leave();
    await b.member.leave();
  });

  it('refuses a member whose session timeout the broker does not allow, with a message that says so', async () => {
    const a = await Instance.create(`refused-${randomUUID()}`, 'a', [], { sessionTimeoutMs: 10 });
    await expect(a.member.start()).rejects.toMatchObject({
      code: 'MILL_GROUP_FATAL',
      message: expect.stringContaining('session timeout of 10 ms') as unknown as string,
    });
    expect(a.fatal).toMatchObject({ code: 'MILL_GROUP_FATAL' });
  });

  it('lets an identical instance id take over from the one before (static membership)', async () => {
    const groupId = `static-${randomUUID()}`;
    const first = await Instance.create(groupId, 'a', [], { groupInstanceId: 'seat-1' });
    await first.member.start();
    const second = await Instance.create(groupId, 'a', [], { groupInstanceId: 'seat-1' });
    await second.member.start();
    expect(second.running.size).toBe(6);
    await until(() => first.fatal !== null);
    expect(first.fatal).toMatchObject({ code: 'MILL_INSTANCE_FENCED' });
    expect(first.running.size).toBe(0);
  });
});
