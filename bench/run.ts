/** `npm run bench`: starts the stack, builds both sides, runs the rows, prints a table, and leaves nothing behind but the cache. */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { runMain } from '../scripts/run-main.js';
import { findJavaTools } from '../scripts/stack/java.js';
import { startKeeper } from '../scripts/stack/keeper.js';
import { printProgress } from '../scripts/stack/progress.js';
import { startStack } from '../scripts/stack/stack.js';
import { connect } from './clients/connect.js';
import { Bench, partitions } from './harness/bench.js';
import { buildJavaSide } from './harness/java-side.js';
import { compileNodeSide } from './harness/node-side.js';
import { Inputs } from './input/inputs.js';
import type { BenchOptions } from './options.js';
import { parseOptions, usage } from './options.js';
import type { RowResult } from './report/summary.js';
import { formatMarkdown } from './report/markdown.js';
import { drawCurves } from './report/pictures.js';
import { formatTable } from './report/table.js';
import { allRows } from './rows/all-rows.js';
import type { Row } from './rows/row.js';

async function main(args: string[]): Promise<number> {
  let options: BenchOptions;
  try {
    options = parseOptions(
      args,
      allRows.map(({ name }) => name),
    );
  } catch (error) {
    console.error(`${error instanceof Error ? error.message : String(error)}\n\n${usage}`);
    return 2;
  }
  const rows = allRows.filter(({ name, onlyIfNamed }) => (options.rows.length === 0 ? !onlyIfNamed : options.rows.includes(name)));
  const { results, failed } = await measure(rows, options);
  if (options.oursAlone) return failed.length === 0 ? 0 : 1;
  console.log(formatTable(results));
  if (options.markdown !== null) await writeFile(options.markdown, formatMarkdown(results));
  if (options.json !== null) await writeFile(options.json, `${JSON.stringify({ rows: results }, null, 2)}\n`);
  if (options.pictures !== null) await drawCurves(results, options.pictures);
  if (failed.length === 0) return 0;
  console.error(`No result: ${failed.join(', ')}`);
  return 1;
}

interface Outcome {
  readonly results: RowResult[];
  /** Rows that threw; the others go on without them. */
  readonly failed: string[];
}

async function measure(rows: readonly Row[], options: BenchOptions): Promise<Outcome> {
  const onProgress = printProgress();
  const log = (text: string): void => onProgress({ kind: 'step', text });
  const keeper = startKeeper();
  const scratch = await mkdtemp(join(tmpdir(), 'millrace-bench-'));
  keeper.addFolder(scratch);
  try {
    await using stack = await startStack({ onProgress, registry: rows.some(({ needsRegistry }) => needsRegistry) });
    const node = await compileNodeSide(await emptyFolder(scratch, 'node'), options.profile === null ? null : resolve(options.profile));
    const needsJava = !options.oursAlone && rows.some(({ against }) => against === 'Kafka Streams');
    const java = needsJava ? await buildJavaSide(await findJavaTools(), scratch, options.jvmArguments, onProgress) : null;
    const port = await connect(stack.bootstrapServers, 'bench');
    try {
      const inputs = new Inputs(port, partitions, stack.registryUrl, log);
      const bench = new Bench(options, port, inputs, {
        brokers: stack.bootstrapServers,
        registryUrl: stack.registryUrl,
        scratch,
        node,
        java,
        keeper,
      });
      const outcome: Outcome = { results: [], failed: [] };
      for (const row of rows) {
        log(`${row.name}, against ${row.against}`);
        try {
          outcome.results.push(...(await row.run(bench)));
        } catch (error) {
          console.error(error);
          outcome.failed.push(row.name);
        }
      }
      return outcome;
    } finally {
      await port.close();
    }
  } finally {
    await rm(scratch, { recursive: true, force: true, maxRetries: 10, retryDelay: 100 });
    await keeper.close();
  }
}

async function emptyFolder(parent: string, name: string): Promise<string> {
  const folder = join(parent, name);
  await mkdir(folder);
  return folder;
}

await runMain(() => main(process.argv.slice(2)));
