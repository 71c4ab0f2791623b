import { fork } from 'node:child_process';
import type { ScheduleResult } from '../../test/simulation/schedule.js';
import type { Variant } from '../../test/simulation/variant.js';
import { compileWorker } from './compiled-worker.js';

export type SeedResult = Omit<ScheduleResult, 'log'>;

export interface Task {
  readonly seed: number;
  readonly options: Variant;
}

/**
 * Most of what a schedule allocates is garbage before its next step: with room for it, little of it is looked at. A worker for each core collects its garbage by itself: threads that help
 * it and wait for each other take more than they save. Nothing is made where old objects live: they outlast their schedule, and hold what it made after them.
 */
const execArgv = ['--min-semi-space-size=64', '--max-semi-space-size=64', '--single-threaded-gc', '--no-allocation-site-pretenuring'];

/** What a schedule leaves behind, compiled code for the most part, is 3 to 5 kB; a new process takes hundreds of schedules to get fast. */
const schedulesPerProcess = 50_000;

/** Runs schedules on several processes, each seed as the variant that it has, until the signal is given; a process that dies makes it reject. */
export async function runSeeds(
  { from, count }: { readonly from: number; readonly count: number },
  variantOf: (seed: number) => Variant,
  processes: number,
  signal: AbortSignal,
  onResult: (result: SeedResult) => void,
): Promise<void> {
  const worker = await compileWorker();
  let next = from;
  const isOver = (): boolean => next === from + count || signal.aborted;
  const runProcess = (): Promise<void> =>
    new Promise((resolve, reject) => {
      // A group of its own: Ctrl-C is for the parent, which lets it end the schedule that it runs.
      const child = fork(worker, { execArgv, detached: true });
      let seed = -1;
      let isDone = false;
      let left = schedulesPerProcess;
      const give = (): void => {
        if (isOver() || left-- === 0) {
          isDone = true;
          child.kill();
          return;
        }
        seed = next++;
        child.send({ seed, options: variantOf(seed) } satisfies Task);
      };
      child.on('message', (result: SeedResult) => {
        onResult(result);
        give();
      });
      child.once('error', reject);
      child.once('exit', (code, signal) => {
        if (isDone) resolve();
        else reject(new Error(`the process that ran seed ${seed} ended with ${code ?? signal}`));
      });
      give();
    });
  const work = async (): Promise<void> => {
    while (!isOver()) await runProcess();
  };
  await Promise.all(Array.from({ length: Math.min(processes, count) }, work));
}
