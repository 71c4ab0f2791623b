import { describe, expect, it } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import type { KafkaAdmin, KafkaPort } from '../../src/kafka/port.js';
import type { StreamsGroupDescription, StreamsGroupHeartbeatResponse } from '../../src/kafka/streams-groups.js';
import { silentLogger } from '../../src/observability/logger.js';
import { StreamsGroupMember } from '../../src/rebalance/streams-group-member.js';

const assignment = { active: [{ subTopology: '0', partitions: [0] }], standby: [], warmup: [] };
const heard: StreamsGroupHeartbeatResponse = {
  errorCode: 0,
  errorMessage: null,
  memberEpoch: 1,
  heartbeatIntervalMs: 5000,
  endpointEpoch: 0,
  statuses: [],
  assignment,
};
const described: StreamsGroupDescription = {
  state: 'Stable',
  groupEpoch: 1,
  members: [
    {
      memberId: 'm',
      memberEpoch: 1,
      groupInstanceId: null,
      processId: 'p',
      endpoint: null,
      tags: {},
      assignment,
      target: assignment,
    },
  ],
};

/** A member whose looks at the group fail so, and then don't. */
async function lookingWith(...failures: readonly MillraceError[]): Promise<readonly string[]> {
  const log: string[] = [];
  let looks = 0;
  const timers: { at: number; run: () => void }[] = [];
  let now = 0;
  const admin: Partial<KafkaAdmin> = {
    describeStreamsGroup: async () => {
      const failure = failures[looks++];
      return failure === undefined ? Promise.resolve(described) : Promise.reject(failure);
    },
  };
  const port: Partial<KafkaPort> = {
    admin: admin as KafkaAdmin,
    findCoordinator: async () => Promise.resolve(1),
    streamsGroupHeartbeat: async (_, { memberEpoch }) => Promise.resolve({ ...heard, assignment: memberEpoch === 0 ? assignment : null }),
  };
  const member = new StreamsGroupMember(port as KafkaPort, {
    groupId: 'g',
    memberId: 'm',
    groupInstanceId: null,
    processId: 'p',
    topology: { epoch: 0, subTopologies: [] },
    rebalanceTimeoutMs: 60_000,
    applicationServer: null,
    tags: {},
    shutsDown: () => false,
    transactionalIdOf: (id) => id,
    random: () => 0.5,
    logger: silentLogger,
    clock: {
      now: () => now,
      setTimer: (run, delayMs) => {
        const timer = { at: now + delayMs, run };
        timers.push(timer);
        return () => void timers.splice(timers.indexOf(timer), timers.includes(timer) ? 1 : 0);
      },
    },
    onAssigned: (_, added) => {
      if (added.length > 0) log.push(`assigned ${added.length}`);
    },
    onGroup: ({ members }) => void log.push(`group of ${members.length}`),
    onRevoked: () => undefined,
    onLost: (tasks) => void log.push(`lost ${tasks.length}`),
    onFatal: (error) => void log.push(`fatal ${error instanceof MillraceError ? error.code : String(error)}`),
  });
  void member.start();
  // A minute of heartbeats and looks.
  while (now < 60_000) {
    for (let j = 0; j < 5; j++) await new Promise((resolve) => setImmediate(resolve));
    const next = timers.toSorted((a, b) => a.at - b.at)[0];
    if (next === undefined) break;
    timers.splice(timers.indexOf(next), 1);
    now = Math.max(now, next.at);
    next.run();
  }
  return log;
}

describe('a member of a streams group that looks at the group', () => {
  it('looks again when the coordinator, which loads its groups, refuses to describe it: the app ended', async () => {
    const loading = new MillraceError('MILL_BROKER_ERROR', 'Describing group g failed with COORDINATOR_LOAD_IN_PROGRESS (14).');
    expect(await lookingWith(loading, loading, loading)).toEqual(['assigned 1', 'group of 1']);
  });

  it('ends when it is not allowed to', async () => {
    const forbidden = new MillraceError('MILL_AUTHORIZATION', 'Not allowed: Describing group g.');
    expect(await lookingWith(forbidden)).toEqual(['assigned 1', 'lost 1', 'fatal MILL_AUTHORIZATION']);
  });
});
