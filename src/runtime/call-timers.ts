import type { CallEvent, CallPort } from '../processors/async/call-attempts.js';
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
      if (what === 'call') metrics.asyncCallsInFlight++;
      else if (what === 'end') metrics.asyncCallsInFlight--;
      const counter = counters[what];
      if (counter !== undefined) metrics[counter]++;
    },
  };
}

const counters = {
  call: 'asyncCalls',
  retry: 'asyncRetries',
  timeout: 'asyncTimeouts',
  hit: 'lookupHits',
  missingHit: 'lookupMissingHits',
  miss: 'lookupMisses',
  expired: 'lookupExpired',
  shared: 'lookupShared',
  end: undefined,
} as const satisfies Record<CallEvent, keyof TaskMetrics | undefined>;

function after(ms: number, run: () => void): Cancellable {
  const timer = setTimeout(run, ms);
  return {
    cancel: () => {
      clearTimeout(timer);
    },
  };
}
