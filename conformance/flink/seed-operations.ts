/** The cases of `seed-examples.json` about running things: settings, what to look at, queues that are full. */
import { resolveConfig } from '../../src/app/config.js';
import { metricCatalogue, type MetricInfo } from '../../src/app/metric-catalogue.js';
import { ByteBudget } from '../../src/kafka/fetcher/byte-budget.js';
import { EpochMachine } from '../../src/transactions/epoch-machine.js';
import { list, number, text, type JsonObject } from '../case.js';
import { differs } from './shown.js';

const least = { applicationId: 'app', bootstrapServers: 'localhost:9092' };
const minuteMs = 60_000;

export const operationChecks: Readonly<Record<string, (value: JsonObject) => string[]>> = {
  /** `minPauseMs` and `tolerableFailures` have no counterpart: docs/Guides/coming-from-flink.md says what is there in their place. */
  'checkpoint-settings-example': (value) => {
    const [interval, timeout] = [number(value, 'intervalMs'), number(value, 'timeoutMs')];
    const config = resolveConfig({ ...least, commitInterval: interval, transactionTimeout: timeout, processingGuarantee: 'exactly_once' });
    const machine = new EpochMachine({ commitInterval: config.commitInterval, maxUncommittedBytes: () => Infinity }, { now: 0 });
    const barriers: number[] = [];
    let concurrent = 0;
    let most = 0;
    /** Each epoch is in flight for longer than the interval. */
    let endsAt = Infinity;
    for (let now = 0; now <= 10 * interval; now += 100) {
      if (now >= endsAt) {
        concurrent--;
        endsAt = Infinity;
        machine.on({ kind: 'committed', now });
      }
      machine.on({ kind: 'progress', bytes: 1, now });
      if (!machine.on({ kind: 'tick', now }).some(({ kind }) => kind === 'seal')) continue;
      barriers.push(now);
      machine.on({ kind: 'sealed', empty: false });
      most = Math.max(most, ++concurrent);
      endsAt = barriers.length === 1 ? now + 100 : now + 2.5 * interval;
    }
    return [
      ...differs('interval', interval, (barriers[1] ?? NaN) - (barriers[0] ?? NaN)),
      ...differs('mode', text(value, 'mode').toLowerCase(), config.processingGuarantee),
      ...differs('timeout', timeout, config.transactionTimeout),
      ...differs('concurrent', value.maxConcurrent, most),
    ];
  },
  'tuning-table': (value) => {
    const timeout = number(value, 'timeoutMin') * minuteMs;
    const settings = (list(value, 'intervalSec') as readonly number[]).map((seconds) => {
      const { commitInterval, transactionTimeout } = resolveConfig({
        ...least,
        commitInterval: seconds * 1000,
        transactionTimeout: timeout,
      });
      return [commitInterval / 1000, transactionTimeout];
    });
    const parts: readonly Readonly<Record<string, MetricInfo>>[] = Object.values(metricCatalogue);
    const names = new Set(parts.flatMap((part) => Object.values(part).flatMap(({ flink }) => flink ?? [])));
    const watched = ['busyTimeMsPerSecond', 'backPressuredTimeMsPerSecond', 'numberOfFailedCheckpoints', 'checkpointAlignmentTime'];
    return [
      ...differs(
        'settings',
        (list(value, 'intervalSec') as readonly number[]).map((seconds) => [seconds, timeout]),
        settings,
      ),
      ...differs(
        'metrics that are missing',
        [],
        watched.filter((name) => !names.has(name)),
      ),
    ];
  },
  'bounded-queue-model': (value) => {
    const [inputs, perStep] = [number(value, 'inputs'), number(value, 'perStep')];
    const capacity = number(value, 'queueCapacity');
    // The budget that bounds what fetches bring, with records of one byte.
    const budget = new ByteBudget(() => capacity, inputs, 1);
    const backlogPerStep: number[] = [];
    let [arrived, backlog, queued, consumed, steps, heldUp, maxSourceBacklog, mostQueued] = [0, 0, 0, 0, 0, 0, 0, 0];
    while (consumed < inputs) {
      steps++;
      const arrives = Math.min(perStep, inputs - arrived);
      arrived += arrives;
      backlog += arrives;
      while (backlog > 0) {
        const granted = budget.reserve(1, 1);
        if (granted === 0) break;
        budget.unreserve(granted);
        budget.buffer(1);
        backlog--;
        queued++;
      }
      if (arrives > 0) {
        if (backlog > 0) heldUp++;
        backlogPerStep.push(backlog);
      }
      maxSourceBacklog = Math.max(maxSourceBacklog, backlog);
      mostQueued = Math.max(mostQueued, queued);
      queued--;
      budget.release(1);
      consumed++;
    }
    const found = {
      backpressureStepsAmongArrivals: heldUp,
      maxSourceBacklog,
      backlogPerStep,
      consumed,
      dropped: arrived - consumed,
      totalSteps: steps,
    };
    return [...differs('model', value.expect, found), ...differs('queued at most', capacity, mostQueued)];
  },
};
