import { afterEach, describe, expect, it, jest } from '@jest/globals';
import { MillraceError } from '../../src/errors.js';
import type { FetchedChunk } from '../../src/kafka/fetcher/fetched-chunk.js';
import { deferred } from './harness/task-rig.js';
import { aborted, broken, nothingProduced, ThreadRig } from './harness/thread-rig.js';

let rig: ThreadRig;
afterEach(async () => {
  await rig.thread.stop(false);
});

/** Whether a promise has settled by now. */
async function isDone(promise: Promise<unknown>): Promise<boolean> {
  let done = false;
  promise.then(
    () => (done = true),
    () => (done = true),
  );
  await rig.turns();
  return done;
}

describe('an epoch', () => {
  it('commits the positions of the tasks that did something, then tells them', async () => {
    rig = new ThreadRig();
    const [a, b] = await rig.running('0_0', '0_1');
    a?.takes(3);
    await rig.turns();
    expect(rig.commits).toEqual([]);
    await rig.turns(100);
    expect(rig.commits).toMatchObject([{ offsets: [{ topic: 'in-0_0', offset: 3 }], member: { generation: 7 } }]);
    expect(a?.committedEpochs).toEqual([]);
    rig.commits[0]?.answer.resolve(nothingProduced);
    await rig.turns();
    expect([a?.committedEpochs, b?.frozen]).toEqual([[1], []]);
  });

  it('names its number, its producer and the time reached in the metadata of the offsets', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.takes(1);
    await rig.turns(100);
    await rig.turns();
    expect(rig.commits[0]?.offsets[0]?.metadata).toBe('millrace1{"e":1,"p":1,"t":"app-x-0"}');
  });

  it('goes on being filled while the one before it is committed', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.takes(1);
    await rig.turns();
    await rig.turns(100);
    a?.takes(5);
    await rig.turns(100);
    expect(a?.offset).toBe(6);
    expect(rig.commits).toHaveLength(1);
    rig.commits[0]?.answer.resolve(nothingProduced);
    await rig.turns(1);
    expect(rig.commits.map(({ offsets }) => offsets[0]?.offset)).toEqual([1, 6]);
  });

  it('is not committed when the group no longer counts the member in', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    rig.session = 'lost';
    a?.takes(1);
    await rig.turns();
    await rig.turns(100);
    expect(rig.commits).toEqual([]);
    expect(a?.closed).toBe(false);
    expect(rig.inits).toHaveLength(1);
  });

  it('is not committed when the tasks are lost while the session is asked about, however good the next identity is', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    rig.sessionQuestions = deferred<'ok' | 'lost'>();
    a?.takes(1);
    await rig.turns();
    await rig.turns(100);
    rig.lose('0_0');
    rig.generation = 8;
    rig.sessionQuestions.resolve('ok');
    await rig.turns();
    expect(rig.commits).toEqual([]);
  });

  it('lets nothing of a task be committed whose record failed in the meantime', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    const gate = deferred();
    a?.work.push(() => {
      a.dirty = true;
      a.pending = gate.promise.then(() => {
        a.pending = null;
        a.failure = broken;
      });
      return 1;
    });
    await rig.turns();
    gate.resolve();
    await rig.turns(100);
    expect(a?.frozen).toEqual([]);
    expect(rig.errors.map(({ error }) => error)).toEqual([broken]);
  });
});

/** Of a task that has taken a record; not answered yet. */
async function firstCommit(): Promise<ThreadRig['commits'][0]> {
  rig = new ThreadRig();
  const [task] = await rig.running('0_0');
  task?.takes(1);
  await rig.turns();
  await rig.turns(100);
  const [commit] = rig.commits;
  if (commit === undefined) throw new Error('no commit');
  return commit;
}

describe('an offset commit that the group refuses for its generation', () => {
  const refused = async (): Promise<ReturnType<NonNullable<(typeof rig.commits)[0]['renew']>>> => {
    const commit = await firstCommit();
    return commit.renew?.(commit.member, 22) ?? null;
  };

  it('is sent again under the member’s next identity', async () => {
    const next = refused();
    rig.nextIdentity = async ({ generation }) => ({ ...rig.identity(), generation: generation + 1 });
    expect(await next).toMatchObject({ generation: 8 });
  });

  it('is given up when the tasks are lost', async () => {
    expect(await refused()).toBeNull();
  });

  it('is given up when the epoch was lost while it waited, even if the member has a new identity by then', async () => {
    const next = deferred<ReturnType<typeof rig.identity>>();
    const answer = refused();
    rig.nextIdentity = () => next.promise;
    await rig.turns();
    await rig.turns(100);
    rig.lose('0_0');
    next.resolve(rig.identity());
    expect(await answer).toBeNull();
  });
});

describe('an offset commit of a member that the group does not know', () => {
  const endsWith = async (brokerErrorCode: number, renewed: boolean): Promise<readonly number[]> => {
    const commit = await firstCommit();
    rig.nextIdentity = async ({ generation }) => ({ ...rig.identity(), generation: generation + 1 });
    if (renewed) await commit.renew?.(commit.member, 22);
    commit.answer.reject(new MillraceError('MILL_TRANSACTION_ABORTED', 'refused', { details: { memberFenced: true, brokerErrorCode } }));
    await rig.turns();
    await rig.thread.stop(false);
    return rig.refused.map(({ generation }) => generation);
  };

  it('tells the member so, with the identity that was refused', async () => {
    expect(await endsWith(25, false)).toEqual([7]);
  });

  it('tells it so with the last one, when the commit was sent again', async () => {
    expect(await endsWith(25, true)).toEqual([8]);
  });

  it('tells it nothing of other refusals', async () => {
    expect(await endsWith(22, false)).toEqual([]);
  });
});

describe('a revocation', () => {
  it('is answered after the commit of what its tasks did', async () => {
    rig = new ThreadRig();
    const [a, b] = await rig.running('0_0', '0_1');
    a?.takes(2);
    await rig.turns();
    const revoked = rig.revoke('0_0');
    expect(await isDone(revoked)).toBe(false);
    expect(rig.commits).toHaveLength(1);
    expect(a?.closed).toBeNull();
    rig.commits[0]?.answer.resolve(nothingProduced);
    await revoked;
    expect([a?.closed, b?.closed]).toEqual([true, null]);
    expect(rig.fetcherCalls).toContain('unassign in-0_0');
  });

  it('lets the task take nothing more, and the others go on', async () => {
    rig = new ThreadRig();
    const [a, b] = await rig.running('0_0', '0_1');
    a?.takes(1);
    await rig.turns();
    const revoked = rig.revoke('0_0');
    a?.takes(10);
    b?.takes(4);
    await rig.turns();
    rig.commits[0]?.answer.resolve(nothingProduced);
    await revoked;
    expect([a?.offset, b?.offset]).toEqual([1, 4]);
  });

  it('waits for a pending function, until the group takes the tasks away', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.work.push(() => {
      a.pending = new Promise(() => undefined);
      return 1;
    });
    await rig.turns();
    const revoked = rig.revoke('0_0');
    expect(await isDone(revoked)).toBe(false);
    rig.lose('0_0');
    expect(await isDone(revoked)).toBe(true);
    expect(a?.closed).toBe(false);
    expect(rig.commits).toEqual([]);
  });

  it('gives its tasks up without a commit when a function takes longer than the group waits', async () => {
    rig = new ThreadRig({ rebalanceTimeout: 30 });
    const [a, b] = await rig.running('0_0', '0_1');
    a?.takes(1);
    await rig.turns();
    b?.work.push(() => {
      b.pending = new Promise(() => undefined);
      return 1;
    });
    await rig.turns();
    await rig.revoke('0_0');
    await rig.turns();
    expect([a?.closed, b?.closed]).toEqual([false, false]);
    expect(rig.commits).toEqual([]);
    expect(rig.inits).toHaveLength(1);
    expect([...rig.thread.tasks.keys()]).toEqual(['0_1']);
    const inWork = [{ taskId: '0_1', topic: 'in-0_1', partition: 0, offset: 0 }];
    expect(rig.warnings).toMatchObject([
      { fields: { tasks: ['0_0'], inWork }, message: expect.stringContaining('record of in-0_1-0 at offset 0') },
      { fields: { tasks: ['0_0'], inWork }, message: expect.stringContaining('given up without a commit') },
      { message: 'the epoch was lost and is processed again' },
    ]);
  });

  it('whose commit does not come within that time has its tasks given up, and a late answer changes nothing', async () => {
    rig = new ThreadRig({ rebalanceTimeout: 30 });
    const [a] = await rig.running('0_0');
    a?.takes(1);
    await rig.turns();
    await rig.revoke('0_0');
    rig.commits[0]?.answer.resolve(nothingProduced);
    await rig.turns();
    expect([a?.closed, a?.committedEpochs]).toEqual([false, []]);
  });

  it('ends without a commit when the epoch fails', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.takes(1);
    await rig.turns();
    const revoked = rig.revoke('0_0');
    await rig.turns();
    rig.commits[0]?.answer.reject(aborted);
    await revoked;
    expect(a?.closed).toBe(false);
    expect(a?.committedEpochs).toEqual([]);
  });

  it('stops a task that is still being opened', async () => {
    rig = new ThreadRig();
    rig.openings.push(new Promise(() => undefined));
    rig.assign('0_0');
    await rig.turns();
    await rig.revoke('0_0');
    expect(rig.opened).toEqual([]);
    expect(rig.thread.isRunning).toBe(true);
  });

  it('closes a task whose opening could not be stopped any more: it never runs here', async () => {
    rig = new ThreadRig();
    rig.openingsHeedNoStop = true;
    const opening = deferred();
    rig.openings.push(opening.promise);
    rig.assign('0_0');
    await rig.turns();
    const revoked = rig.revoke('0_0');
    expect(await isDone(revoked)).toBe(false);
    opening.resolve();
    await revoked;
    expect(rig.opened.map(({ closed, runs }) => [closed, runs])).toEqual([[false, 0]]);
    expect([...rig.thread.tasks.keys()]).toEqual([]);
    expect(rig.fetcherCalls).not.toContainEqual(expect.stringContaining('assign'));
  });
});

describe('a lost task', () => {
  it('is closed without a commit, the producer starts anew, and what is still owned is opened from the last commit', async () => {
    rig = new ThreadRig();
    const [a, b] = await rig.running('0_0', '0_1');
    a?.takes(1);
    b?.takes(1);
    await rig.turns();
    rig.committedOffset = 40;
    rig.lose('0_0');
    await rig.turns();
    expect([a?.closed, b?.closed]).toEqual([false, false]);
    expect(rig.inits).toHaveLength(1);
    expect([...rig.thread.tasks.keys()]).toEqual(['0_1']);
    expect(rig.fetcherCalls.at(-1)).toBe('assign in-0_1@40');
  });

  it('whose commit comes through late changes nothing any more', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.takes(1);
    await rig.turns();
    await rig.turns(100);
    rig.lose('0_0');
    rig.commits[0]?.answer.resolve(nothingProduced);
    await rig.turns();
    expect(a?.committedEpochs).toEqual([]);
    expect(rig.metrics.epochs).toBe(0);
  });

  it('that nobody runs here is no failure', async () => {
    rig = new ThreadRig();
    await rig.running('0_0');
    rig.lose('0_7');
    await rig.turns();
    expect(rig.inits).toEqual([]);
  });
});

describe('a failure', () => {
  it('that recovery mends is not told to the app', async () => {
    rig = new ThreadRig();
    await rig.running('0_0');
    rig.thread.fail(aborted);
    await rig.turns();
    expect(rig.errors).toEqual([]);
    expect(rig.activity).toEqual(['rebalancing', 'running', 'rebalancing', 'running']);
  });

  it('that it does not stops everything until the app decides', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    rig.thread.fail(broken);
    const before = a?.runs;
    await rig.turns();
    expect(a?.runs).toBe(before);
    expect(a?.closed).toBeNull();
    rig.errors[0]?.restart(0);
    await rig.turns();
    expect(a?.closed).toBe(false);
    expect(rig.task('0_0').offset).toBe(0);
  });

  it('of the recovery itself is tried again, with the app’s consent where it has to be', async () => {
    rig = new ThreadRig();
    await rig.running('0_0');
    rig.initErrors.push(aborted, broken);
    rig.thread.fail(aborted);
    await waitUntil(() => rig.errors.length === 1);
    rig.errors[0]?.restart(0);
    await waitUntil(() => rig.thread.isRunning);
    expect(rig.inits).toHaveLength(3);
  });

  it('while opening a task is tried again when it passes, and told otherwise', async () => {
    rig = new ThreadRig();
    rig.openings.push(aborted);
    rig.assign('0_0');
    await waitUntil(() => rig.thread.isRunning);
    rig.openings.push(broken);
    rig.assign('0_1');
    await rig.turns();
    expect(rig.errors).toMatchObject([{ error: broken }]);
  });

  it('that comes again before a commit lets the tasks rest, longer each time; a commit ends that', async () => {
    const random = jest.spyOn(Math, 'random').mockReturnValue(0.5);
    rig = new ThreadRig();
    await rig.running('0_0');
    const failAndGoOn = async (): Promise<number> => {
      const at = performance.now();
      rig.thread.fail(aborted);
      await waitUntil(() => rig.thread.isRunning);
      return performance.now() - at;
    };
    await failAndGoOn();
    expect(rig.rests).toEqual([]);
    for (const pause of [100, 200, 400]) expect(await failAndGoOn()).toBeGreaterThan(pause - 10);
    rig.thread.committed();
    await failAndGoOn();
    expect(rig.rests).toEqual([100, 200, 400]);
    random.mockRestore();
  });

  it('that a handler wants tried again lets the tasks rest for as long as the answer says, however often it failed before', async () => {
    const retry = new MillraceError('MILL_RETRY', 'once more', { details: { retryInMs: 60 } });
    rig = new ThreadRig();
    await rig.running('0_0');
    for (let i = 0; i < 3; i++) {
      const at = performance.now();
      rig.thread.fail(retry);
      await waitUntil(() => rig.thread.isRunning);
      expect(performance.now() - at).toBeGreaterThan(50);
    }
    expect(rig.errors).toEqual([]);
  });

  it('at rest does not hold up a revocation', async () => {
    rig = new ThreadRig();
    await rig.running('0_0');
    for (let i = 0; i < 2; i++) {
      rig.thread.fail(aborted);
      await rig.turns();
    }
    expect(rig.thread.tasks.size).toBe(0);
    await rig.revoke('0_0');
    expect(rig.thread.isRunning).toBe(true);
  });
});

describe('the sleep of the loop', () => {
  it('does not turn into spinning while a due timer’s task is busy or given up', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a!.wakeUp = 0;
    a!.pending = new Promise(() => undefined);
    await rig.turns();
    const clock = jest.spyOn(globalThis, 'setTimeout');
    await rig.turns();
    const sleeps = clock.mock.calls.map(([, ms]) => ms ?? 0);
    clock.mockRestore();
    expect(sleeps.length).toBeLessThan(3);
    expect(sleeps.every((ms) => ms >= 500)).toBe(true);
  });
});

describe('a chunk', () => {
  it('for a partition that no task reads gives its room back', async () => {
    rig = new ThreadRig();
    rig.thread.receive({ topic: 'elsewhere', partition: 0, byteLength: 12 } as FetchedChunk);
    expect(rig.fetcherCalls).toContain('consumed 12');
  });
});

describe('stopping', () => {
  it('cleanly commits first', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.takes(1);
    await rig.turns();
    const stopped = rig.thread.stop(true);
    expect(await isDone(stopped)).toBe(false);
    rig.commits[0]?.answer.resolve(nothingProduced);
    await stopped;
    expect([a?.closed, a?.committedEpochs]).toEqual([true, [1]]);
    expect(rig.fetcherCalls.at(-1)).toBe('stop');
  });

  it('at once ends a clean stop that waits for a function without end', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    a?.work.push(() => {
      a.pending = new Promise(() => undefined);
      return 1;
    });
    await rig.turns();
    const clean = rig.thread.stop(true);
    expect(await isDone(clean)).toBe(false);
    await rig.thread.stop(false);
    await clean;
    expect(a?.closed).toBe(false);
    expect(rig.commits).toEqual([]);
  });

  it('at once ends a recovery that the app has not decided about', async () => {
    rig = new ThreadRig();
    await rig.running('0_0');
    rig.initErrors.push(broken);
    rig.thread.fail(aborted);
    await rig.turns();
    const revoked = rig.revoke('0_0');
    await rig.thread.stop(false);
    await revoked;
    expect(rig.errors).toHaveLength(1);
  });

  it('twice is the same as once', async () => {
    rig = new ThreadRig();
    const [a] = await rig.running('0_0');
    await Promise.all([rig.thread.stop(true), rig.thread.stop(true)]);
    expect(a?.closed).toBe(true);
  });

  it('closes what it can when a task fails to close, and says so', async () => {
    rig = new ThreadRig();
    const [a, b] = await rig.running('0_0', '0_1');
    a!.closing = Promise.reject(broken);
    await expect(rig.thread.stop(true)).rejects.toBe(broken);
    expect(b?.closed).toBe(true);
    expect(rig.fetcherCalls.at(-1)).toBe('stop');
  });
});

async function waitUntil(condition: () => boolean): Promise<void> {
  for (let i = 0; i < 500; i++) {
    if (condition()) return;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error('it never came to that');
}

describe('a disk that is slower than the tasks', () => {
  it('stops processing while more committed rows wait for it than may; barriers go on', async () => {
    rig = new ThreadRig({ maxUncommittedBytes: 1000 });
    const [a, b] = await rig.running('0_0', '0_1');
    a?.takes(1);
    await rig.turns();
    if (b !== undefined) b.dueBytes = 1001;
    await rig.turns();
    const [before, full] = [a?.runs, a?.fullFlushes ?? 0];
    a?.takes(1);
    await rig.turns(100);
    expect([a?.runs, a?.offset]).toEqual([before, 1]);
    expect(a?.fullFlushes).toBeGreaterThan(full);
    expect(rig.commits).toMatchObject([{ offsets: [{ offset: 1 }] }]);
    if (b !== undefined) b.dueBytes = 1000;
    await rig.turns();
    expect(a?.offset).toBe(2);
  });
});
