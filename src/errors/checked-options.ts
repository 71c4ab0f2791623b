/**
 * Options objects, checked where they are given: a misspelt option does nothing silently in plain JavaScript, and does so for ever.
 *
 * A shape names every option of a type and what it must be. The compiler holds it to the type, so an option can't be added without its check.
 */
import { MillraceError } from '../errors.js';
import type { ErrorCode } from '../errors.js';

/** What is wrong with a value, as in `a serde`; null when nothing is. */
export type OptionCheck = ((value: unknown) => string | null) | OptionShape;

/** An object within the options, checked in turn. */
export interface OptionShape {
  readonly [option: string]: OptionCheck;
}

/** A check for each option of `T`. */
export type ShapeOf<T> = { readonly [K in keyof Required<T>]: OptionCheck };

/**
 * @param what whose options these are, as in `count`
 * @param code of the error: what is no topology has its own
 * @throws an error of that code, which names the option, and the one that was probably meant
 */
export function checkOptions(what: string, options: unknown, shape: OptionShape, code: ErrorCode = 'MILL_TOPOLOGY_INVALID'): void {
  if (options !== undefined) requireOptions(what, options, shape, code);
}

/** As `checkOptions`, for options that can't be left out. */
export function requireOptions(what: string, options: unknown, shape: OptionShape, code: ErrorCode = 'MILL_TOPOLOGY_INVALID'): void {
  if (!isPlain(options)) {
    throw refusal({ what, code, path: '' }, `${what}: the options must be an object, not ${shown(options)}.`, null);
  }
  checkFields({ what, code, path: '' }, options, shape);
}

/**
 * As `checkOptions`, for one argument.
 *
 * @param what the call and its argument, as in `countEvictor: the number`
 */
export function requireArgument(
  what: string,
  value: unknown,
  check: (value: unknown) => string | null,
  code: ErrorCode = 'MILL_TOPOLOGY_INVALID',
): void {
  const wanted = check(value);
  if (wanted !== null) throw refusal({ what, code, path: '' }, `${what} must be ${wanted}, not ${shown(value)}.`, null);
}

/** The options that are looked at. */
interface Place {
  readonly what: string;
  readonly code: ErrorCode;
  /** Before the names of the options: empty, or that of the object they are in, with a dot. */
  readonly path: string;
}

function checkFields(place: Place, fields: Readonly<Record<string, unknown>>, shape: OptionShape): void {
  const { what, path } = place;
  for (const [name, value] of Object.entries(fields)) {
    const check = Object.hasOwn(shape, name) ? shape[name] : undefined;
    const option = `${path}${name}`;
    const refuse = (message: string): MillraceError => refusal(place, message, option);
    if (check === undefined) throw refuse(`${what} has no option ${option}${suggestion(name, Object.keys(shape), path)}.`);
    if (value === undefined) continue;
    if (typeof check === 'function') {
      const wanted = check(value);
      if (wanted !== null) throw refuse(`${what}: the option ${option} must be ${wanted}, not ${shown(value)}.`);
    } else {
      if (!isPlain(value)) throw refuse(`${what}: the option ${option} must be an object, not ${shown(value)}.`);
      checkFields({ ...place, path: `${option}.` }, value, check);
    }
  }
}

function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function suggestion(name: string, known: readonly string[], path: string): string {
  const near = nearest(name, known);
  if (near !== null) return `; did you mean ${path}${near}?`;
  return known.length === 0 ? '' : `; it has ${known.map((option) => `${path}${option}`).join(', ')}`;
}

/** The known name that differs by letter case, or by at most a third of its letters; null when there is none. */
export function nearest(name: string, known: readonly string[]): string | null {
  let best: string | null = null;
  let least = Infinity;
  for (const candidate of known) {
    const steps = distance(name.toLowerCase(), candidate.toLowerCase());
    if (steps < least && steps <= Math.max(1, Math.floor(candidate.length / 3))) {
      best = candidate;
      least = steps;
    }
  }
  return best;
}

/** Insertions, deletions, replacements and swaps of neighbours from one text to the other. */
function distance(one: string, other: string): number {
  let before: readonly number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const replaced = (row[j - 1] ?? 0) + (one[i - 1] === other[j - 1] ? 0 : 1);
      const isSwap = one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
      const swapped = i > 1 && j > 1 && isSwap ? (before[j - 2] ?? 0) + 1 : Infinity;
      next.push(Math.min(replaced, swapped, (row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1));
    }
    before = row;
    row = next;
  }
  return row[other.length] ?? 0;
}

function refusal({ what, code }: Place, message: string, option: string | null): MillraceError {
  return new MillraceError(code, message, { details: { call: what, option } });
}

/** A value as errors name it. */
export function shown(value: unknown): string {
  if (typeof value === 'string') return `"${value}"`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value === 'function') return `the function ${value.name || '(anonymous)'}`;
  if (Array.isArray(value))
    return value.length > 0 && value.length <= 5 && value.every(isShort) ? `[${value.map(shown).join(', ')}]` : 'an array';
  return typeof value === 'object' && value !== null ? 'an object of another kind' : String(value);
}

function isShort(value: unknown): boolean {
  return typeof value === 'string' ? value.length <= 40 : typeof value !== 'object' || value === null;
}

// --- what options may be ---

export function text(value: unknown): string | null {
  return typeof value === 'string' ? null : 'a text';
}

export function flag(value: unknown): string | null {
  return typeof value === 'boolean' ? null : 'true or false';
}

export function milliseconds(value: unknown): string | null {
  return typeof value === 'number' && value >= 0 ? null : 'milliseconds, 0 or more';
}

/** For spans of time that must not be empty. */
export function someMilliseconds(value: unknown): string | null {
  return typeof value === 'number' && value > 0 ? null : 'milliseconds, above 0';
}

export function aNumber(value: unknown): string | null {
  return typeof value === 'number' && !Number.isNaN(value) ? null : 'a number';
}

export function zeroOrMore(value: unknown): string | null {
  return typeof value === 'number' && value >= 0 ? null : 'a number, 0 or more';
}

export function wholeNumber(value: unknown): string | null {
  return typeof value === 'number' && Number.isInteger(value) ? null : 'a whole number';
}

/** For numbers of things. */
export function atLeastOne(value: unknown): string | null {
  return typeof value === 'number' && Number.isInteger(value) && value >= 1 ? null : 'a whole number, 1 or more';
}

export function callback(value: unknown): string | null {
  return typeof value === 'function' ? null : 'a function';
}

export function serde(value: unknown): string | null {
  const fits =
    typeof value === 'object' &&
    value !== null &&
    'serialize' in value &&
    typeof value.serialize === 'function' &&
    'deserialize' in value &&
    typeof value.deserialize === 'function';
  return fits ? null : 'a serde, such as serdes.string';
}

export function anyObject(value: unknown): string | null {
  return typeof value === 'object' && value !== null ? null : 'an object';
}

/** Configs of a topic: texts by name. */
export function texts(value: unknown): string | null {
  const fits = isPlain(value) && Object.values(value).every((entry) => typeof entry === 'string');
  return fits ? null : 'an object of texts';
}

/** An object with these methods. @param wanted as in `a partitioner, an object with partition()` */
export function objectWith(wanted: string, ...methods: readonly string[]): (value: unknown) => string | null {
  return (value) => {
    if (typeof value !== 'object' || value === null) return wanted;
    return methods.every((method) => typeof (value as Readonly<Record<string, unknown>>)[method] === 'function') ? null : wanted;
  };
}

export function list(value: unknown): string | null {
  return Array.isArray(value) ? null : 'an array';
}

/** An array of some of these texts. */
export function listOf(...allowed: readonly string[]): (value: unknown) => string | null {
  const wanted = `an array of ${allowed.map((name) => `"${name}"`).join(', ')}`;
  return (value) => (Array.isArray(value) && value.every((entry) => allowed.includes(entry as string)) ? null : wanted);
}

/** Checked by whoever takes it. */
export function anything(): null {
  return null;
}

/** Or null, for options whose null is "as if it were not there". */
export function orNull(check: (value: unknown) => string | null): (value: unknown) => string | null {
  return (value) => (value === null ? null : check(value));
}

export function oneOf(...allowed: readonly string[]): (value: unknown) => string | null {
  const wanted = allowed.map((name) => `"${name}"`).join(' or ');
  return (value) => (typeof value === 'string' && allowed.includes(value) ? null : wanted);
}
