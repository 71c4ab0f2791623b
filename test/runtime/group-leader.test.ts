import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import type { KafkaPort, OffsetQuery } from '../../src/kafka/port.js';
import { silentLogger } from '../../src/observability/logger.js';
import type { JoinedMember } from '../../src/rebalance/assignment-plan.js';
import { defaultAssignorSettings, type AssignorInput, type TaskAssignor } from '../../src/rebalance/assignor.js';
import { stickyAssignor } from '../../src/rebalance/built-in-assignors.js';
import type { Release, SubTopologyShape } from '../../src/rebalance/releases/release.js';
import { formatTaskId, parseTaskId } from '../../src/rebalance/task-id.js';
import type { CurrentPlans } from '../../src/runtime/current-plans.js';
import { GroupLeader, refusal, type GroupLeaderOptions } from '../../src/runtime/group-leader.js';

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  jest.useRealTimers();
});

const probingRebalanceInterval = 60_000;

function shape(id: number, topic: string): SubTopologyShape {
  return { id, topics: [topic], internal: [], patterns: [], stores: [], feeds: [], sinks: [], unnamed: [], eventTime: {} };
}

const ours: Release = { shapes: [shape(0, 'in')], mode: 'streaming' };
/** What is 0 for us is 1 there. */
const next: Release = { shapes: [shape(0, 'more'), shape(1, 'in')], mode: 'streaming' };

function member(
  memberId: string,
  /** A fingerprint without a release: the member's version of Millrace does not know releases. */
  more: { readonly owned?: readonly string[]; readonly fingerprint?: string; readonly release?: Release } = {},
): JoinedMember {
  const release = more.release ?? (more.fingerprint === undefined ? ours : null);
  return {
    memberId,
    groupInstanceId: null,
    subscription: {
      version: release === null ? 2 : 3,
      topics: ['in'],
      processId: memberId,
      thread: 0,
      transactionalId: null,
      topologyFingerprint: more.fingerprint ?? 'ours',
      release,
      lastRun: null,
      tasksWithState: [],
      standbyTasks: [],
      caughtUpTasks: [],
      applicationServer: null,
      tags: {},
      ownedTasks: (more.owned ?? []).map(parseTaskId),
      generation: more.owned === undefined ? -1 : 1,
      nonce: '',
      isLeaving: false,
    },
  };
}

function leader(
  options: {
    readonly topics?: readonly string[];
    readonly end?: number;
    readonly error?: Error;
    readonly planError?: Error;
    readonly assignor?: TaskAssignor;
    readonly release?: Release;
  } = {},
) {
  const seen: AssignorInput[] = [];
  const rejoins: string[] = [];
  const specs = [0, 1].map((partition) => ({
    task: { subTopology: 0, partition },
    inputs: [{ topic: 'in', partition }],
    changelogs: ['x', 'y'].map((topic) => ({ topic, partition })),
  }));
  const made = new GroupLeader({
    port: {
      listOffsets: async (queries: readonly OffsetQuery[]) => {
        if (options.error !== undefined) throw options.error;
        return queries.map(({ topic, partition }) => ({ topic, partition, errorCode: 0, offset: options.end ?? 0 }));
      },
      metadata: async (asked: readonly string[]) => ({
        topics: new Map(
          asked.map((name) => [name, { name, errorCode: (options.topics ?? ['in', 'more']).includes(name) ? 0 : 3, partitions: [0, 1] }]),
        ),
      }),
    } as unknown as KafkaPort,
    plans: {
      known: null,
      refresh: async () => {
        if (options.planError !== undefined) throw options.planError;
        return { specs };
      },
    } as unknown as CurrentPlans,
    topologyFingerprint: 'ours',
    release: options.release ?? ours,
    assignor: options.assignor ?? {
      name: 'watched',
      assign: (input) => {
        seen.push(input);
        return stickyAssignor.assign(input);
      },
    },
    settings: defaultAssignorSettings,
    probingRebalanceInterval,
    requestRejoin: (reason) => rejoins.push(reason),
    logger: silentLogger,
  } satisfies GroupLeaderOptions);
  return { made, seen, rejoins };
}

describe('the leader of a group', () => {
  it('tells the assignor the ends of each task’s changelogs, summed', async () => {
    const { made, seen } = leader({ end: 7 });
    await made.assign([member('a')]);
    expect(seen[0]?.tasks.map(({ stateful, endOffsetSum }) => [stateful, endOffsetSum])).toEqual([
      [true, 14],
      [true, 14],
    ]);
  });

  it('assigns without the ends when the broker refuses them, and tries again when it is away', async () => {
    const refused = leader({ error: new MillraceError('MILL_BROKER_ERROR', 'no') });
    await refused.made.assign([member('a')]);
    expect(refused.seen[0]?.tasks.map(({ endOffsetSum }) => endOffsetSum)).toEqual([null, null]);
    await expect(leader({ error: new MillraceError('MILL_TRANSPORT', 'away') }).made.assign([member('a')])).rejects.toThrow('away');
  });

  it('asks for another look while copies warm up, once', async () => {
    const { made, rejoins } = leader({ end: 100_000 });
    const assignments = await made.assign([member('a', { owned: ['0_0', '0_1'] }), member('b')]);
    expect(assignments.get('b')).toMatchObject({ activeTasks: [], warmupTasks: [{ partition: 0 }] });
    jest.advanceTimersByTime(probingRebalanceInterval - 1);
    expect(rejoins).toEqual([]);
    jest.advanceTimersByTime(1);
    expect(rejoins).toEqual(['copies have had time to catch up']);
    jest.advanceTimersByTime(probingRebalanceInterval);
    expect(rejoins).toHaveLength(1);
  });

  it('does not when nothing warms up any more, or it has ended', async () => {
    const { made, rejoins } = leader({ end: 100_000 });
    const both = [member('a', { owned: ['0_0', '0_1'] }), member('b')];
    await made.assign(both);
    await made.assign([member('a', { owned: ['0_0', '0_1'] })]);
    await made.assign(both);
    made.cancelProbe();
    jest.advanceTimersByTime(2 * probingRebalanceInterval);
    expect(rejoins).toEqual([]);
  });

  it('gives nothing to members of another topology, and says why', async () => {
    const assignments = await leader().made.assign([member('a'), member('b', { fingerprint: 'other' })]);
    expect(assignments.get('a')?.error).toBeNull();
    expect(assignments.get('b')).toMatchObject({ activeTasks: [], error: { code: 'MILL_TOPOLOGY_MISMATCH' } });
    expect(assignments.get('a')?.activeTasks).toHaveLength(2);
  });

  it('gives members of another release tasks of theirs, by their numbers', async () => {
    const assignments = await leader().made.assign([member('a', { owned: ['0_0'] }), member('b', { release: next, fingerprint: 'other' })]);
    const tasks = (memberId: string): string[] => assignments.get(memberId)!.activeTasks.map(formatTaskId);
    expect(tasks('a')).toEqual(['0_0']);
    expect(tasks('b').sort()).toEqual(['0_0', '0_1', '1_1']);
  });

  const joining = [member('a', { owned: ['0_0', '0_1'] }), member('b', { release: next, fingerprint: 'other' })];
  const after = async <T>(ms: number, planned: Promise<T>): Promise<T> => {
    await jest.advanceTimersByTimeAsync(ms);
    return planned;
  };

  it('refuses members of a release that reads a topic which was deleted after their start, alone', async () => {
    const assignments = await after(10_000, leader({ topics: ['in'] }).made.assign(joining));
    expect(assignments.get('a')).toMatchObject({ activeTasks: [{ partition: 0 }, { partition: 1 }], error: null, settled: true });
    expect(assignments.get('b')).toMatchObject({
      activeTasks: [],
      error: { code: 'MILL_TOPIC_MISSING', message: expect.stringMatching(/topic\(s\) more do not exist.*another topology.*go on/) },
    });
  });

  it('lets nobody begin what such a member runs, before it has given it up', async () => {
    const running = [member('a', { owned: ['0_0'] }), member('b', { owned: ['0_0', '1_1'], release: next, fingerprint: 'other' })];
    const assignments = await after(10_000, leader({ topics: ['in'] }).made.assign(running));
    expect(assignments.get('a')).toMatchObject({ activeTasks: [{ partition: 0 }], error: null, settled: false });
    expect(assignments.get('b')?.error?.code).toBe('MILL_TOPIC_MISSING');
  });

  it('waits for a topic that a joining member has just made and not every broker knows', async () => {
    const topics = ['in'];
    const planned = leader({ topics }).made.assign(joining);
    await jest.advanceTimersByTimeAsync(1);
    topics.push('more');
    const assignments = await after(1000, planned);
    expect(assignments.get('b')).toMatchObject({ activeTasks: expect.arrayContaining([{ subTopology: 0, partition: 0 }]), error: null });
  });

  it('keeps what is wrong with its own topics to members with its topology', async () => {
    const planError = new MillraceError('MILL_TOPIC_INCOMPATIBLE', 'three partitions, not two');
    const assignments = await leader({ planError }).made.assign(joining);
    expect(assignments.get('a')).toMatchObject({ activeTasks: [], error: { code: 'MILL_TOPIC_INCOMPATIBLE' } });
    expect(assignments.get('b')?.error).toBeNull();
    // What a runs it must give up first.
    expect(assignments.get('b')?.activeTasks.map(formatTaskId).sort()).toEqual(['0_0', '0_1']);
    const alone = await leader({ planError }).made.assign([member('a', { owned: ['0_0'] }), member('c')]);
    expect([alone.get('a')?.error?.code, alone.get('c')?.error?.code]).toEqual(['MILL_TOPIC_INCOMPATIBLE', 'MILL_TOPIC_INCOMPATIBLE']);
  });

  it('refuses another topology while a member does not know releases, since that one may come to lead', async () => {
    const older = member('older', { fingerprint: 'ours', owned: ['0_0'] });
    const assignments = await leader().made.assign([older, ...joining.slice(1), member('a', { owned: ['0_1'] })]);
    expect(assignments.get('older')).toMatchObject({ activeTasks: [{ partition: 0 }], error: null });
    expect(assignments.get('b')).toMatchObject({
      activeTasks: [],
      error: { code: 'MILL_TOPOLOGY_MISMATCH', message: expect.stringContaining('one topology only') },
    });
  });

  it('tells everybody of a shutdown, and contests no equal numbers of two releases', async () => {
    const asking = { ...member('c'), subscription: { ...member('c').subscription!, shutdown: 'enough' } };
    const assignments = await leader().made.assign([
      member('a', { owned: ['0_0'] }),
      member('b', { owned: ['0_0'], release: next, fingerprint: 'other' }),
      asking,
    ]);
    expect([...assignments].map(([id, { activeTasks, error }]) => [id, activeTasks.map(formatTaskId), error?.code])).toEqual([
      ['a', ['0_0'], 'MILL_APPLICATION_SHUTDOWN'],
      ['b', ['0_0'], 'MILL_APPLICATION_SHUTDOWN'],
      ['c', [], 'MILL_APPLICATION_SHUTDOWN'],
    ]);
  });

  it('takes a member that does not tell its release for one in streaming mode', async () => {
    const batch: Release = { ...ours, mode: 'batch' };
    const { made } = leader({ release: batch });
    const assigned = await made.assign([member('a', { owned: ['0_0', '0_1'], release: batch }), member('b', { fingerprint: 'ours' })]);
    expect(assigned.get('a')).toMatchObject({ activeTasks: [{ partition: 0 }, { partition: 1 }], error: null });
    expect(assigned.get('b')?.error?.message).toContain('built for streaming mode, and the group runs one that was built for batch mode');
  });

  it('refuses a member with a pattern that this Node.js can’t read, alone, and gives nobody what it claims', async () => {
    const unreadable: Release = {
      mode: 'streaming',
      shapes: [...ours.shapes, { ...shape(1, 'more'), topics: [], patterns: ['/returns-(/'] }],
    };
    const joining = await leader().made.assign([member('a', { owned: ['0_0', '0_1'] }), member('b', { release: unreadable })]);
    expect(joining.get('a')).toMatchObject({ activeTasks: [{ partition: 0 }, { partition: 1 }], error: null });
    expect(joining.get('b')).toMatchObject({
      activeTasks: [],
      error: { code: 'MILL_TOPOLOGY_MISMATCH', message: expect.stringContaining('/returns-(/') },
    });
    const running = await leader().made.assign([
      member('a', { owned: ['0_0'] }),
      member('b', { owned: ['0_1', '1_0'], release: unreadable }),
    ]);
    expect(running.get('a')).toMatchObject({ activeTasks: [{ partition: 0 }], error: null, settled: false });
    expect(running.get('b')?.error?.code).toBe('MILL_TOPOLOGY_MISMATCH');
  });

  it('lets nobody begin what a member without a known release runs, until it has given that up', async () => {
    const before = member('before', { fingerprint: 'other', owned: ['0_0', '0_1'] });
    for (const others of [[member('a')], [member('a', { owned: ['0_0'] }), member('b', { release: next, fingerprint: 'next' })]]) {
      const tasks = async (all: readonly JoinedMember[]) =>
        [...(await leader().made.assign(all))].flatMap(([id, { activeTasks }]) => activeTasks.map((task) => `${id} ${formatTaskId(task)}`));
      const kept = others.flatMap(({ memberId, subscription }) =>
        subscription!.ownedTasks.map((task) => `${memberId} ${formatTaskId(task)}`),
      );
      expect(await tasks([before, ...others])).toEqual(kept);
      expect((await tasks([member('before', { fingerprint: 'other' }), ...others])).length).toBeGreaterThan(kept.length);
    }
  });

  it('knows a release that a member does not tell by another member with the same topology, and keeps what runs of it', async () => {
    const [before, same] = [member('before', { fingerprint: 'next', owned: ['1_0'] }), member('b', { fingerprint: 'next', release: next })];
    const assignments = await leader().made.assign([member('a'), before, same]);
    const holders = [...assignments].filter(([id, { activeTasks }]) => activeTasks.map(formatTaskId).includes(id === 'a' ? '0_0' : '1_0'));
    expect(holders.map(([id]) => id)).toEqual(['before']);
    expect(assignments.get('before')?.error).toBeNull();
  });

  it('tells everybody what keeps it from assigning: topics, or a custom assignor', async () => {
    const missing = await leader({ planError: new MillraceError('MILL_TOPIC_MISSING', 'no topic') }).made.assign([
      member('a', { owned: ['0_1'] }),
    ]);
    expect(missing.get('a')).toMatchObject({ activeTasks: [{ partition: 1 }], error: { code: 'MILL_TOPIC_MISSING' } });
    const own = { name: 'own', assign: () => new Map() };
    const invalid = await leader({ assignor: own }).made.assign([member('a')]);
    expect(invalid.get('a')?.error?.code).toBe('MILL_ASSIGNOR_INVALID');
  });
});

describe('what the leader tells', () => {
  it('is an error of that code, if this version knows it', () => {
    expect(refusal({ code: 'MILL_ASSIGNOR_INVALID', message: 'x' }).code).toBe('MILL_ASSIGNOR_INVALID');
    expect(refusal({ code: 'MILL_OF_THE_FUTURE', message: 'x' }).code).toBe('MILL_GROUP_FATAL');
  });
});
