/** Finds case files and the entries in them. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { isList, isObject, type CaseEntry, type Json, type JsonObject } from './case.js';

/** Every `.json` file below `directory`, as a path relative to it, sorted. */
export function findCaseFiles(directory: string): string[] {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw new Error(`there is no folder ${directory}`);
  return readdirSync(directory, { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.json'))
    .sort();
}

export function readCaseFile(file: string): JsonObject {
  const document = JSON.parse(readFileSync(file, 'utf8')) as Json;
  if (!isObject(document)) throw new Error(`${path.basename(file)} is not a JSON object`);
  return document;
}

/** The elements of all lists in a file that can be cases: lists of objects, and the `rows` of objects that have them. Lists of texts are notes. */
export function entriesOf(document: JsonObject): CaseEntry[] {
  const entries: CaseEntry[] = [];
  const add = (list: string, values: readonly Json[], shared: JsonObject): void => {
    values.forEach((value, index) => {
      if (typeof value === 'string' || isOptionDefault(value)) return;
      entries.push({ list, index, value: isObject(value) ? { ...shared, ...value } : { row: value } });
    });
  };
  for (const [key, value] of Object.entries(document)) {
    if (isList(value)) add(key, value, {});
    else if (isObject(value) && isList(value.rows)) add(`${key}.rows`, value.rows, { ...value, rows: undefined });
  }
  return entries;
}

/** Files that list the options of a reference system with their defaults hold facts and no cases. */
function isOptionDefault(value: Json): boolean {
  return isObject(value) && 'default' in value && ('key' in value || 'name' in value);
}
