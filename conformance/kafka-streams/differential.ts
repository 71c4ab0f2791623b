/**
 * The live differential test: fast-check draws cases of every operation of the vocabulary, Kafka Streams runs each in a JVM beside this process, and
 * Millrace must give the same records, in the same order, with the same times.
 *
 * The same seed draws the same cases. A case that differs is shrunk to a small one, printed and written as a case file, for `--cases`.
 */
import { mkdir, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import fc from 'fast-check';
import type { JsonObject } from '../case.js';
import { startJavaOracle, type JavaOracle } from '../java-oracle.js';
import { caseOf, type RandomOperation } from './random/random-operation.js';
import { randomOperations } from './random/random-operations.js';
import { runSteps } from './steps.js';

export interface DifferentialOptions {
  /** Cases over all operations; each operation gets an equal share, at least one. */
  readonly runs: number;
  readonly seed: number;
  /** Part of the names of the operations to run; all when absent. */
  readonly only?: string | undefined;
  readonly print: (line: string) => void;
}

export async function runDifferential({ runs, seed, only = '', print }: DifferentialOptions): Promise<{ passed: number; failed: number }> {
  const operations = randomOperations.filter(({ name }) => name.includes(only));
  if (operations.length === 0) throw new Error(`--only ${only}: there are ${randomOperations.map(({ name }) => name).join(', ')}`);
  const oracle = await startJavaOracle();
  print(`seed ${seed} (npm run conformance -- --runs ${runs} --seed ${seed}${only === '' ? '' : ` --only ${only}`})`);
  let passed = 0;
  let failed = 0;
  try {
    for (const operation of operations) {
      const result = await differ(oracle, operation, Math.max(1, Math.ceil(runs / operations.length)), seed);
      passed += result.passed;
      print(`${operation.name}: ${result.passed} passed, ${result.mismatch === null ? 0 : 1} failed${leftOut(result.refused)}`);
      if (result.mismatch === null) continue;
      failed++;
      const file = await writeCase(result.mismatch.entry, operation.name, seed);
      print([`    FAIL ${operation.name}`, ...result.mismatch.differences].join('\n      '));
      print(`      ${JSON.stringify(result.mismatch.entry)}`);
      print(`      again: npm run conformance -- --cases ${path.dirname(file)}`);
    }
  } finally {
    await oracle.close();
  }
  return { passed, failed };
}

interface Difference {
  readonly entry: JsonObject;
  readonly differences: readonly string[];
}

interface OperationResult {
  readonly passed: number;
  /** Why Kafka Streams failed on cases. */
  readonly refused: readonly string[];
  readonly mismatch: Difference | null;
}

async function differ(oracle: JavaOracle, operation: RandomOperation, numRuns: number, seed: number): Promise<OperationResult> {
  let passed = 0;
  const refused: string[] = [];
  let smallest: Difference | null = null;
  const details = await fc.check(
    fc.asyncProperty(caseOf(operation), async (drawn) => {
      const { recorded, failed } = await oracle.record(drawn);
      if (failed !== undefined) {
        if (smallest === null) refused.push(failed);
        return true;
      }
      const differences = await differencesOf(recorded);
      if (differences.length > 0) smallest = { entry: recorded, differences };
      else if (smallest === null) passed++;
      return differences.length === 0;
    }),
    { numRuns, seed },
  );
  // The last case that differed is the one that fast-check shrank to.
  return { passed, refused, mismatch: details.failed ? smallest : null };
}

async function differencesOf(entry: JsonObject): Promise<readonly string[]> {
  try {
    return await runSteps(entry);
  } catch (error) {
    return [error instanceof Error ? (error.stack ?? error.message) : String(error)];
  }
}

function leftOut(refused: readonly string[]): string {
  return refused.length === 0 ? '' : `, ${refused.length} that Kafka Streams fails on left out (${refused[0]})`;
}

async function writeCase(entry: JsonObject, name: string, seed: number): Promise<string> {
  const folder = path.join(tmpdir(), 'millrace-differential', `${name}-${seed}`);
  await mkdir(folder, { recursive: true });
  const file = path.join(folder, 'case.json');
  await writeFile(file, JSON.stringify({ suite: `differential test, seed ${seed}`, cases: [entry] }, null, 1));
  return file;
}
