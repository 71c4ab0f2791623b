import { nearest } from '../errors/checked-options.js';
import { restartDefaults, type RestartOptions, type RestartStrategy } from './restart-strategy.js';

/** Fills in the defaults. */
export function restartStrategy(options: RestartOptions): RestartStrategy {
  return { ...restartDefaults[options.strategy], ...given(options) } as RestartStrategy;
}

const strategies = Object.keys(restartDefaults);
const listed = strategies.map((name) => `"${name}"`).join(', ');

/** Longest pause or interval: what a timer can carry. */
const longestMs = 2_147_483_647;

/** What is wrong with the option `restart`, one sentence each. */
export function restartFaults(options: unknown): string[] {
  if (options === undefined) return [];
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    return [`restart must be an object with a strategy: ${listed}`];
  const { strategy } = options as { readonly strategy?: unknown };
  if (typeof strategy !== 'string' || !Object.hasOwn(restartDefaults, strategy)) return [`restart.strategy must be one of ${listed}`];
  const defaults = restartDefaults[strategy as RestartStrategy['strategy']];
  const known = Object.keys(defaults);
  const faults: string[] = [];
  for (const [name, value] of Object.entries(options)) {
    if (name === 'strategy' || value === undefined) continue;
    if (!known.includes(name)) faults.push(`restart.${name} is not an option of "${strategy}"${meant(name, known)}`);
    else if (!fits(name, value)) faults.push(`restart.${name} must be ${wanted(name)}`);
  }
  if (faults.length > 0 || strategy !== 'exponentialDelay') return faults;
  const { initialBackoff, maxBackoff } = { ...restartDefaults.exponentialDelay, ...given(options) };
  if (initialBackoff > maxBackoff)
    faults.push(`restart.initialBackoff (${initialBackoff}) must not be above restart.maxBackoff (${maxBackoff})`);
  return faults;
}

function fits(name: string, value: unknown): boolean {
  if (typeof value !== 'number') return false;
  switch (name) {
    case 'attempts':
    case 'maxFailuresPerInterval':
    case 'attemptsBeforeResetBackoff':
      return value === Infinity || (Number.isSafeInteger(value) && value >= 1);
    case 'backoffMultiplier':
      return Number.isFinite(value) && value >= 1;
    case 'jitterFactor':
      return value >= 0 && value <= 1;
    case 'initialBackoff':
    case 'failureRateInterval':
      return isMilliseconds(value, 1);
    default:
      return isMilliseconds(value, 0);
  }
}

function wanted(name: string): string {
  switch (name) {
    case 'attempts':
    case 'maxFailuresPerInterval':
    case 'attemptsBeforeResetBackoff':
      return 'a whole number of at least 1, or Infinity';
    case 'backoffMultiplier':
      return 'a number of at least 1';
    case 'jitterFactor':
      return 'a number from 0 to 1';
    case 'initialBackoff':
    case 'failureRateInterval':
      return `a whole number of milliseconds from 1 to ${longestMs}`;
    default:
      return `a whole number of milliseconds from 0 to ${longestMs}`;
  }
}

function isMilliseconds(value: number, least: number): boolean {
  return Number.isInteger(value) && value >= least && value <= longestMs;
}

function meant(name: string, known: readonly string[]): string {
  const near = nearest(name, known);
  return near === null ? `; it has ${known.filter((other) => other !== 'strategy').join(', ') || 'none'}` : `; did you mean ${near}?`;
}

/** An option that is `undefined` is as if it were not there. */
function given<T extends object>(options: T): Partial<T> {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as Partial<T>;
}
