/**
 * How often in a row a database was in use when its process ended. More than once may be the database's own doing, and would go on for ever: LevelDB ends the process when it meets damage in a table,
 * at each start anew. And whether this process closed it last.
 */
import { randomUUID } from 'node:crypto';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** A file of this name beside LevelDB's own, which leaves it alone. Holds the count that there is when the process ends now, or who closed it. */
const useMark = 'MILLRACE_IN_USE';
const closedHere = `closed by ${randomUUID()}`;

/** 0: it was closed in order, or is new. */
export function uncleanEnds(directory: string): number {
  return Number.parseInt(marked(directory), 10) || 0;
}

/** Nobody but this process has had it since it was closed in order. */
export function wasClosedHere(directory: string): boolean {
  return marked(directory) === closedHere;
}

/** What the count is if the process ends now. */
export function noteUncleanEnds(directory: string, count: number): void {
  if (count > 0) mark(directory, String(count));
  else unmark(directory);
}

export function noteClosed(directory: string): void {
  mark(directory, closedHere);
}

function marked(directory: string): string {
  try {
    return readFileSync(join(directory, useMark), 'utf8');
  } catch {
    return '';
  }
}

function unmark(directory: string): void {
  try {
    rmSync(join(directory, useMark), { force: true });
  } catch {
    // As it was.
  }
}

function mark(directory: string, text: string): void {
  try {
    writeFileSync(join(directory, useMark), text);
  } catch {
    // On a full disk, or where there is no folder yet, nothing is counted.
  }
}
