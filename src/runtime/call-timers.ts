import type { CallPort } from '../processors/async/call-attempts.js';
import type { Cancellable } from '../processors/operator.js';
import type { TaskMetrics } from './task-metrics.js';

/** Calls of asynchronous operators by the process's own timers. `wake` tells whoever runs the task that a call has ended. */
export function callTimers(metrics: TaskMetrics, wake: () => void): CallPort {
  return {
    pause: after,
    timeout: after,
    random: Math.random,
    wake,
    count: (what) => {
      if (what === 'call') metrics.asyncCalls++;
      else if (what === 'retry') metrics.asyncRetries++;
      else metrics.asyncTimeouts++;
    },
  };
}

function after(ms: number, run: () => void): Cancellable {
  const timer = setTimeout(run, ms);
  return {
    cancel: () => {
      clearTimeout(timer);
    },
  };
}
