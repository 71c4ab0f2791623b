/** Kafka Streams itself as the oracle: compiled by Maven into the cache, once per state of its sources, and run on case files. */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { installOnce } from '../scripts/stack/install.js';
import { findJavaTools, leaveNothing } from '../scripts/stack/java.js';
import { runMaven } from '../scripts/stack/maven.js';
import { kafkaVersion } from '../scripts/stack/settings.js';

const run = promisify(execFile);
const sources = path.join(import.meta.dirname, 'oracle');

/** Writes into the steps of `files` what Kafka Streams gives for them; resolves with what the oracle says of it. */
export async function recordWithJava(files: readonly string[]): Promise<string> {
  const tools = await findJavaTools();
  const folder = await installOnce(`conformance-oracle-${kafkaVersion}-${await fingerprint()}`, async (target) => {
    const pom = ['-f', path.join(sources, 'pom.xml'), `-Dkafka.version=${kafkaVersion}`, `-Doutput=${target}`];
    const copy = ['dependency:copy-dependencies', '-DincludeScope=runtime', `-DoutputDirectory=${path.join(target, 'lib')}`];
    await runMaven(tools.maven, [...pom, 'compiler:compile', ...copy]);
  });
  const scratch = await mkdtemp(path.join(tmpdir(), 'millrace-oracle-'));
  try {
    const classPath = [path.join(folder, 'classes'), path.join(folder, 'lib/*')].join(':');
    const { stdout, stderr } = await run(
      tools.java,
      [...leaveNothing(scratch), '-cp', classPath, 'millrace.oracle.Oracle', scratch, ...files],
      {
        maxBuffer: 64 * 1024 * 1024,
      },
    );
    return (stderr + stdout).trim();
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

async function fingerprint(): Promise<string> {
  const hash = createHash('sha256');
  const files = (await readdir(sources, { recursive: true })).filter((file) => /\.(java|xml)$/.test(file)).sort();
  for (const file of files) hash.update(file).update(await readFile(path.join(sources, file)));
  return hash.digest('hex').slice(0, 12);
}
