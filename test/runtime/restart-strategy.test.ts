import { readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import fc from 'fast-check';
import { restartFaults, restartStrategy } from '../../src/runtime/restart-options.js';
import {
  afterError,
  defaultRestart,
  noRestartsYet,
  type RestartDecision,
  type RestartHistory,
  type RestartOptions,
  type RestartStrategy,
} from '../../src/runtime/restart-strategy.js';

/** What follows errors at these times, ms; the jitter is in the middle, so there is none. */
function follow(options: RestartOptions, times: readonly number[], random = 0.5): readonly (number | 'gives up')[] {
  const strategy = restartStrategy(options);
  let history: RestartHistory = noRestartsYet;
  return times.map((now) => {
    const after = afterError(strategy, history, now, random);
    history = after.history;
    return after.decision.kind === 'restart' ? after.decision.delayMs : 'gives up';
  });
}

describe('the defaults', () => {
  it('are Flink’s', () => {
    const recorded = JSON.parse(readFileSync('conformance/cases/flink/config-defaults.json', 'utf8')) as {
      readonly RestartStrategyOptions: readonly { readonly key: string; readonly default: string }[];
    };
    const flink = new Map(recorded.RestartStrategyOptions.map(({ key, default: value }) => [key.replace('restart-strategy.', ''), value]));
    const duration = (ms: number): string =>
      ms % 3_600_000 === 0 ? `PT${ms / 3_600_000}H` : ms % 60_000 === 0 ? `PT${ms / 60_000}M` : `PT${ms / 1000}S`;
    const fixed = restartStrategy({ strategy: 'fixedDelay' }) as Extract<RestartStrategy, { strategy: 'fixedDelay' }>;
    const rate = restartStrategy({ strategy: 'failureRate' }) as Extract<RestartStrategy, { strategy: 'failureRate' }>;
    expect({
      'fixed-delay.attempts': String(fixed.attempts),
      'fixed-delay.delay': duration(fixed.delay),
      'failure-rate.max-failures-per-interval': String(rate.maxFailuresPerInterval),
      'failure-rate.failure-rate-interval': duration(rate.failureRateInterval),
      'failure-rate.delay': duration(rate.delay),
      'exponential-delay.initial-backoff': duration(defaultRestart.initialBackoff),
      'exponential-delay.max-backoff': duration(defaultRestart.maxBackoff),
      'exponential-delay.backoff-multiplier': String(defaultRestart.backoffMultiplier),
      'exponential-delay.reset-backoff-threshold': duration(defaultRestart.resetBackoffThreshold),
      'exponential-delay.jitter-factor': String(defaultRestart.jitterFactor),
    }).toEqual(
      Object.fromEntries(
        [...flink]
          .filter(([key, value]) => value !== 'null' && !key.endsWith('attempts-before-reset-backoff'))
          .map(([key, value]) => [key, value]),
      ),
    );
    // Flink's "no bound" is the largest int.
    expect([flink.get('exponential-delay.attempts-before-reset-backoff'), defaultRestart.attemptsBeforeResetBackoff].map(String)).toEqual([
      '2147483647',
      'Infinity',
    ]);
  });
});

describe('none', () => {
  it('gives up at once', () => {
    expect(follow({ strategy: 'none' }, [0])).toEqual(['gives up']);
  });
});

describe('fixedDelay', () => {
  it('restarts so often in the life of the app, however long it went well in between', () => {
    expect(follow({ strategy: 'fixedDelay' }, [0, 10 ** 9])).toEqual([1000, 'gives up']);
    expect(follow({ strategy: 'fixedDelay', attempts: 3, delay: 20 }, [0, 1, 10 ** 9, 10 ** 10])).toEqual([20, 20, 20, 'gives up']);
  });
});

describe('failureRate', () => {
  const options: RestartOptions = { strategy: 'failureRate', maxFailuresPerInterval: 2, failureRateInterval: 100, delay: 5 };

  it('restarts as long as there are no more errors within the interval', () => {
    expect(follow(options, [0, 50, 101, 151, 202])).toEqual([5, 5, 5, 5, 5]);
    expect(follow(options, [0, 50, 100])).toEqual([5, 5, 'gives up']);
  });
});

describe('exponentialDelay', () => {
  it('pauses longer each time, up to the bound', () => {
    expect(follow({ strategy: 'exponentialDelay', maxBackoff: 3000 }, [0, 1, 2, 3, 4])).toEqual([1000, 1500, 2250, 3000, 3000]);
  });

  it('begins anew after a quiet time, counted from the restart', () => {
    const options: RestartOptions = { strategy: 'exponentialDelay', initialBackoff: 10, resetBackoffThreshold: 100 };
    expect(follow(options, [0, 50, 50 + 15 + 99, 1000])).toEqual([10, 15, 23, 10]);
  });

  it('gives up after attemptsBeforeResetBackoff without one', () => {
    const options: RestartOptions = { strategy: 'exponentialDelay', attemptsBeforeResetBackoff: 2, resetBackoffThreshold: 100 };
    expect(follow(options, [0, 1000, 2000])).toEqual([1000, 1500, 'gives up']);
    expect(follow(options, [0, 2000, 2000 + 1500 + 100])).toEqual([1000, 1000, 1000]);
  });

  it('is off by the jitter at most', () => {
    const options: RestartOptions = { strategy: 'exponentialDelay', initialBackoff: 1000, backoffMultiplier: 2, jitterFactor: 0.1 };
    expect(follow(options, [0, 1], 0)).toEqual([1000, 1800]);
    expect(follow(options, [0, 1], 1)).toEqual([1100, 2200]);
  });
});

const milliseconds = fc.integer({ min: 1, max: 100_000 });
const anyOptions: fc.Arbitrary<RestartOptions> = fc.oneof(
  fc.record({ strategy: fc.constant('fixedDelay' as const), attempts: fc.integer({ min: 1, max: 10 }), delay: milliseconds }),
  fc.record({
    strategy: fc.constant('failureRate' as const),
    maxFailuresPerInterval: fc.integer({ min: 1, max: 10 }),
    failureRateInterval: milliseconds,
    delay: milliseconds,
  }),
  fc
    .record({
      strategy: fc.constant('exponentialDelay' as const),
      initialBackoff: milliseconds,
      maxBackoff: milliseconds,
      backoffMultiplier: fc.double({ min: 1, max: 5, noNaN: true }),
      resetBackoffThreshold: milliseconds,
      jitterFactor: fc.double({ min: 0, max: 1, noNaN: true }),
      attemptsBeforeResetBackoff: fc.integer({ min: 1, max: 20 }),
    })
    .map((options) => ({ ...options, maxBackoff: Math.max(options.initialBackoff, options.maxBackoff) })),
);
/** Times between errors, and the jitter of each. */
const anyErrors = fc.array(fc.record({ gap: fc.integer({ min: 0, max: 300_000 }), random: fc.double({ min: 0, max: 1, noNaN: true }) }), {
  maxLength: 60,
});

describe('every strategy', () => {
  it('keeps its promises whenever errors come', () => {
    fc.assert(
      fc.property(anyOptions, anyErrors, (options, errors) => {
        const strategy = restartStrategy(options);
        expect(restartFaults(options)).toEqual([]);
        let history: RestartHistory = noRestartsYet;
        let now = 0;
        const restarts: number[] = [];
        let inARow = 0;
        for (const { gap, random } of errors) {
          now += gap;
          const after: { history: RestartHistory; decision: RestartDecision } = afterError(strategy, history, now, random);
          // Asking again gives the same: nothing is remembered but in the history.
          expect(afterError(strategy, history, now, random)).toEqual(after);
          history = after.history;
          const { decision } = after;
          if (decision.kind === 'giveUp') {
            if (strategy.strategy === 'fixedDelay') expect(restarts).toHaveLength(strategy.attempts);
            if (strategy.strategy === 'failureRate')
              expect(restarts.filter((at) => now - at <= strategy.failureRateInterval)).toHaveLength(strategy.maxFailuresPerInterval);
            if (strategy.strategy === 'exponentialDelay') expect(inARow).toBe(strategy.attemptsBeforeResetBackoff);
            return;
          }
          restarts.push(now);
          inARow = decision.attempt;
          if (strategy.strategy === 'exponentialDelay') {
            expect(decision.delayMs).toBeGreaterThanOrEqual(strategy.initialBackoff);
            expect(decision.delayMs).toBeLessThanOrEqual(strategy.maxBackoff);
            expect(decision.attempt).toBeLessThanOrEqual(strategy.attemptsBeforeResetBackoff);
          } else if (strategy.strategy !== 'none') expect(decision.delayMs).toBe(strategy.delay);
          if (strategy.strategy === 'fixedDelay') expect(restarts.length).toBeLessThanOrEqual(strategy.attempts);
          if (strategy.strategy === 'failureRate') {
            const { maxFailuresPerInterval, failureRateInterval } = strategy;
            expect(restarts.filter((at) => now - at <= failureRateInterval).length).toBeLessThanOrEqual(maxFailuresPerInterval);
            expect(history.failures.length).toBeLessThanOrEqual(maxFailuresPerInterval);
          }
        }
      }),
    );
  });
});

describe('faults of the option', () => {
  it.each([
    ['fixedDelay', ['restart must be an object with a strategy: "none", "fixedDelay", "failureRate", "exponentialDelay"']],
    [{}, ['restart.strategy must be one of "none", "fixedDelay", "failureRate", "exponentialDelay"']],
    [{ strategy: 'fixed-delay' }, ['restart.strategy must be one of "none", "fixedDelay", "failureRate", "exponentialDelay"']],
    [{ strategy: 'toString' }, ['restart.strategy must be one of "none", "fixedDelay", "failureRate", "exponentialDelay"']],
    [{ strategy: 'fixedDelay', attemps: 3 }, ['restart.attemps is not an option of "fixedDelay"; did you mean attempts?']],
    [{ strategy: 'none', delay: 3 }, ['restart.delay is not an option of "none"; it has none']],
    [{ strategy: 'fixedDelay', attempts: 0 }, ['restart.attempts must be a whole number of at least 1, or Infinity']],
    [{ strategy: 'fixedDelay', delay: -1 }, ['restart.delay must be a whole number of milliseconds from 0 to 2147483647']],
    [{ strategy: 'fixedDelay', delay: '1s' }, ['restart.delay must be a whole number of milliseconds from 0 to 2147483647']],
    [{ strategy: 'exponentialDelay', jitterFactor: 2 }, ['restart.jitterFactor must be a number from 0 to 1']],
    [{ strategy: 'exponentialDelay', backoffMultiplier: 0.5 }, ['restart.backoffMultiplier must be a number of at least 1']],
    [
      { strategy: 'exponentialDelay', initialBackoff: 100_000 },
      ['restart.initialBackoff (100000) must not be above restart.maxBackoff (60000)'],
    ],
    [{ strategy: 'fixedDelay', attempts: Infinity, delay: undefined }, []],
  ])('%j', (options, faults) => {
    expect(restartFaults(options)).toEqual(faults);
  });
});
