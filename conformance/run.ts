/**
 * `npm run conformance [-- --cases DIR]`: runs conformance cases and compares with what the reference systems gave.
 *
 * Without an argument it runs the cases of this repository; what is in `later.ts` is reported as not run yet. With a folder it runs every case file
 * below it, and what can't be run counts as failed. Exits 1 on any failure; the last line is `N passed, N failed`.
 */
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { later } from './later.js';
import { runConformance } from './report.js';

async function main(): Promise<number> {
  const { values } = parseArgs({ options: { cases: { type: 'string' } } });
  const own = fileURLToPath(new URL('cases', import.meta.url));
  // npm changes the working directory; INIT_CWD is where the user stands.
  const directory = values.cases === undefined ? own : path.resolve(process.env.INIT_CWD ?? process.cwd(), values.cases);
  const isOwn = directory === own;
  const print = (line: string): void => void process.stdout.write(`${line}\n`);
  const { passed, failed, missing } = await runConformance({ directory, later: isOwn ? later : new Set(), print });
  const stale = isOwn ? [...later].filter((what) => !missing.has(what)) : [];
  for (const what of stale) print(`FAIL later.ts: nothing needs “${what}” any more; take it off the list`);
  const failures = failed + stale.length;
  print(`${passed} passed, ${failures} failed`);
  return failures === 0 ? 0 : 1;
}

try {
  process.exitCode = await main();
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}
