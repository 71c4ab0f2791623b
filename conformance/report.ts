/** Runs the cases of a folder and says how each file fared. */
import path from 'node:path';
import { NotBuiltError, type CaseEntry, type ConformanceCase } from './case.js';
import { entriesOf, findCaseFiles, readCaseFile } from './case-file.js';
import { forms } from './forms.js';

export interface RunOptions {
  readonly directory: string;
  /** What may be missing without failing the run. */
  readonly later: ReadonlySet<string>;
  readonly print: (line: string) => void;
}

export interface RunResult {
  readonly passed: number;
  readonly failed: number;
  /** What was missing, of `later`. */
  readonly missing: ReadonlySet<string>;
}

export async function runConformance({ directory, later, print }: RunOptions): Promise<RunResult> {
  let passed = 0;
  let failed = 0;
  const missing = new Set<string>();
  for (const file of findCaseFiles(directory)) {
    const tally = { passed: 0, failures: [] as string[], notRun: [] as string[] };
    for (const conformanceCase of casesOf(path.join(directory, file))) {
      const { mismatches, notBuilt } = await outcome(conformanceCase);
      if (notBuilt !== null && later.has(notBuilt)) {
        missing.add(notBuilt);
        tally.notRun.push(`${conformanceCase.name} (${notBuilt})`);
      } else if (mismatches.length > 0) tally.failures.push([conformanceCase.name, ...mismatches].join('\n      '));
      else tally.passed++;
    }
    passed += tally.passed;
    failed += tally.failures.length;
    print(`${file}: ${summary(tally)}`);
    for (const failure of tally.failures) print(`    FAIL ${failure}`);
    for (const name of tally.notRun) print(`    not run yet: ${name}`);
  }
  return { passed, failed, missing };
}

function summary(tally: { readonly passed: number; readonly failures: readonly string[]; readonly notRun: readonly string[] }): string {
  const total = tally.passed + tally.failures.length + tally.notRun.length;
  if (total === 0) return 'no cases';
  const notRun = tally.notRun.length === 0 ? '' : `, ${tally.notRun.length} not run yet`;
  return `${tally.passed} passed, ${tally.failures.length} failed${notRun}`;
}

async function outcome(
  conformanceCase: ConformanceCase,
): Promise<{ readonly mismatches: readonly string[]; readonly notBuilt: string | null }> {
  try {
    return { mismatches: await conformanceCase.run(), notBuilt: null };
  } catch (error) {
    if (error instanceof NotBuiltError) return { mismatches: [error.message], notBuilt: error.what };
    return { mismatches: [error instanceof Error ? (error.stack ?? error.message) : String(error)], notBuilt: null };
  }
}

function casesOf(file: string): ConformanceCase[] {
  try {
    return entriesOf(readCaseFile(file)).map((entry) => recognise(entry, file));
  } catch (error) {
    return [{ name: 'the file', run: () => Promise.reject(error instanceof Error ? error : new Error(String(error))) }];
  }
}

function recognise(entry: CaseEntry, file: string): ConformanceCase {
  for (const form of forms) {
    const found = form(entry);
    if (found !== null) return found;
  }
  const { list, index, value } = entry;
  const name = typeof value.name === 'string' ? value.name : `${list}[${index}]`;
  const what = `${path.basename(path.dirname(file))}/${path.basename(file, '.json')}`;
  return { name, run: () => Promise.reject(new NotBuiltError(what)) };
}
