import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { TaskClaims, type Claim } from '../../../src/app/threads/task-claims.js';

const claim = (holder: number, ticket = 1, taskId = '0_0'): Claim => ({ taskId, holder, ticket });

/** Settled claims so far, in order. */
function watched(claims: TaskClaims): { readonly take: (claim: Claim) => void; readonly settled: string[] } {
  const settled: string[] = [];
  return {
    settled,
    take: (wanted) =>
      void claims.claim(wanted).then((granted) => settled.push(`${wanted.holder}.${wanted.ticket} ${granted ? 'has it' : 'gave up'}`)),
  };
}

const settle = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

describe('claims of threads on the folders of tasks', () => {
  it('are granted in the order they came, each when the one before is given back', async () => {
    const claims = new TaskClaims();
    const { take, settled } = watched(claims);
    take(claim(1));
    take(claim(2));
    take(claim(3));
    await settle();
    expect(settled).toEqual(['1.1 has it']);
    claims.release(claim(1));
    await settle();
    expect(settled).toEqual(['1.1 has it', '2.1 has it']);
    claims.release(claim(2));
    await settle();
    expect(settled).toEqual(['1.1 has it', '2.1 has it', '3.1 has it']);
  });

  it('let a thread open a task again only after its own last close', async () => {
    const claims = new TaskClaims();
    const { take, settled } = watched(claims);
    take(claim(1, 1));
    take(claim(1, 2));
    await settle();
    expect(settled).toEqual(['1.1 has it']);
    claims.release(claim(1, 1));
    await settle();
    expect(settled).toEqual(['1.1 has it', '1.2 has it']);
  });

  it('that are given back before they are granted are settled as such, and pass the folder by', async () => {
    const claims = new TaskClaims();
    const { take, settled } = watched(claims);
    take(claim(1));
    take(claim(2));
    take(claim(3));
    await settle();
    claims.release(claim(2));
    claims.release(claim(1));
    await settle();
    expect(settled).toEqual(['1.1 has it', '2.1 gave up', '3.1 has it']);
  });

  it('of a thread that died go to those that wait', async () => {
    const granted: Claim[] = [];
    const claims = new TaskClaims((given) => granted.push(given));
    const { take, settled } = watched(claims);
    take(claim(1, 1, '0_0'));
    take(claim(1, 2, '0_1'));
    take(claim(2, 1, '0_0'));
    take(claim(1, 3, '0_0'));
    await settle();
    claims.ended(1);
    await settle();
    expect(settled).toEqual(['1.1 has it', '1.2 has it', '1.3 gave up', '2.1 has it']);
    expect(granted.map(({ holder, taskId }) => `${holder} ${taskId}`)).toEqual(['1 0_0', '1 0_1', '2 0_0']);
  });

  it('wait while folders are being deleted', async () => {
    const claims = new TaskClaims();
    const { take, settled } = watched(claims);
    take(claim(1));
    await settle();
    let finish: () => void = () => undefined;
    const deleting = claims.alone(async (inUse) => {
      await new Promise<void>((resolve) => (finish = resolve));
      return [...inUse];
    });
    take(claim(2, 1, '0_1'));
    await settle();
    expect(settled).toEqual(['1.1 has it']);
    finish();
    expect(await deleting).toEqual(['0_0']);
    await settle();
    expect(settled).toEqual(['1.1 has it', '2.1 has it']);
  });

  it('that are given back, or whose thread dies, while folders are being deleted are granted to nobody afterwards', async () => {
    const claims = new TaskClaims();
    const { take, settled } = watched(claims);
    let finish: () => void = () => undefined;
    const deleting = claims.alone(() => new Promise<void>((resolve) => (finish = resolve)));
    await settle();
    take(claim(1, 1));
    take(claim(2, 1));
    take(claim(3, 1));
    claims.release(claim(1, 1));
    claims.ended(2);
    take(claim(1, 2));
    await settle();
    expect(settled).toEqual(['1.1 gave up', '2.1 gave up']);
    finish();
    await deleting;
    await settle();
    expect(settled.slice(2)).toEqual(['3.1 has it']);
    claims.release(claim(3, 1));
    await settle();
    expect(settled.slice(3)).toEqual(['1.2 has it']);
  });

  it('pass a folder on only when nothing is being deleted any more', async () => {
    const claims = new TaskClaims();
    const { take, settled } = watched(claims);
    take(claim(1));
    take(claim(2));
    await settle();
    const finishers: (() => void)[] = [];
    const works = [1, 2].map(() => claims.alone(() => new Promise<void>((resolve) => finishers.push(resolve))));
    await settle();
    claims.release(claim(1));
    await settle();
    finishers[0]!();
    await works[0];
    await settle();
    expect(settled).toEqual(['1.1 has it']);
    finishers[1]!();
    await works[1];
    await settle();
    expect(settled).toEqual(['1.1 has it', '2.1 has it']);
  });

  it('never give a folder to two, and lose nobody, whatever the order', async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant('claim' as const), holder: fc.integer({ min: 1, max: 3 }), task: fc.integer({ min: 0, max: 1 }) }),
      fc.record({ kind: fc.constant('release' as const), which: fc.nat(20) }),
      fc.record({ kind: fc.constant('end' as const), holder: fc.integer({ min: 1, max: 3 }) }),
      fc.record({ kind: fc.constant('delete' as const) }),
      fc.record({ kind: fc.constant('deleted' as const) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const claims = new TaskClaims();
        const open = new Map<Claim, 'waits' | 'has it'>();
        const deleting: (() => void)[] = [];
        let ticket = 0;
        for (const one of steps) {
          if (one.kind === 'claim') {
            const wanted = claim(one.holder, ++ticket, `0_${one.task}`);
            open.set(wanted, 'waits');
            void claims.claim(wanted).then((granted) => {
              if (open.has(wanted)) expect(granted).toBe(true);
              if (granted && open.has(wanted)) open.set(wanted, 'has it');
            });
          } else if (one.kind === 'release') {
            const wanted = [...open.keys()][one.which];
            if (wanted === undefined) continue;
            open.delete(wanted);
            claims.release(wanted);
          } else if (one.kind === 'delete') {
            void claims.alone(() => new Promise<void>((resolve) => deleting.push(resolve)));
          } else if (one.kind === 'deleted') {
            deleting.shift()?.();
          } else {
            for (const wanted of open.keys()) if (wanted.holder === one.holder) open.delete(wanted);
            claims.ended(one.holder);
          }
          await settle();
          for (const task of ['0_0', '0_1']) {
            const here = [...open].filter(([{ taskId }]) => taskId === task);
            const holders = here.filter(([, state]) => state === 'has it').length;
            if (deleting.length > 0) expect(holders).toBeLessThanOrEqual(1);
            else expect(holders).toBe(here.length === 0 ? 0 : 1);
          }
        }
      }),
      { numRuns: 60 },
    );
  });
});
