import { describe, expect, it } from '@jest/globals';
import { StreamsStatus } from '../../src/kafka/streams-groups.js';
import { StreamsGroupMachine } from '../../src/rebalance/streams-group-machine.js';
import type {
  OwnPlace,
  StreamsGroupCommand,
  StreamsGroupEvent,
  StreamsHeartbeatAnswer,
} from '../../src/rebalance/streams-group-protocol.js';
import { formatTaskId, parseTaskId, type TaskId } from '../../src/rebalance/task-id.js';

type Command<K extends StreamsGroupCommand['kind']> = Extract<StreamsGroupCommand, { kind: K }>;

const setsOf = (active: readonly string[]) => ({ active: active.map(parseTaskId), standby: [], warmup: [] });
const names = (tasks: readonly TaskId[] | undefined) => tasks?.map(formatTaskId);

/** The group holds everything back. */
const delayed = [{ code: StreamsStatus.ASSIGNMENT_DELAYED, detail: 'later' }];

class Driver {
  readonly machine: StreamsGroupMachine;
  now = 1000;
  last: readonly StreamsGroupCommand[] = [];

  constructor(groupInstanceId: string | null = null) {
    this.machine = new StreamsGroupMachine({ groupInstanceId, random: () => 0.5 });
  }

  tell(event: StreamsGroupEvent): this {
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

  get<K extends StreamsGroupCommand['kind']>(kind: K): Command<K> {
    const found = this.last.find((command): command is Command<K> => command.kind === kind);
    if (found === undefined) throw new Error(`no ${kind} among ${this.kinds().join(', ')}`);
    return found;
  }

  find(): this {
    return this.tell({ kind: 'coordinatorFound', attempt: this.get('findCoordinator').attempt, broker: 1 });
  }

  answer(
    kind: 'join' | 'heartbeat' | 'leave',
    answer: Partial<Omit<StreamsHeartbeatAnswer, 'assignment'>> & { active?: readonly string[] } = {},
  ): this {
    const { active, ...rest } = answer;
    return this.tell({
      kind: 'heartbeatAnswered',
      attempt: this.get(kind).attempt,
      answer: {
        errorCode: 0,
        errorMessage: null,
        memberEpoch: 1,
        heartbeatIntervalMs: 5000,
        statuses: [],
        assignment: active === undefined ? null : setsOf(active),
        ...rest,
      },
    });
  }

  described(own: (Partial<OwnPlace> & { active: readonly string[] }) | null, groupSettled = true): this {
    const { attempt } = this.get('describe');
    const place = own === null ? null : { memberEpoch: 1, isSettled: true, ...own, assignment: setsOf(own.active) };
    return this.tell({ kind: 'described', attempt, own: place, groupSettled });
  }

  /** In epoch 1, with these tasks reported. */
  stable(...active: readonly string[]): this {
    this.tell({ kind: 'start' }).find().answer('join', { active });
    return this.answer('heartbeat');
  }
}

/** It runs 0_0; that it is to run 1_1 too came with the word that everything is held back. */
function toldWhileHeldBack(): Driver {
  return new Driver()
    .stable('0_0')
    .wait(5000)
    .answer('heartbeat', { active: ['0_0', '1_1'], statuses: delayed });
}

describe('a member of a streams group', () => {
  it('joins, runs what it is given and says so at once', () => {
    const driver = new Driver()
      .tell({ kind: 'start' })
      .find()
      .answer('join', { active: ['0_0', '0_1'] });
    expect(names(driver.get('assigned').added)).toEqual(['0_0', '0_1']);
    expect(names(driver.get('heartbeat').owned?.active)).toEqual(['0_0', '0_1']);
    expect(driver.machine.epoch).toBe(1);
  });

  it('waits for an assignment while the group holds it back, and asks often', () => {
    const driver = new Driver().tell({ kind: 'start' }).find();
    driver.answer('join', { active: [], statuses: delayed });
    expect(driver.kinds()).not.toContain('assigned');
    driver.wait(500).answer('heartbeat', { memberEpoch: 2, active: ['0_0'] });
    expect(names(driver.get('assigned').added)).toEqual(['0_0']);
  });

  it('takes over what it was given while the group held everything back: tasks stayed with nobody when no answer after that one gave more', () => {
    const driver = toldWhileHeldBack();
    expect(driver.kinds()).not.toContain('assigned');
    expect(driver.machine.settled).toBe(false);
    driver.wait(500).answer('heartbeat');
    expect(names(driver.get('assigned').added)).toEqual(['1_1']);
  });

  it('takes over what a description told while the group held everything back', () => {
    const driver = new Driver().stable('0_0').wait(5000).answer('heartbeat', { statuses: delayed }).wait(5000);
    driver.tell({ kind: 'transportFailed', attempt: driver.get('heartbeat').attempt });
    driver
      .wait(1000)
      .find()
      .described({ memberEpoch: 2, active: ['0_0', '1_1'] });
    expect(driver.kinds()).toEqual(['heartbeat']);
    driver.answer('heartbeat', { memberEpoch: 2 });
    expect(names(driver.get('assigned').added)).toEqual(['1_1']);
  });

  it('says what it runs after a task was given while all was held back, and taken away: the group waited for its word until the rebalance timeout', () => {
    const driver = toldWhileHeldBack();
    driver.wait(500);
    expect(driver.get('heartbeat').owned).toBeNull();
    driver.answer('heartbeat', { active: ['0_0'] });
    expect(names(driver.get('heartbeat').owned?.active)).toEqual(['0_0']);
    driver.answer('heartbeat').wait(5000);
    expect(driver.get('heartbeat').owned).toBeNull();
  });

  it.each([
    ['has no answer', (driver: Driver) => driver.tell({ kind: 'transportFailed', attempt: driver.get('join').attempt })],
    ['is answered with a timeout', (driver: Driver) => driver.answer('join', { errorCode: 7 })],
  ])('as a static member, frees its place again when its join %s: it waited for itself until the session ended', (_what, fail) => {
    const driver = new Driver('first').tell({ kind: 'start' }).find().answer('leave');
    fail(driver).wait(1000);
    if (driver.kinds().includes('findCoordinator')) driver.find();
    expect(driver.kinds()).toContain('leave');
    driver.answer('leave').answer('join', { active: ['0_0'] });
    expect(names(driver.get('assigned').added)).toEqual(['0_0']);
  });

  it('asks again for a description that does not come, and is quiet until then: in doubt it sends no heartbeat', () => {
    const driver = new Driver().stable('0_0').wait(5000);
    driver
      .tell({ kind: 'transportFailed', attempt: driver.get('heartbeat').attempt })
      .wait(1000)
      .find();
    const first = driver.get('describe').attempt;
    let ticks = 0;
    const until = driver.now + 10_000;
    while (driver.now < until && (!driver.kinds().includes('describe') || driver.get('describe').attempt === first)) {
      driver.wait(Math.max(0, (driver.get('schedule').at ?? Infinity) - driver.now));
      ticks++;
    }
    expect(driver.get('describe').attempt).not.toBe(first);
    expect(ticks).toBeLessThan(20);
    driver.described({ active: ['0_0'] });
    expect(driver.kinds()).toContain('heartbeat');
  });

  it('counts the patience with each thing that the group lacks by itself', () => {
    const sources = [{ code: StreamsStatus.MISSING_SOURCE_TOPICS, detail: 'no input' }];
    const internal = [{ code: StreamsStatus.MISSING_INTERNAL_TOPICS, detail: 'no changelog' }];
    const driver = new Driver().stable('0_0').wait(5000).answer('heartbeat', { statuses: sources });
    for (let waited = 0; waited < 12_000; waited += 500) driver.wait(500).answer('heartbeat', { statuses: sources });
    for (let waited = 0; waited < 12_000; waited += 500) driver.wait(500).answer('heartbeat', { statuses: internal });
    expect(driver.machine.phase).toBe('stable');
  });

  it('gives up before it says so: a heartbeat meanwhile claims what still runs, the one after does not', () => {
    const driver = new Driver()
      .stable('0_0', '0_1')
      .wait(5000)
      .answer('heartbeat', { active: ['0_0'] });
    expect(names(driver.get('revoke').tasks)).toEqual(['0_1']);
    const { revocation } = driver.get('revoke');
    driver.wait(5000);
    expect(names(driver.machine.ownedTasks)).toEqual(['0_0', '0_1']);
    expect(driver.get('heartbeat').owned).toBeNull();
    driver.answer('heartbeat').tell({ kind: 'revocationDone', revocation });
    expect(names(driver.get('assigned').assignment.active)).toEqual(['0_0']);
    expect(names(driver.get('heartbeat').owned?.active)).toEqual(['0_0']);
    driver.answer('heartbeat', { memberEpoch: 2, active: ['0_0', '0_2'] });
    expect(names(driver.get('assigned').added)).toEqual(['0_2']);
  });

  it.each([25, 69, 110])('drops everything when the group has gone on without it (%i), before it joins again', (errorCode) => {
    const driver = new Driver().stable('0_0').wait(5000).answer('heartbeat', { errorCode });
    expect(driver.kinds()).toEqual(['lost', 'join']);
    expect(driver.machine.ownedTasks).toEqual([]);
  });

  it('reads what it was given when the answer that said so is lost', () => {
    const driver = new Driver().stable('0_0', '0_1').wait(5000);
    driver.tell({ kind: 'transportFailed', attempt: driver.get('heartbeat').attempt });
    expect(driver.kinds()).not.toContain('lost');
    driver.wait(1000).find();
    expect(driver.kinds()).toEqual(['describe']);
    driver.described({ memberEpoch: 1, active: ['0_0'], isSettled: false });
    expect(names(driver.get('revoke').tasks)).toEqual(['0_1']);
  });

  it('does not take a description for news that is older than its last heartbeat', () => {
    const driver = new Driver().stable('0_0').wait(1);
    const describe = driver.get('describe');
    driver.wait(500).answer('heartbeat', { memberEpoch: 2, active: ['0_0', '0_1'] });
    driver.tell({
      kind: 'described',
      attempt: describe.attempt,
      own: { memberEpoch: 1, assignment: setsOf(['0_0']), isSettled: true },
      groupSettled: true,
    });
    expect(names(driver.machine.ownedTasks)).toEqual(['0_0', '0_1']);
    expect(driver.machine.epoch).toBe(2);
  });

  it('fails with the broker’s word when the topology is not the group’s', () => {
    const driver = new Driver()
      .tell({ kind: 'start' })
      .find()
      .answer('join', { errorCode: 42, errorMessage: 'Topology updates are not supported yet.' });
    expect(driver.get('fatal')).toMatchObject({ errorCode: 42, message: 'Topology updates are not supported yet.' });
    expect(driver.machine.phase).toBe('failed');
  });

  it('gives missing topics a moment to turn up, and no more', () => {
    const statuses = [{ code: StreamsStatus.MISSING_SOURCE_TOPICS, detail: 'orders' }];
    const driver = new Driver().stable('0_0').wait(5000).answer('heartbeat', { statuses });
    expect(driver.kinds()).toEqual(['statusChanged']);
    for (let i = 0; i < 4; i++) driver.wait(5000).answer('heartbeat', { statuses });
    expect(driver.kinds()).toContain('unworkable');
  });

  it('leaves after everything is given up; a static member leaves its place', () => {
    for (const [instance, epoch] of [
      [null, -1],
      ['seat', -2],
    ] as const) {
      const driver = new Driver(instance).tell({ kind: 'start' }).find();
      if (instance !== null) driver.answer('leave', { errorCode: 25 });
      driver
        .answer('join', { active: ['0_0'] })
        .answer('heartbeat')
        .tell({ kind: 'leaveRequested', leaveGroup: null });
      driver.tell({ kind: 'revocationDone', revocation: driver.get('revoke').revocation });
      expect(driver.get('leave').epoch).toBe(epoch);
      driver.answer('leave');
      expect(driver.machine.phase).toBe('left');
    }
  });

  it('a static member frees the place of the process before it, and waits while another one has it', () => {
    const driver = new Driver('seat').tell({ kind: 'start' }).find();
    expect(driver.get('leave').epoch).toBe(-2);
    driver.answer('leave', { errorCode: 82 });
    driver.answer('join', { errorCode: 111 });
    expect(driver.get('retrying')).toMatchObject({ errorCode: 111 });
    driver.wait(2000);
    expect(driver.kinds()).toContain('join');
    driver.now += 100_000;
    driver.answer('join', { errorCode: 111 });
    expect(driver.machine.phase).toBe('failed');
  });

  it('stops when the application is to stop, and leaves for good: the order stands as long as the group has members', () => {
    const driver = new Driver('seat').tell({ kind: 'start' }).find().answer('leave', { errorCode: 25 });
    driver
      .answer('join', { active: ['0_0'] })
      .answer('heartbeat')
      .wait(5000);
    driver.answer('heartbeat', { statuses: [{ code: StreamsStatus.SHUTDOWN_APPLICATION, detail: 'asked for' }] });
    expect(driver.kinds()).toEqual(expect.arrayContaining(['lost', 'leave', 'unworkable']));
    expect(driver.get('leave').epoch).toBe(-1);
  });
});
