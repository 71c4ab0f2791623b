/** Kafka Streams itself as the oracle: compiled by Maven into the cache, once per state of its sources, and run on case files or on cases one by one. */
import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { installOnce } from '../scripts/stack/install.js';
import { findJavaTools, leaveNothing } from '../scripts/stack/java.js';
import { runMaven } from '../scripts/stack/maven.js';
import { kafkaVersion } from '../scripts/stack/settings.js';
import type { JsonObject } from './case.js';

const run = promisify(execFile);
const sources = path.join(import.meta.dirname, 'oracle');

/** Writes into the steps of `files` what Kafka Streams gives for them; resolves with what the oracle says of it. */
export async function recordWithJava(files: readonly string[]): Promise<string> {
  const { java, classPath } = await compiledOracle();
  const scratch = await mkdtemp(path.join(tmpdir(), 'millrace-oracle-'));
  try {
    const maxBuffer = 64 * 1024 * 1024;
    const { stdout, stderr } = await run(java, [...argumentsOf(classPath, scratch), ...files], { maxBuffer });
    return (stderr + stdout).trim();
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What Kafka Streams makes of a case: the case with results, or why it failed on it. */
export type Recorded =
  { readonly recorded: JsonObject; readonly failed?: undefined } | { readonly recorded?: undefined; readonly failed: string };

/** A running oracle that takes one case at a time. */
export interface JavaOracle {
  record(entry: JsonObject): Promise<Recorded>;
  close(): Promise<void>;
}

export async function startJavaOracle(): Promise<JavaOracle> {
  const { java, classPath } = await compiledOracle();
  const scratch = await mkdtemp(path.join(tmpdir(), 'millrace-oracle-'));
  // One thread of the compiler: the many small topologies are over before more of it pays.
  const child = spawn(java, ['-XX:TieredStopAtLevel=1', ...argumentsOf(classPath, scratch)], { stdio: ['pipe', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    async record(entry) {
      child.stdin.write(`${JSON.stringify(entry)}\n`);
      const { value, done } = (await answers.next()) as { readonly value: string; readonly done?: boolean };
      if (done === true) throw new Error('the oracle has ended');
      return JSON.parse(value) as Recorded;
    },
    async close() {
      child.stdin.end();
      await exited;
      await rm(scratch, { recursive: true, force: true });
    },
  };
}

function argumentsOf(classPath: string, scratch: string): string[] {
  return [...leaveNothing(scratch), '-cp', classPath, 'millrace.oracle.Oracle', scratch];
}

async function compiledOracle(): Promise<{ readonly java: string; readonly classPath: string }> {
  const tools = await findJavaTools();
  const folder = await installOnce(`conformance-oracle-${kafkaVersion}-${await fingerprint()}`, async (target) => {
    const pom = ['-f', path.join(sources, 'pom.xml'), `-Dkafka.version=${kafkaVersion}`, `-Doutput=${target}`];
    const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${path.join(target, 'lib')}`];
    await runMaven(tools.maven, [...pom, 'compiler:compile', ...copy]);
  });
  return { java: tools.java, classPath: [path.join(folder, 'classes'), path.join(folder, 'lib/*')].join(':') };
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(sources, { recursive: true })).filter((file) => /\.(java|xml)$/.test(file)).sort();
  for (const file of files) hash.update(file).update(await readFile(path.join(sources, file)));
  return hash.digest('hex').slice(0, 12);
}
