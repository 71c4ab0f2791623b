/** What the runner knows of a case, whatever its form. */

/** A JSON value of a case file; forms read what they know of it. */
export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json | undefined };
export type JsonObject = { readonly [key: string]: Json | undefined };

export interface ConformanceCase {
  readonly name: string;
  /** Resolves with the mismatches, none when the case passes; rejects with `NotBuiltError` when something it needs does not exist. */
  run(): Promise<readonly string[]>;
}

/** One entry of a case file: an element of one of its lists. */
export interface CaseEntry {
  /** Where it stands: `cases`, `windowsFor.rows`, … */
  readonly list: string;
  readonly index: number;
  readonly value: JsonObject;
}

/** A form of cases: knows its own entries, and makes cases of them. */
export type CaseForm = (entry: CaseEntry) => ConformanceCase | null;

/** Thrown when a case needs an operator, an option or a form that does not exist. `what` is the name that `later.ts` lists it under. */
export class NotBuiltError extends Error {
  constructor(readonly what: string) {
    super(`not built: ${what}`);
  }
}

export function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

export function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

/** A field that the form requires. */
export function text(object: JsonObject, field: string): string {
  const value = object[field];
  if (typeof value !== 'string') throw new Error(`the case’s ${field} is ${JSON.stringify(value)}, not a text`);
  return value;
}

export function number(object: JsonObject, field: string, otherwise?: number): number {
  const value = object[field] ?? otherwise;
  if (typeof value !== 'number') throw new Error(`the case’s ${field} is ${JSON.stringify(value)}, not a number`);
  return value;
}

export function object(parent: JsonObject, field: string): JsonObject {
  const value = parent[field];
  if (!isObject(value)) throw new Error(`the case’s ${field} is ${JSON.stringify(value)}, not an object`);
  return value;
}

export function list(parent: JsonObject, field: string): readonly Json[] {
  const value = parent[field];
  if (!isList(value)) throw new Error(`the case’s ${field} is ${JSON.stringify(value)}, not a list`);
  return value;
}
