import { describe, expect, it } from '@jest/globals';
import { GroupMachine } from '../../src/rebalance/group-machine.js';
import type { GroupCommand, GroupEvent } from '../../src/rebalance/group-protocol.js';
import { emptyAssignment } from '../../src/rebalance/member-assignment.js';
import { formatTaskId, parseTaskId } from '../../src/rebalance/task-id.js';

type Command<K extends GroupCommand['kind']> = Extract<GroupCommand, { kind: K }>;

/** A machine and the commands of its last event. */
class Driver {
  readonly machine: GroupMachine;
  now = 1000;
  last: readonly GroupCommand[] = [];

  constructor(config: { previousMemberId?: string; groupInstanceId?: string } = {}) {
    const { previousMemberId = '', groupInstanceId = null } = config;
    this.machine = new GroupMachine({
      sessionTimeoutMs: 10_000,
      heartbeatIntervalMs: 3000,
      rebalanceTimeoutMs: 60_000,
      groupInstanceId,
      previousMemberId,
      random: () => 0.5,
    });
  }

  tell(event: GroupEvent): this {
    this.last = this.machine.handle(event, this.now);
    return this;
  }

  wait(ms: number): this {
    this.now += ms;
    return this.tell({ kind: 'tick' });
  }

  kinds(): string[] {
    return this.last.map(({ kind }) => kind).filter((kind) => kind !== 'schedule');
  }

  get<K extends GroupCommand['kind']>(kind: K): Command<K> {
    const found = this.last.find((command): command is Command<K> => command.kind === kind);
    if (found === undefined) throw new Error(`no ${kind} among ${this.kinds().join(', ')}`);
    return found;
  }

  find(broker = 1): this {
    return this.tell({ kind: 'coordinatorFound', attempt: this.get('findCoordinator').attempt, broker });
  }

  joined(answer: { errorCode?: number; generation?: number; leader?: string; memberId?: string } = {}): this {
    const { errorCode = 0, generation = 1, leader = 'other', memberId = 'me' } = answer;
    return this.tell({
      kind: 'joinAnswered',
      attempt: this.get('join').attempt,
      answer: { errorCode, generation, leader, memberId, protocolName: 'millrace-v1' },
    });
  }

  synced(...tasks: readonly string[]): this {
    const assignment = { ...emptyAssignment, activeTasks: tasks.map(parseTaskId) };
    return this.tell({ kind: 'syncAnswered', attempt: this.get('sync').attempt, errorCode: 0, assignment });
  }

  /** As `synced`, in a group of two. */
  syncedBesideAnother(...tasks: readonly string[]): this {
    const member = { processId: 'p', thread: 0, applicationServer: null, tags: {}, activeTasks: [], standbyTasks: [] };
    const members = ['me', 'other'].map((memberId) => ({ ...member, memberId }));
    const assignment = { ...emptyAssignment, members, activeTasks: tasks.map(parseTaskId) };
    return this.tell({ kind: 'syncAnswered', attempt: this.get('sync').attempt, errorCode: 0, assignment });
  }

  /** As `synced`, with tasks still to be given up by somebody. */
  syncedForNow(...tasks: readonly string[]): this {
    const assignment = { ...emptyAssignment, activeTasks: tasks.map(parseTaskId), settled: false };
    return this.tell({ kind: 'syncAnswered', attempt: this.get('sync').attempt, errorCode: 0, assignment });
  }

  syncRefused(errorCode: number): this {
    return this.tell({ kind: 'syncAnswered', attempt: this.get('sync').attempt, errorCode, assignment: null });
  }

  /** Waits for the next heartbeat and answers it. */
  heartbeat(errorCode: number): this {
    this.wait(3000);
    return this.tell({ kind: 'heartbeatAnswered', attempt: this.get('heartbeat').attempt, errorCode });
  }

  /** Stable with these tasks in generation 1. */
  stable(...tasks: readonly string[]): this {
    return this.tell({ kind: 'start' })
      .find()
      .joined()
      .synced(...tasks);
  }

  owned(): string[] {
    return this.machine.ownedTasks.map(formatTaskId);
  }
}

describe('joining', () => {
  it('goes from the coordinator over join and sync to the tasks', () => {
    const driver = new Driver().tell({ kind: 'start' });
    expect(driver.kinds()).toEqual(['findCoordinator']);
    expect(driver.find().get('join')).toMatchObject({ memberId: '', claim: { tasks: [], generation: -1 } });
    expect(driver.joined().get('sync')).toMatchObject({ assignments: [] });
    expect(driver.synced('0_0').get('assigned')).toMatchObject({ added: [parseTaskId('0_0')], generation: 1 });
    expect(driver.machine).toMatchObject({ phase: 'stable', settled: true, generation: 1, memberId: 'me' });
  });

  it('asks the application for everybody’s assignment when it leads, heartbeating meanwhile', () => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined({ leader: 'me' });
    const { attempt } = driver.get('assign');
    expect(driver.wait(3000).kinds()).toEqual(['heartbeat']);
    const assignments = [{ memberId: 'me', assignment: Buffer.from('x') }];
    expect(driver.tell({ kind: 'assignmentsReady', attempt, assignments }).get('sync').assignments).toBe(assignments);
  });

  it('joins again at once under the id that it is told to use', () => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined({ errorCode: 79, memberId: 'given' });
    expect(driver.kinds()).toEqual(['memberIdChanged', 'join']);
    expect(driver.get('join').memberId).toBe('given');
  });

  it('takes the place of the member it was before a restart, or a new one when the group has forgotten it', () => {
    const driver = new Driver({ previousMemberId: 'before' }).tell({ kind: 'start' }).find();
    expect(driver.get('join').memberId).toBe('before');
    expect(driver.joined({ errorCode: 25 }).get('join').memberId).toBe('');
  });

  it.each([14, 27, 7, -1])('tries again after a pause when the answer is %i', (errorCode) => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined({ errorCode });
    expect(driver.get('retrying')).toMatchObject({ request: 'JoinGroup', errorCode, inMs: 100 });
    expect(driver.wait(99).kinds()).toEqual([]);
    expect(driver.wait(1).kinds()).toEqual(['join']);
  });

  it.each([15, 16])('looks for the coordinator again when the answer is %i', (errorCode) => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined({ errorCode }).wait(100);
    expect(driver.get('findCoordinator').refresh).toBe(true);
    expect(driver.find(2).get('join').broker).toBe(2);
  });

  it.each([23, 24, 26, 30, 81, 82, 35, 42, 9999])('gives up when the answer is %i', (errorCode) => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined({ errorCode });
    expect(driver.get('fatal')).toMatchObject({ request: 'JoinGroup', errorCode });
    expect(driver.machine.phase).toBe('failed');
    expect(driver.get('schedule').at).toBeNull();
  });

  it('tells every five seconds that it waits', () => {
    const driver = new Driver().tell({ kind: 'start' }).find();
    expect(driver.wait(5000).get('waiting')).toMatchObject({ phase: 'joining', forMs: 5000 });
    expect(driver.wait(1000).kinds()).toEqual([]);
    expect(driver.wait(4000).get('waiting')).toMatchObject({ forMs: 10_000 });
  });

  it('joins again with what it owns when the answer is lost', () => {
    const driver = new Driver().stable('0_0').tell({ kind: 'rejoinRequested' });
    driver.tell({ kind: 'transportFailed', attempt: driver.get('join').attempt }).wait(100);
    expect(driver.find().get('join')).toMatchObject({ memberId: 'me', claim: { tasks: [parseTaskId('0_0')], generation: 1 } });
  });
});

describe('a rebalance', () => {
  it('is joined when a heartbeat tells of it; kept tasks are not touched', () => {
    const driver = new Driver().stable('0_0', '0_1').heartbeat(27);
    expect(driver.kinds()).toEqual(['join']);
    expect(driver.get('join').claim).toMatchObject({ tasks: [parseTaskId('0_0'), parseTaskId('0_1')], generation: 1 });
    expect(driver.joined({ generation: 2 }).synced('0_0', '0_1', '0_2').kinds()).toEqual(['assigned']);
    expect(driver.get('assigned').added).toEqual([parseTaskId('0_2')]);
  });

  it('that takes tasks away waits for the application, then rejoins without them', () => {
    const driver = new Driver().stable('0_0', '0_1').heartbeat(27).joined({ generation: 2 }).synced('0_0', '0_2');
    expect(driver.kinds()).toEqual(['revoke']);
    expect(driver.get('revoke').tasks).toEqual([parseTaskId('0_1')]);
    expect(driver.owned()).toEqual(['0_0', '0_1']);
    const { revocation } = driver.get('revoke');
    expect(driver.wait(3000).kinds()).toEqual(['heartbeat']);
    expect(driver.tell({ kind: 'revocationDone', revocation }).kinds()).toEqual(['assigned', 'join']);
    expect(driver.get('join').claim.tasks.map(formatTaskId)).toEqual(['0_0', '0_2']);
  });

  it('that is to be followed by another one is asked for often, for half a minute at most', () => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined().syncedForNow('0_0');
    const beats = (): number => {
      let count = 0;
      for (let waited = 0; waited < 15_000; waited += 50) {
        if (!driver.wait(50).kinds().includes('heartbeat')) continue;
        count++;
        driver.tell({ kind: 'heartbeatAnswered', attempt: driver.get('heartbeat').attempt, errorCode: 0 });
      }
      return count;
    };
    expect([beats(), beats(), beats()]).toEqual([60, 60, 5]);
  });

  it('that leaves nothing to be done brings the usual heartbeats back', () => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined().syncedForNow('0_0').wait(250);
    driver.tell({ kind: 'heartbeatAnswered', attempt: driver.get('heartbeat').attempt, errorCode: 27 });
    driver.joined({ generation: 2 }).synced('0_0', '0_1');
    expect(driver.wait(2999).kinds()).toEqual([]);
    expect(driver.wait(1).kinds()).toEqual(['heartbeat']);
  });

  it('does not cut a revocation short', () => {
    const driver = new Driver().stable('0_0').heartbeat(27).joined({ generation: 2 }).synced();
    const { revocation } = driver.get('revoke');
    expect(driver.heartbeat(27).kinds()).toEqual([]);
    expect(driver.tell({ kind: 'revocationDone', revocation }).kinds()).toEqual(['assigned', 'join']);
  });

  it('that begins anew during sync is joined again with the same claim', () => {
    const driver = new Driver().stable('0_0').heartbeat(27).joined({ generation: 2 }).syncRefused(27);
    expect(driver.get('join').claim.tasks.map(formatTaskId)).toEqual(['0_0']);
  });

  it('that was asked for while another went on follows it', () => {
    const driver = new Driver().stable('0_0').heartbeat(27);
    const { attempt } = driver.get('join');
    driver.tell({ kind: 'rejoinRequested' });
    expect(driver.kinds()).toEqual([]);
    driver
      .tell({
        kind: 'joinAnswered',
        attempt,
        answer: { errorCode: 0, generation: 2, leader: 'x', memberId: 'me', protocolName: 'millrace-v1' },
      })
      .synced('0_0');
    expect(driver.kinds()).toEqual(['assigned', 'join']);
  });
});

describe('the generation that commits name', () => {
  const between = (config: ConstructorParameters<typeof Driver>[0]): Driver =>
    new Driver(config).stable('0_0').heartbeat(27).joined({ generation: 2 });

  it('is that of the join for a dynamic member', () => {
    expect(between({}).machine.commitGeneration).toBe(2);
  });

  it('is one whose assignment has come for a static member: others may be in a second one of that number', () => {
    const driver = between({ groupInstanceId: 'seat' });
    expect(driver.machine.commitGeneration).toBe(1);
    expect(driver.synced('0_0').machine.commitGeneration).toBe(2);
  });

  it('is that of the join for a static member that leaves, which waits for no assignment', () => {
    const driver = between({ groupInstanceId: 'seat' }).tell({ kind: 'leaveRequested', leaveGroup: null });
    expect(driver.machine.commitGeneration).toBe(2);
  });
});

describe('losing the membership', () => {
  it('by UNKNOWN_MEMBER_ID drops the tasks first, then joins as a new member', () => {
    const driver = new Driver().stable('0_0').heartbeat(25);
    expect(driver.kinds()).toEqual(['memberIdChanged', 'lost', 'join']);
    expect(driver.get('join')).toMatchObject({ memberId: '', claim: { tasks: [] } });
  });

  it('by ILLEGAL_GENERATION drops the tasks and keeps the id', () => {
    const driver = new Driver().stable('0_0').heartbeat(22);
    expect(driver.kinds()).toEqual(['lost', 'join']);
    expect(driver.get('join').memberId).toBe('me');
  });

  it.each([22, 25])('during sync (%i) drops the tasks', (errorCode) => {
    const driver = new Driver().stable('0_0').heartbeat(27).joined({ generation: 2 }).syncRefused(errorCode);
    expect(driver.kinds()).toContain('lost');
    expect(driver.get('join').claim.tasks).toEqual([]);
  });

  describe('by UNKNOWN_MEMBER_ID of a commit', () => {
    const forgotten = { kind: 'memberForgotten', memberId: 'me' } as const;

    it('drops the tasks and asks the group at once', () => {
      const driver = new Driver().stable('0_0').tell(forgotten);
      expect(driver.kinds()).toEqual(['lost', 'join']);
      expect(driver.get('join').claim.tasks).toEqual([]);
    });

    it('drops the tasks while a join is on its way, and waits for its answer', () => {
      const driver = new Driver().stable('0_0').heartbeat(27);
      const { attempt } = driver.get('join');
      expect(driver.tell(forgotten).kinds()).toEqual(['lost']);
      expect(driver.machine.ownedTasks).toEqual([]);
      expect(driver.tell(forgotten).kinds()).toEqual([]);
      driver.tell({ kind: 'transportFailed', attempt }).wait(1000).find();
      expect(driver.get('join').claim.tasks).toEqual([]);
    });

    it('means nothing to who has another id by now', () => {
      const driver = new Driver().stable('0_0').tell({ kind: 'memberForgotten', memberId: 'me before' });
      expect(driver.kinds()).toEqual([]);
      expect(driver.machine.ownedTasks.map(formatTaskId)).toEqual(['0_0']);
    });
  });

  // A static member is counted in although it has not joined; the leader gave its tasks to others, and its commit came after theirs.
  it('by a generation that went by without a static member drops the tasks, and joins again without them', () => {
    const driver = new Driver({ groupInstanceId: 'seat' }).stable('0_0', '0_1');
    driver.heartbeat(27).joined({ generation: 3 });
    expect(driver.kinds()).toEqual(['lost', 'join']);
    expect(driver.machine.ownedTasks).toEqual([]);
    expect(driver.get('join').claim.tasks).toEqual([]);
    driver.joined({ generation: 4 }).synced('0_1');
    expect(driver.get('assigned').added.map(formatTaskId)).toEqual(['0_1']);
    driver.heartbeat(27).joined({ generation: 5 });
    expect(driver.kinds()).not.toContain('lost');
  });

  // A join of its own that arrived late, with what it ran then, made the generation: what it ran since was given to others.
  it('by a generation that went by without a dynamic member, made by a join that arrived late, drops the tasks', () => {
    const driver = new Driver().stable('0_0', '0_1');
    driver.heartbeat(27).joined({ generation: 3 });
    expect(driver.kinds()).toEqual(['lost', 'join']);
    expect(driver.get('join').claim.tasks).toEqual([]);
  });

  it('by a generation that went by without it leaves a static member that goes nothing to commit', () => {
    const driver = new Driver({ groupInstanceId: 'seat' }).stable('0_0');
    driver.heartbeat(27);
    const { attempt } = driver.get('join');
    driver.tell({ kind: 'leaveRequested', leaveGroup: null });
    driver.tell({
      kind: 'joinAnswered',
      attempt,
      answer: { errorCode: 0, generation: 3, leader: 'other', memberId: 'me', protocolName: 'millrace-v1' },
    });
    expect(driver.kinds()).toEqual(['lost', 'left']);
  });

  // The coordinator forgot the generation that had no assignment yet, and gave its number to one that counted the member in: its tasks were given to others.
  it('by a generation whose number was given twice, the coordinator having been lost before its assignment, drops the tasks of a static member', () => {
    const driver = new Driver({ groupInstanceId: 'seat' }).stable('0_0').heartbeat(27).joined({ generation: 2 });
    driver
      .tell({ kind: 'transportFailed', attempt: driver.get('sync').attempt })
      .wait(1000)
      .find()
      .joined({ generation: 3 });
    expect(driver.kinds()).toEqual(['lost', 'join']);
  });

  it('is none when a static member is asked to join again before its assignment came, by the same coordinator', () => {
    const driver = new Driver({ groupInstanceId: 'seat' }).stable('0_0').heartbeat(27).joined({ generation: 2 });
    driver.syncRefused(27).joined({ generation: 3 });
    expect(driver.kinds()).toEqual(['sync']);
  });

  it('makes the end of a revocation meaningless', () => {
    const driver = new Driver().stable('0_0').heartbeat(27).joined({ generation: 2 }).synced();
    const { revocation } = driver.get('revoke');
    expect(driver.heartbeat(25).kinds()).toEqual(['memberIdChanged', 'lost', 'join']);
    expect(driver.tell({ kind: 'revocationDone', revocation }).kinds()).toEqual([]);
  });

  it('to another process with the same instance id is final', () => {
    const driver = new Driver({ groupInstanceId: 'one' }).stable('0_0').heartbeat(82);
    expect(driver.kinds()).toEqual(['lost', 'fatal']);
  });

  it('leaves the generation as it was, so that the broker refuses what still bears it', () => {
    expect(new Driver().stable('0_0').heartbeat(22).machine.generation).toBe(1);
  });
});

describe('the session', () => {
  it('is in doubt once no heartbeat has been answered for its timeout; a check then drops the tasks', () => {
    const driver = new Driver().stable('0_0');
    driver.now += 10_000;
    expect(driver.tell({ kind: 'sessionChecked' }).kinds()).toEqual([]);
    driver.now += 1;
    expect(driver.tell({ kind: 'sessionChecked' }).kinds()).toEqual(['lost', 'join']);
  });

  it('counts from when the heartbeat was sent, not from when its answer was read', () => {
    const driver = new Driver().stable('0_0').wait(3000);
    const { attempt } = driver.get('heartbeat');
    driver.now += 10_001;
    driver.tell({ kind: 'heartbeatAnswered', attempt, errorCode: 0 });
    expect(driver.machine.sessionDoubtful(driver.now)).toBe(true);
    expect(driver.wait(0).kinds()).toEqual(['heartbeat']);
  });

  it('survives a stop of the process when the broker still knows the member', () => {
    const driver = new Driver().stable('0_0').wait(30_000);
    expect(driver.kinds()).toEqual(['heartbeat']);
    driver.tell({ kind: 'heartbeatAnswered', attempt: driver.get('heartbeat').attempt, errorCode: 0 });
    expect(driver.machine.sessionDoubtful(driver.now)).toBe(false);
    expect(driver.owned()).toEqual(['0_0']);
  });

  it('goes on while a join is parked at the broker, unless the process stood still', () => {
    const driver = new Driver().stable('0_0').heartbeat(27);
    for (let i = 0; i < 10; i++) driver.wait(3000);
    expect(driver.machine.sessionDoubtful(driver.now)).toBe(false);
    driver.wait(11_000);
    expect(driver.tell({ kind: 'sessionChecked' }).kinds()).toEqual(['lost']);
  });

  it('goes on in the same generation at a new coordinator', () => {
    const driver = new Driver().stable('0_0').heartbeat(16);
    expect(driver.kinds()).toEqual(['retrying']);
    expect(driver.wait(100).find(2).get('heartbeat').broker).toBe(2);
    expect(driver.machine.phase).toBe('stable');
  });

  it('takes a heartbeat that hangs for one that failed', () => {
    const driver = new Driver().stable('0_0').wait(3000).wait(10_001);
    expect(driver.get('retrying')).toMatchObject({ request: 'Heartbeat' });
    expect(driver.wait(100).kinds()).toEqual(['findCoordinator']);
  });
});

describe('leaving', () => {
  it('gives up everything, then says goodbye', () => {
    const driver = new Driver().stable('0_0', '0_1').tell({ kind: 'leaveRequested', leaveGroup: null });
    expect(driver.get('revoke').tasks.map(formatTaskId)).toEqual(['0_0', '0_1']);
    driver.tell({ kind: 'revocationDone', revocation: driver.get('revoke').revocation });
    expect(driver.get('leave').memberId).toBe('me');
    expect(driver.tell({ kind: 'leaveAnswered', attempt: driver.get('leave').attempt, errorCode: 0 }).kinds()).toEqual(['left']);
  });

  describe('a group of several', () => {
    const begin = (): Driver => {
      const driver = new Driver().tell({ kind: 'start' }).find().joined().syncedBesideAnother('0_0', '0_1');
      return driver.tell({ kind: 'leaveRequested', leaveGroup: null });
    };

    it('asks for a last rebalance first, and gives up when the others know', () => {
      const driver = begin();
      expect(driver.kinds()).toEqual(['join']);
      expect(driver.get('join').claim).toMatchObject({ isLeaving: true, tasks: [parseTaskId('0_0'), parseTaskId('0_1')] });
      driver.joined({ generation: 2 }).syncedBesideAnother();
      expect(driver.get('revoke').tasks.map(formatTaskId)).toEqual(['0_0', '0_1']);
      driver.tell({ kind: 'revocationDone', revocation: driver.get('revoke').revocation });
      expect(driver.kinds()).toEqual(['leave']);
      expect(driver.tell({ kind: 'leaveAnswered', attempt: driver.get('leave').attempt, errorCode: 0 }).kinds()).toEqual(['left']);
    });

    it('does not wait for others that do not come, nor when it is told twice', () => {
      for (const driver of [begin().wait(6500), begin().tell({ kind: 'leaveRequested', leaveGroup: null })]) {
        expect(driver.get('revoke').tasks.map(formatTaskId)).toEqual(['0_0', '0_1']);
        driver.tell({ kind: 'revocationDone', revocation: driver.get('revoke').revocation });
        expect(driver.kinds()).toEqual(['leave']);
      }
    });

    it('waits no longer than whoever closes it can spare, and not at all when nothing runs any more', () => {
      const leave = (handoverMs: number): Driver =>
        new Driver()
          .tell({ kind: 'start' })
          .find()
          .joined()
          .syncedBesideAnother('0_0', '0_1')
          .tell({ kind: 'leaveRequested', leaveGroup: null, handoverMs });
      expect(leave(0).kinds()).toEqual(['revoke']);
      expect(leave(1000).wait(999).kinds()).toEqual([]);
      expect(leave(1000).wait(1000).kinds()).toEqual(['revoke']);
    });

    it('goes as ever when the leader does not know of handovers, or can’t assign', () => {
      const driver = begin().joined({ generation: 2 }).syncedBesideAnother('0_0', '0_1');
      expect(driver.kinds()).toEqual(['revoke']);
      driver.tell({ kind: 'revocationDone', revocation: driver.get('revoke').revocation });
      expect(driver.kinds()).toEqual(['leave']);
    });

    it('ends when the membership is lost meanwhile', () => {
      expect(begin().joined({ errorCode: 25 }).kinds()).toEqual(['memberIdChanged', 'lost', 'left']);
    });
  });

  it('does not ask twice for what is being given up already', () => {
    const driver = new Driver()
      .stable('0_0', '0_1')
      .heartbeat(27)
      .joined({ generation: 2 })
      .synced('0_0')
      .tell({ kind: 'leaveRequested', leaveGroup: null });
    expect(driver.get('revoke').tasks.map(formatTaskId)).toEqual(['0_0']);
    driver.tell({ kind: 'revocationDone', revocation: driver.get('revoke').revocation });
    expect(driver.kinds()).toEqual(['leave']);
  });

  it('during a join still learns the generation that the last commit needs', () => {
    const driver = new Driver().stable('0_0').heartbeat(27);
    const { attempt } = driver.get('join');
    const { revocation } = driver.tell({ kind: 'leaveRequested', leaveGroup: null }).get('revoke');
    driver.tell({
      kind: 'joinAnswered',
      attempt,
      answer: { errorCode: 0, generation: 2, leader: 'me', memberId: 'me', protocolName: 'millrace-v1' },
    });
    expect(driver.kinds()).toEqual([]);
    expect(driver.machine.generation).toBe(2);
    expect(driver.tell({ kind: 'revocationDone', revocation }).kinds()).toEqual(['leave']);
  });

  it('ends when the membership is lost meanwhile', () => {
    const driver = new Driver().stable('0_0').tell({ kind: 'leaveRequested', leaveGroup: null }).heartbeat(25);
    expect(driver.kinds()).toEqual(['memberIdChanged', 'lost', 'left']);
  });

  it('is silent for a static member', () => {
    const driver = new Driver({ groupInstanceId: 'one' }).stable().tell({ kind: 'leaveRequested', leaveGroup: null });
    expect(driver.kinds()).toEqual(['left']);
  });

  it('is said by a static member, and kept by a dynamic one, when they are told so', () => {
    const leaving = new Driver({ groupInstanceId: 'one' }).stable().tell({ kind: 'leaveRequested', leaveGroup: true });
    expect(leaving.kinds()).toEqual(['leave']);
    expect(new Driver().stable().tell({ kind: 'leaveRequested', leaveGroup: false }).kinds()).toEqual(['left']);
  });

  it('before the start, or when the answer does not come, just ends', () => {
    expect(new Driver().tell({ kind: 'leaveRequested', leaveGroup: null }).kinds()).toEqual(['left']);
    const driver = new Driver().stable().tell({ kind: 'leaveRequested', leaveGroup: null });
    expect(driver.tell({ kind: 'transportFailed', attempt: driver.get('leave').attempt }).kinds()).toEqual(['left']);
  });
});

describe('a follow-up rebalance', () => {
  // The member of an earlier process had joined late, under the id that this one took over: the leader waited for tasks that nobody ran.
  it('that does not come, nobody having anything to give up, is asked for after twice the time that owners have', () => {
    const driver = new Driver().tell({ kind: 'start' }).find().joined().syncedForNow('0_0');
    for (let waited = 0; waited < 120_000; waited += 3000) {
      driver.heartbeat(0);
      expect(driver.machine.phase).toBe('stable');
    }
    driver.wait(3000);
    expect(driver.get('join').claim.tasks.map(formatTaskId)).toEqual(['0_0']);
  });

  it('that is not known to come is asked for by nobody', () => {
    const driver = new Driver().stable('0_0');
    for (let waited = 0; waited < 600_000; waited += 3000) driver.heartbeat(0);
    expect(driver.machine.phase).toBe('stable');
  });
});
