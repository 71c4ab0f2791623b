import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { EpochMachine, type EpochCommand, type EpochEvent } from '../../src/transactions/epoch-machine.js';

const bounds = { commitInterval: 100, maxUncommittedBytes: () => 1000 };

/** A machine that was taken through `events`. */
function after(...events: readonly EpochEvent[]): EpochMachine {
  const machine = new EpochMachine(bounds, { now: 0 });
  for (const event of events) machine.on(event);
  return machine;
}

const progress = (bytes = 1, now = 0): EpochEvent => ({ kind: 'progress', bytes, now });
const tick = (now: number): EpochEvent => ({ kind: 'tick', now });
const sealed = (empty = false): EpochEvent => ({ kind: 'sealed', empty });
const committed = (now = 0): EpochEvent => ({ kind: 'committed', now });
const recovered = (now = 0): EpochEvent => ({ kind: 'recovered', now });
const checkpoint: EpochEvent = { kind: 'checkpoint' };
const failed: EpochEvent = { kind: 'failed' };
const commitRequested: EpochEvent = { kind: 'commitRequested' };

/** Phases and how to get there. */
const phases = {
  'filling, nothing done': [],
  'filling, something done': [progress()],
  sealing: [progress(), tick(100)],
  'one in flight, nothing done since': [progress(), tick(100), sealed()],
  'one in flight, something done since': [progress(), tick(100), sealed(), progress()],
  failed: [progress(), failed],
} as const satisfies { readonly [name: string]: readonly EpochEvent[] };
type Phase = keyof typeof phases;

describe('every event in every phase', () => {
  const seal: EpochCommand[] = [{ kind: 'seal', epoch: 1 }];
  const commit: EpochCommand[] = [{ kind: 'commit', epoch: 1 }];
  const answer: EpochCommand[] = [{ kind: 'checkpointed' }];
  const table: { readonly [P in Phase]: readonly (readonly [EpochEvent, readonly EpochCommand[]])[] } = {
    'filling, nothing done': [
      [progress(), []],
      [tick(1000), []],
      [commitRequested, []],
      [checkpoint, answer],
      [sealed(), []],
      [committed(), []],
      [failed, []],
      [recovered(), []],
    ],
    'filling, something done': [
      [progress(), []],
      [tick(99), []],
      [tick(100), seal],
      [commitRequested, []],
      [checkpoint, []],
      [sealed(), []],
      [committed(), []],
      [failed, []],
    ],
    sealing: [
      [tick(1000), []],
      [commitRequested, []],
      [checkpoint, []],
      [sealed(), commit],
      [sealed(true), []],
      [committed(), []],
      [failed, []],
    ],
    'one in flight, nothing done since': [
      [tick(1000), []],
      [checkpoint, []],
      [sealed(), []],
      [committed(), []],
      [failed, []],
    ],
    'one in flight, something done since': [
      [tick(1000), []],
      [checkpoint, []],
      [sealed(), []],
      [committed(), []],
      [failed, []],
    ],
    failed: [
      [progress(), []],
      [tick(1000), []],
      [commitRequested, []],
      [checkpoint, answer],
      [sealed(), []],
      [sealed(true), []],
      [committed(), []],
      [failed, []],
      [recovered(), []],
    ],
  };
  const rows = (Object.keys(phases) as Phase[]).flatMap((phase) => table[phase].map(([event, commands]) => ({ phase, event, commands })));
  it.each(rows)('$phase: $event → $commands', ({ phase, event, commands }) => {
    expect(after(...phases[phase]).on(event)).toEqual(commands);
  });
});

describe('a barrier', () => {
  it('comes after the commit interval, counted from the one before', () => {
    const machine = after(progress(), tick(100), sealed(), committed(130), progress());
    expect(machine.nextBarrier()).toBe(200);
    expect(machine.on(tick(199))).toEqual([]);
    expect(machine.on(tick(200))).toEqual([{ kind: 'seal', epoch: 2 }]);
  });

  it('comes early when a user asks, or the bytes pass their bound', () => {
    expect(after(progress(), commitRequested).on(tick(1))).toHaveLength(1);
    expect(after(progress(1000)).on(tick(1))).toHaveLength(1);
    expect(after(progress(999)).on(tick(1))).toEqual([]);
  });

  it('asked for before anything was done comes with the first thing that is', () => {
    const machine = after(commitRequested);
    expect(machine.on(tick(1))).toEqual([]);
    machine.on(progress());
    expect(machine.on(tick(2))).toHaveLength(1);
  });

  it('of an empty epoch commits nothing and keeps the number', () => {
    const machine = after(progress(), tick(100));
    expect(machine.on(sealed(true))).toEqual([]);
    expect(machine.epoch).toBe(1);
    expect(machine.mayProcess).toBe(true);
  });

  it('is not planned while one is in flight, or with nothing to commit', () => {
    expect(after().nextBarrier()).toBeNull();
    expect(after(...phases['one in flight, something done since']).nextBarrier()).toBeNull();
  });
});

describe('processing', () => {
  it('stands still while a barrier is under way and after a failure', () => {
    expect(after().mayProcess).toBe(true);
    expect(after(...phases.sealing).mayProcess).toBe(false);
    expect(after(...phases.failed).mayProcess).toBe(false);
    expect(after(...phases.failed, recovered()).mayProcess).toBe(true);
  });

  it('goes on while an epoch is in flight, up to the byte bound', () => {
    const machine = after(...phases['one in flight, nothing done since']);
    expect(machine.mayProcess).toBe(true);
    machine.on(progress(1000));
    expect(machine.mayProcess).toBe(false);
    machine.on(committed());
    expect(machine.mayProcess).toBe(true);
  });
});

describe('a checkpoint', () => {
  it('is answered by the commit of what was done before it', () => {
    const machine = after(progress(), checkpoint);
    expect(machine.on(tick(0))).toEqual([{ kind: 'seal', epoch: 1 }]);
    machine.on(sealed());
    expect(machine.on(committed())).toEqual([{ kind: 'checkpointed' }]);
  });

  it('waits for the epoch in flight alone when nothing was done since', () => {
    expect(after(...phases['one in flight, nothing done since'], checkpoint).on(committed())).toEqual([{ kind: 'checkpointed' }]);
  });

  it('waits for both when something was', () => {
    const machine = after(...phases['one in flight, something done since'], checkpoint);
    expect(machine.on(committed())).toEqual([]);
    expect(machine.on(tick(101))).toEqual([{ kind: 'seal', epoch: 2 }]);
    machine.on(sealed());
    expect(machine.on(committed())).toEqual([{ kind: 'checkpointed' }]);
  });

  it('is answered by a failure: nothing uncommitted survives one', () => {
    const machine = after(progress(), checkpoint);
    expect(machine.on(failed)).toEqual([{ kind: 'checkpointed' }]);
    expect(machine.on(recovered())).toEqual([]);
  });

  it('is answered by a barrier that found nothing', () => {
    expect(after(progress(), checkpoint, tick(0)).on(sealed(true))).toEqual([{ kind: 'checkpointed' }]);
  });
});

describe('a task that is opened with something to commit', () => {
  it('during a barrier belongs to the next epoch', () => {
    const machine = after(progress(), tick(100), progress(), sealed());
    expect(machine.nextBarrier()).toBeNull();
    machine.on(committed());
    expect(machine.nextBarrier()).toBe(200);
    machine.on(tick(200));
    machine.on(sealed());
    machine.on(committed());
    expect(machine.nextBarrier()).toBeNull();
  });

  it('during a barrier is waited for by a checkpoint', () => {
    const machine = after(progress(), tick(100), progress(), checkpoint);
    machine.on(sealed());
    expect(machine.on(committed())).toEqual([]);
    expect(machine.on(tick(101))).toEqual([{ kind: 'seal', epoch: 2 }]);
    machine.on(sealed());
    expect(machine.on(committed())).toEqual([{ kind: 'checkpointed' }]);
  });

  it('during a barrier that finds nothing is waited for all the same', () => {
    const machine = after(progress(), tick(100), progress(), checkpoint);
    expect(machine.on(sealed(true))).toEqual([]);
    expect(machine.on(tick(101))).toEqual([{ kind: 'seal', epoch: 1 }]);
    machine.on(sealed());
    expect(machine.on(committed())).toEqual([{ kind: 'checkpointed' }]);
  });

  it('during a barrier is forgotten with a failure', () => {
    expect(after(progress(), tick(100), progress(), failed, recovered()).nextBarrier()).toBeNull();
  });
});

describe('a failure', () => {
  it('is followed by an epoch with a new number', () => {
    const machine = after(...phases['one in flight, nothing done since'], failed);
    expect(machine.isFailed).toBe(true);
    machine.on(recovered(500));
    expect(machine.epoch).toBe(3);
    machine.on(progress());
    expect(machine.nextBarrier()).toBe(600);
  });
});

describe('how late a barrier begins', () => {
  const delay = (...events: readonly EpochEvent[]): number => after(...events).startDelay;

  it('counts from the end of the interval', () => {
    expect(delay(progress(1, 10), tick(100))).toBe(0);
    expect(delay(progress(1, 10), tick(130))).toBe(30);
  });

  it('counts from when there was something to commit, if that came later', () => {
    expect(delay(tick(500), progress(1, 740), tick(745))).toBe(5);
    expect(delay(progress(1, 10), tick(100), sealed(), committed(120), progress(1, 740), tick(745))).toBe(5);
  });

  it('counts from when the bytes reached their bound, or a commit was asked for', () => {
    expect(delay(progress(1000, 20), tick(25))).toBe(5);
    expect(delay(progress(1, 10), commitRequested, progress(1, 20), progress(1, 22), tick(26))).toBe(6);
    expect(delay(progress(1, 10), commitRequested, tick(26))).toBe(0);
  });

  it('counts the wait for the commit before it', () => {
    const waiting = [progress(1, 10), tick(100), sealed(), progress(1, 110), tick(210)] as const;
    expect(delay(...waiting, tick(300), committed(340), tick(345))).toBe(145);
    expect(delay(...waiting.slice(0, 3), progress(1000, 110), tick(210), committed(215), tick(216))).toBe(106);
  });

  it('begins anew for what came during a barrier, and after a failure', () => {
    expect(delay(progress(1, 10), tick(100), progress(1, 150), sealed(), committed(160), tick(220))).toBe(20);
    expect(delay(progress(1000, 10), failed, recovered(500), progress(1, 510), tick(600))).toBe(0);
  });
});

describe('any schedule of events', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('work' as const), bytes: fc.integer({ min: 1, max: 600 }) }),
    fc.record({ kind: fc.constant('time' as const), ms: fc.integer({ min: 1, max: 120 }) }),
    fc.constantFrom(
      { kind: 'request' as const },
      { kind: 'open' as const },
      { kind: 'checkpoint' as const },
      { kind: 'endBarrier' as const },
      { kind: 'endCommit' as const },
      { kind: 'fail' as const },
      { kind: 'recover' as const },
    ),
  );

  it('has one epoch in flight at most, works on nothing while sealing, and answers every checkpoint once, after what it waited for', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
        const machine = new EpochMachine(bounds, { now: 0 });
        let now = 0;
        let bytes = 0;
        let done = 0;
        let safe = 0;
        let atBarrier = 0;
        const under: { sealing: number | null; commit: { readonly epoch: number; readonly upTo: number } | null } = {
          sealing: null,
          commit: null,
        };
        let waiting: number[] = [];
        const carryOut = (commands: readonly EpochCommand[]): void => {
          for (const command of commands) {
            if (command.kind === 'seal') {
              expect(under.sealing).toBeNull();
              expect(under.commit).toBeNull();
              expect(machine.isFailed).toBe(false);
              under.sealing = command.epoch;
              atBarrier = done;
            } else if (command.kind === 'commit') {
              expect(under.commit).toBeNull();
              under.commit = { epoch: command.epoch, upTo: atBarrier };
              bytes = 0;
            } else {
              expect(waiting.every((upTo) => upTo <= safe)).toBe(true);
              expect(waiting.length).toBeGreaterThan(0);
              waiting = [];
            }
          }
        };
        for (const next of steps) {
          if (next.kind === 'work' && machine.mayProcess) {
            expect(under.sealing).toBeNull();
            done++;
            bytes += next.bytes;
            carryOut(machine.on({ kind: 'progress', bytes, now }));
          } else if (next.kind === 'open' && !machine.isFailed) {
            done++;
            carryOut(machine.on({ kind: 'progress', bytes, now }));
          } else if (next.kind === 'time') {
            now += next.ms;
            carryOut(machine.on({ kind: 'tick', now }));
          } else if (next.kind === 'request') {
            carryOut(machine.on({ kind: 'commitRequested' }));
          } else if (next.kind === 'checkpoint') {
            waiting.push(done);
            carryOut(machine.on({ kind: 'checkpoint' }));
          } else if (next.kind === 'endBarrier' && under.sealing !== null) {
            under.sealing = null;
            carryOut(machine.on({ kind: 'sealed', empty: atBarrier === safe }));
          } else if (next.kind === 'endCommit' && under.commit !== null) {
            safe = under.commit.upTo;
            under.commit = null;
            carryOut(machine.on({ kind: 'committed', now }));
          } else if (next.kind === 'fail') {
            under.sealing = null;
            under.commit = null;
            bytes = 0;
            // What is lost counts as answered for: nobody can wait for it.
            safe = done;
            carryOut(machine.on({ kind: 'failed' }));
          } else if (next.kind === 'recover' && machine.isFailed) {
            carryOut(machine.on({ kind: 'recovered', now }));
          }
        }
        // Left alone, it comes to rest with everything committed and everybody answered.
        if (machine.isFailed) carryOut(machine.on({ kind: 'recovered', now }));
        for (let i = 0; i < 4; i++) {
          carryOut(machine.on({ kind: 'tick', now: (now += 1000) }));
          if (under.sealing !== null) {
            under.sealing = null;
            carryOut(machine.on({ kind: 'sealed', empty: atBarrier === safe }));
          }
          if (under.commit !== null) {
            safe = under.commit.upTo;
            under.commit = null;
            carryOut(machine.on({ kind: 'committed', now }));
          }
        }
        expect(waiting).toEqual([]);
        expect(safe).toBe(done);
      }),
      { numRuns: 500 },
    );
  });
});
