/**
 * Values that leave memory must come back as what they were: a serde that makes something else of them (JSON of NaN, of a Map, of an instance of a class) would change answers silently, and
 * only some of them: those after a commit, a restart, a topic. Whoever relies on it says so with the words of `notCarried`.
 *
 * What may change: fields that are undefined may be missing, fields may come in addition (defaults of a schema), numbers may have the precision of a float.
 */
import { types } from 'node:util';

/** @param made what came back, `of` what was given */
export function notCarried(serdeName: string, made: string, of: string): string {
  return `serde ${serdeName} makes ${made} of ${of}: give one that carries it`;
}

/** @throws Error when `back`, which `serdeName` has made of `given`, is something else */
export function requireSame(given: unknown, back: unknown, serdeName: string): void {
  const loss = new Comparison().lossIn(given, back, '');
  if (loss === null) return;
  const where = loss.path === '' ? '' : ` (at ${loss.path})`;
  throw new Error(notCarried(serdeName, kindOf(loss.back), `${kindOf(loss.given)}${where}`));
}

interface Loss {
  readonly path: string;
  readonly given: unknown;
  readonly back: unknown;
}

class Comparison {
  /** Of values that hold themselves, once is enough. */
  private readonly seen = new Set<object>();

  lossIn(given: unknown, back: unknown, path: string): Loss | null {
    if (typeof given !== 'object' || given === null) return isSamePrimitive(given, back) ? null : { path, given, back };
    if (this.seen.has(given)) return null;
    this.seen.add(given);
    if (typeof back !== 'object' || back === null || tagOf(given) !== tagOf(back)) return { path, given, back };
    if (ArrayBuffer.isView(given)) return areSameBytes(given, back as ArrayBufferView) ? null : { path, given, back };
    if (types.isDate(given)) return Object.is(given.getTime(), (back as Date).getTime()) ? null : { path, given, back };
    if (Array.isArray(given)) return this.lossInItems(given, back as unknown[], { path, given, back });
    if (types.isSet(given)) return this.lossInItems([...given], [...(back as Set<unknown>)], { path, given, back });
    if (types.isMap(given)) return this.lossInItems([...given], [...(back as Map<unknown, unknown>)], { path, given, back });
    if (isOfClass(given) && Object.getPrototypeOf(given) !== Object.getPrototypeOf(back)) return { path, given, back };
    return this.lossInFields(given, back, path);
  }

  private lossInItems(given: readonly unknown[], back: readonly unknown[], whole: Loss): Loss | null {
    if (given.length !== back.length) return whole;
    for (const [index, item] of given.entries()) {
      const loss = this.lossIn(item, back[index], `${whole.path}[${index}]`);
      if (loss !== null) return loss;
    }
    return null;
  }

  private lossInFields(given: object, back: object, path: string): Loss | null {
    for (const [name, field] of Object.entries(given) as [string, unknown][]) {
      if (field === undefined) continue;
      const loss = this.lossIn(field, (back as Record<string, unknown>)[name], path === '' ? name : `${path}.${name}`);
      if (loss !== null) return loss;
    }
    return null;
  }
}

function isSamePrimitive(given: unknown, back: unknown): boolean {
  if (given === back || Object.is(given, back)) return true;
  return typeof given === 'number' && back === Math.fround(given);
}

function areSameBytes(one: ArrayBufferView, other: ArrayBufferView): boolean {
  const bytesOf = (view: ArrayBufferView): Buffer => Buffer.from(view.buffer, view.byteOffset, view.byteLength);
  return bytesOf(one).equals(bytesOf(other));
}

/** Not by prototypes: values may come from another realm. */
function tagOf(value: object): string {
  return Object.prototype.toString.call(value);
}

/** Whether it has methods or accessors, which no field holds. */
function isOfClass(value: object): boolean {
  let proto: unknown = Object.getPrototypeOf(value);
  while (typeof proto === 'object' && proto !== null) {
    const above: unknown = Object.getPrototypeOf(proto);
    if (above === null) return false;
    if (Reflect.ownKeys(proto).some((name) => name !== 'constructor')) return true;
    proto = above;
  }
  return false;
}

/** What a value is, for an error: texts and the like not as they are. */
export function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'a string';
  if (typeof value === 'function' || typeof value === 'symbol') return `a ${typeof value}`;
  if (typeof value === 'bigint') return `${value}n`;
  if (typeof value !== 'object' || value === null) return String(value);
  if (isOfClass(value)) return `an instance of ${(value.constructor as { name?: string } | undefined)?.name ?? 'a class'}`;
  return tagOf(value) === '[object Object]' ? 'a plain object' : `an ${tagOf(value).slice(8, -1)}`;
}
