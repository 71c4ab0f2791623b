/**
 * `npm run conformance`: runs conformance cases and compares with what the reference systems gave.
 *
 *   (nothing)                  the cases of this repository; what is in `later.ts` is reported as not run yet
 *   --cases DIR                every case file below DIR; what can't be run counts as failed, by name
 *   --runs N [--seed S]        N random cases over all operations, run by Kafka Streams too (needs Java 17 and Maven); `--only NAME` takes
 *                              the operations with that in their name; `--random N` is the same
 *   --record DIR               writes what Kafka Streams gives into the case files below DIR; runs nothing
 *
 * Exits 1 on any failure. The last line is `N passed, N failed`.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { findCaseFiles } from './case-file.js';
import { recordWithJava } from './java-oracle.js';
import { runDifferential } from './kafka-streams/differential.js';
import { later } from './later.js';
import { runConformance } from './report.js';

const nothing: ReadonlySet<string> = new Set();

async function main(): Promise<number> {
  const { values } = parseArgs({
    options: {
      cases: { type: 'string' },
      runs: { type: 'string' },
      random: { type: 'string' },
      seed: { type: 'string' },
      only: { type: 'string' },
      record: { type: 'string' },
    },
  });
  const runs = values.runs ?? values.random;
  if (values.record !== undefined) return record(fromUser(values.record));
  if (runs !== undefined) return differ(wholeNumber('runs', runs), values);
  if (values.cases !== undefined)
    return finish(await runConformance({ directory: fromUser(values.cases), later: nothing, print }), nothing);
  return finish(await runConformance({ directory: fileURLToPath(new URL('cases', import.meta.url)), later, print }), later);
}

async function record(directory: string): Promise<number> {
  print(await recordWithJava(findCaseFiles(directory).map((file) => path.join(directory, file))));
  return 0;
}

async function differ(runs: number, { seed, only }: { readonly seed?: string; readonly only?: string }): Promise<number> {
  const chosen = wholeNumber('seed', seed ?? String(Date.now() % 1_000_000));
  return finish({ ...(await runDifferential({ runs, seed: chosen, only, print })), missing: nothing }, nothing);
}

function finish({ passed, failed, missing }: Awaited<ReturnType<typeof runConformance>>, expectedMissing: ReadonlySet<string>): number {
  const stale = [...expectedMissing].filter((what) => !missing.has(what));
  for (const what of stale) print(`FAIL later.ts: nothing needs “${what}” any more; take it off the list`);
  const failures = failed + stale.length;
  print(`${passed} passed, ${failures} failed`);
  return failures === 0 ? 0 : 1;
}

/** npm changes the working directory; INIT_CWD is where the user stands. */
function fromUser(directory: string): string {
  return path.resolve(process.env.INIT_CWD ?? process.cwd(), directory);
}

function wholeNumber(option: string, value: string): number {
  const parsed = Number(value);
  if (!Number.isSafeInteger(parsed) || parsed < 0) throw new Error(`--${option} takes a whole number, not ${value}`);
  return parsed;
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
