/** What the compiler tells users of TypeScript, told to those of JavaScript: where the call stands, not when the first record comes. */
import { MillraceError } from '../errors.js';
import { SessionWindows } from '../time/session-windows.js';
import { SlidingWindows } from '../time/sliding-windows.js';
import { TimeWindows } from '../time/time-windows.js';

/**
 * @param what the call and its argument, as in `aggregate: the initializer`
 * @throws MILL_TOPOLOGY_INVALID
 */
export function requireFunction(what: string, given: unknown): void {
  if (typeof given !== 'function') throw wrong(`${what} must be a function, not ${shown(given)}.`);
}

/** @throws MILL_TOPOLOGY_INVALID unless `other` is of one of these kinds; who made it is checked elsewhere */
export function requireKind(what: string, other: unknown, kinds: readonly string[]): void {
  const kind = typeof other === 'object' && other !== null ? (other as { readonly kind?: unknown }).kind : undefined;
  if (!kinds.includes(String(kind)))
    throw wrong(`${what} takes ${listed(kinds.map((name) => kindNames[name] ?? name))}, not ${shown(other)}.`);
}

const kindNames: Readonly<Record<string, string>> = { stream: 'a stream', table: 'a table', globalTable: 'a global table' };

/** @throws MILL_TOPOLOGY_INVALID */
export function requireWindows(windows: unknown): void {
  if (windows instanceof TimeWindows || windows instanceof SlidingWindows || windows instanceof SessionWindows) return;
  throw wrong(`windowedBy takes what tumbling, hopping, sliding, sessions or unlimited gives, not ${shown(windows)}.`);
}

/** @throws MILL_TOPOLOGY_INVALID */
export function requireAssigner(assigner: unknown): void {
  const { assign } = (assigner ?? {}) as { readonly assign?: unknown };
  if (typeof assign === 'function') return;
  const are = assigner instanceof TimeWindows || assigner instanceof SlidingWindows || assigner instanceof SessionWindows;
  const given = are ? 'windows of `windowedBy`' : shown(assigner);
  throw wrong(`window takes what tumblingEventTime, slidingEventTime, sessionEventTime and the like give, not ${given}.`);
}

/** @throws MILL_TOPOLOGY_INVALID */
export function requireSuppressed(suppressed: unknown): void {
  const { kind } = (suppressed ?? {}) as { readonly kind?: unknown };
  if (kind !== 'timeLimit' && kind !== 'windowCloses')
    throw wrong(`suppress takes what untilTimeLimit(…) or untilWindowCloses(…) gives, not ${shown(suppressed)}.`);
}

/** @throws MILL_TOPOLOGY_INVALID unless it is an aggregate function of windows: an object of functions */
export function requireAggregate(aggregate: unknown): void {
  if (typeof aggregate !== 'object' || aggregate === null)
    throw wrong(`aggregate takes an object with initial, add and result, not ${shown(aggregate)}.`);
  const functions = aggregate as {
    readonly initial?: unknown;
    readonly add?: unknown;
    readonly result?: unknown;
    readonly merge?: unknown;
  };
  for (const name of ['initial', 'add', 'result'] as const) requireFunction(`aggregate: ${name}`, functions[name]);
  if (functions.merge !== undefined) requireFunction('aggregate: merge', functions.merge);
}

/** @throws MILL_CONFIG_INVALID */
export function requireLateness(given: unknown): void {
  if (typeof given === 'number' && given >= 0) return;
  throw new MillraceError('MILL_CONFIG_INVALID', `allowedLateness must be milliseconds, a number of 0 or more, not ${shown(given)}.`);
}

/** @throws MILL_TOPOLOGY_INVALID */
export function requireOneOf(what: string, given: string | undefined, allowed: readonly string[]): void {
  if (given !== undefined && !allowed.includes(given)) throw wrong(`${what} must be ${listed(allowed)}, not ${shown(given)}.`);
}

function wrong(message: string): MillraceError {
  return new MillraceError('MILL_TOPOLOGY_INVALID', message);
}

function listed(names: readonly string[]): string {
  return names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} or ${names.at(-1)}`;
}

function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'object' && value !== null)
    return Array.isArray(value) ? 'an array' : `an object with ${listed(Object.keys(value)) || 'no fields'}`;
  return typeof value === 'function' ? `the function ${value.name || '(anonymous)'}` : String(value);
}
