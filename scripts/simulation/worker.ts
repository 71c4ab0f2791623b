/** Runs the schedules its parent names, one after the other. A process of its own, because a schedule takes over the globals for time and randomness. */
import { runSchedule } from '../../test/simulation/schedule.js';
import type { SeedResult, Task } from './pool.js';

// Errors are part of most schedules, and their stacks a part of the time; who fails is run again with them.
Error.stackTraceLimit = 0;

// Without its parent it has no reason to live.
process.on('disconnect', () => process.exit(1));

process.on('message', ({ seed, options }: Task) => {
  runSchedule(seed, options).then(
    ({ log: _log, ...result }) => process.send?.(result satisfies SeedResult, () => undefined),
    (error: unknown) => {
      console.error(`seed ${seed}:`, error);
      process.exit(1);
    },
  );
});
